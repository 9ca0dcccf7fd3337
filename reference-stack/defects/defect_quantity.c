/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_quantity.h"

#include <string.h>

#include "reference-stack/defects/defect_stream.h"
#include "reference-stack/validation/validation_predicates.h"
#include "wire/atomic.h"
#include "wire/ddp.h"

/* --- Start-up frames, FPDUs -------------------------------------------------------------------------------------- */

static bool private_data(const struct validation_subject *subject, int64_t *value)
{
    if (subject->octets == NULL || subject->count < MPA_START_OCTETS)
        return false;
    *value = (int64_t)mpa_start_get_PD_Length(subject->octets);
    return true;
}

static bool revision(const struct validation_subject *subject, int64_t *value)
{
    if (subject->start == NULL)
        return false;
    *value = subject->start->revision;
    return true;
}

/* Which octet of the Key differs, where it is one alone. */
static bool key_octet(const struct validation_subject *subject, int64_t *value)
{
    static const char *const keys[] = {MPA_KEY_REQUEST, MPA_KEY_REPLY};

    if (subject->octets == NULL || subject->count < MPA_KEY_OCTETS)
        return false;
    for (size_t i = 0; i < 2; i++) {
        int64_t differ = 0;

        for (size_t at = 0; at < MPA_KEY_OCTETS; at++) {
            if (subject->octets[at] != (uint8_t)keys[i][at]) {
                differ++;
                *value = (int64_t)at;
            }
        }
        if (differ == 1)
            return true;
    }
    return false;
}

static bool pad(const struct validation_subject *subject, int64_t *value)
{
    if (subject->fpdu == NULL)
        return false;
    *value = (int64_t)fpdu_pad(subject->fpdu->ulpdu_length);
    return true;
}

/* The same of FPDUs of the one buffer model, and of those that do not end a message. */
static bool pad_tagged(const struct validation_subject *subject, int64_t *value)
{
    return pad(subject, value) && subject->fpdu->ulpdu_length != 0 && ddp_tagged_get_T(subject->fpdu->ulpdu);
}

static bool pad_inside(const struct validation_subject *subject, int64_t *value)
{
    return pad(subject, value) && subject->fpdu->ulpdu_length != 0 && !ddp_tagged_get_L(subject->fpdu->ulpdu);
}

static bool crc_bits(const struct validation_subject *subject, int64_t *value)
{
    if (subject->fpdu == NULL)
        return false;
    *value = subject->fpdu->crc ^ subject->fpdu->crc_expected;
    return true;
}

/* Where the first Marker of an FPDU stands, from its ULPDU_Length on; 0: before that. */
static bool marker_place(const struct validation_subject *subject, int64_t *value)
{
    if (subject->fpdu == NULL || subject->fpdu->markers == 0)
        return false;
    *value = marker_pointer(subject->position, 0);
    return true;
}

static bool pointer(const struct validation_subject *subject, int64_t *value)
{
    if (subject->fpdu == NULL || subject->fpdu->bad_marker == SIZE_MAX)
        return false;
    *value =
        (int64_t)(subject->fpdu->bad_pointer & 0xFFFC) - marker_pointer(subject->position, subject->fpdu->bad_marker);
    return true;
}

/* --- DDP Segments ------------------------------------------------------------------------------------------------ */

static bool ulpdu(const struct validation_subject *subject, int64_t *value)
{
    if (subject->segment != NULL)
        *value = (int64_t)subject->segment_octets;
    else if (subject->fpdu != NULL)
        *value = subject->fpdu->ulpdu_length;
    return subject->segment != NULL || subject->fpdu != NULL;
}

static const struct ddp_segment *untagged(const struct validation_subject *subject)
{
    return subject->segment != NULL && subject->segment->header != NULL && !subject->segment->tagged ? subject->segment
                                                                                                     : NULL;
}

static bool qn(const struct validation_subject *subject, int64_t *value)
{
    if (untagged(subject) == NULL)
        return false;
    *value = subject->segment->qn;
    return true;
}

static bool msn(const struct validation_subject *subject, int64_t *value)
{
    if (untagged(subject) == NULL || subject->segment->qn >= DDP_QUEUES)
        return false;
    *value = (int32_t)(subject->segment->msn - subject->stream->inbound.queues[subject->segment->qn].msn_expected);
    return true;
}

/* Read Requests that are open, minus IRD. */
static bool reads_open(const struct validation_subject *subject, int64_t *value)
{
    if (untagged(subject) == NULL || subject->segment->qn != DDP_QN_READ_REQUEST)
        return false;
    *value = (int64_t)subject->stream->inbound.requests.count - (int64_t)subject->stream->agreed.ird;
    return true;
}

static bool mo_begin(const struct validation_subject *subject, int64_t *value)
{
    if (untagged(subject) == NULL || subject->buffer_octets > INT64_MAX)
        return false;
    *value = (int64_t)subject->segment->mo - (int64_t)subject->buffer_octets;
    return true;
}

static bool offset(const struct validation_subject *subject, int64_t *value)
{
    if (untagged(subject) == NULL)
        return false;
    *value = subject->segment->mo;
    return true;
}

static bool last(const struct validation_subject *subject, int64_t *value)
{
    if (subject->segment == NULL || subject->segment->header == NULL)
        return false;
    *value = subject->segment->last;
    return true;
}

static bool mo_end(const struct validation_subject *subject, int64_t *value)
{
    if (!mo_begin(subject, value))
        return false;
    *value += (int64_t)subject->segment->payload_octets;
    return true;
}

static bool opcode(const struct validation_subject *subject, int64_t *value)
{
    if (subject->message == NULL)
        return false;
    *value = subject->message->opcode;
    return true;
}

static bool version(const struct validation_subject *subject, int64_t *value)
{
    if (subject->message != NULL)
        *value = subject->message->version;
    else if (subject->segment != NULL)
        *value = subject->segment->version;
    return subject->message != NULL || subject->segment != NULL;
}

/* --- Where an access to tagged memory lies ------------------------------------------------------------------------ */

struct access {
    uint64_t to, octets;
};

static bool access_of(const struct validation_subject *subject, struct access *access)
{
    if (subject->read != NULL)
        *access = (struct access){subject->read->source_to, subject->read->octets};
    else if (subject->atomic != NULL)
        *access = (struct access){subject->atomic->to, ATOMIC_TARGET_OCTETS};
    else if (subject->segment != NULL && subject->segment->header != NULL && subject->segment->tagged)
        *access = (struct access){subject->segment->to, subject->segment->payload_octets};
    else
        return false;
    return true;
}

static bool begin(const struct validation_subject *subject, int64_t *value)
{
    struct access access;

    if (!access_of(subject, &access) || subject->region == NULL)
        return false;
    *value = (int64_t)(access.to - subject->region->base);
    return true;
}

static bool end(const struct validation_subject *subject, int64_t *value)
{
    struct access access;

    if (!access_of(subject, &access) || subject->region == NULL)
        return false;
    *value = (int64_t)(access.to + access.octets - subject->region->base - subject->region->length);
    return true;
}

static bool top(const struct validation_subject *subject, int64_t *value)
{
    struct access access;

    if (!access_of(subject, &access))
        return false;
    *value = (int64_t)(access.to + access.octets);
    return true;
}

static bool alignment(const struct validation_subject *subject, int64_t *value)
{
    if (subject->atomic == NULL)
        return false;
    *value = (int64_t)(subject->atomic->to % ATOMIC_TARGET_OCTETS);
    return true;
}

static bool operation(const struct validation_subject *subject, int64_t *value)
{
    if (subject->atomic == NULL)
        return false;
    *value = subject->atomic->opcode;
    return true;
}

/* Octets of a delivered message that has a header of its own. */
static bool message_octets(const struct validation_subject *subject, int64_t *value)
{
    if (subject->message == NULL)
        return false;
    *value = (int64_t)subject->count;
    return true;
}

/* --- By name ------------------------------------------------------------------------------------------------------ */

static const struct defect_quantity quantities[] = {
    {"private", private_data},
    {"revision", revision},
    {"key", key_octet},
    {"pad", pad},
    {"crc", crc_bits},
    {"pointer", pointer},
    {"marker", marker_place},
    {"ulpdu", ulpdu},
    {"qn", qn},
    {"msn", msn},
    {"reads", reads_open},
    {"mo", mo_begin},
    {"mo-end", mo_end},
    {"offset", offset},
    {"last", last},
    {"opcode", opcode},
    {"version", version},
    {"to", begin},
    {"to-end", end},
    {"top", top},
    {"alignment", alignment},
    {"aopcode", operation},
    {"message", message_octets},
    {"pad-tagged", pad_tagged},
    {"pad-inside", pad_inside},
};

_Static_assert(sizeof(quantities) / sizeof(quantities[0]) <= DEFECT_QUANTITIES_MAX, "room for what was noted");

size_t defect_quantity_count(void)
{
    return sizeof(quantities) / sizeof(quantities[0]);
}

const struct defect_quantity *defect_quantity_at(size_t n)
{
    return &quantities[n];
}

const struct defect_quantity *defect_quantity_find(const char *name, size_t octets)
{
    for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++)
        if (strlen(quantities[i].name) == octets && memcmp(quantities[i].name, name, octets) == 0)
            return &quantities[i];
    return NULL;
}

bool defect_override_applies(const struct defect_override *override, const struct validation_subject *subject)
{
    int64_t value = 0;

    return override->quantity == NULL ||
           (override->quantity->of(subject, &value) && value >= override->low && value <= override->high);
}
