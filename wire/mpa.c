/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mpa.h"

#include <string.h>

WIRE_LAYOUT_DEFINE(mpa_start, MPA_START_FIELDS, "MPA Request/Reply Frame", "RFC 5044 7.1", MPA_START_OCTETS);
WIRE_LAYOUT_DEFINE(mpa_enhanced, MPA_ENHANCED_FIELDS, "Enhanced RDMA connection set-up word", "RFC 6581 6",
                   MPA_ENHANCED_OCTETS);

bool iwarp_mpa_start_has_word(const struct iwarp_mpa_start *start)
{
    return start->enhanced && start->revision >= MPA_REV_2 && start->private_octets >= MPA_ENHANCED_OCTETS;
}

const uint8_t *iwarp_mpa_start_ulp_data(const struct iwarp_mpa_start *start, size_t *octets)
{
    size_t word = iwarp_mpa_start_has_word(start) ? MPA_ENHANCED_OCTETS : 0;

    *octets = start->private_octets - word;
    return start->private_data == NULL ? NULL : start->private_data + word;
}

static const char *key_of(enum iwarp_mpa_start_kind kind)
{
    return kind == IWARP_MPA_REQUEST ? MPA_KEY_REQUEST : MPA_KEY_REPLY;
}

int mpa_start_kind_of(const uint8_t *octets, size_t count)
{
    if (count < MPA_KEY_OCTETS)
        return -1;
    if (memcmp(octets, MPA_KEY_REQUEST, MPA_KEY_OCTETS) == 0)
        return IWARP_MPA_REQUEST;
    return memcmp(octets, MPA_KEY_REPLY, MPA_KEY_OCTETS) == 0 ? IWARP_MPA_REPLY : -1;
}

static void read_word(struct iwarp_mpa_start *start)
{
    const uint8_t *word = start->private_data;

    start->peer_to_peer = mpa_enhanced_get_A(word);
    start->rtr_send = mpa_enhanced_get_B(word);
    start->rtr_write = mpa_enhanced_get_C(word);
    start->rtr_read = mpa_enhanced_get_D(word);
    start->ird = (uint16_t)mpa_enhanced_get_IRD(word);
    start->ord = (uint16_t)mpa_enhanced_get_ORD(word);
}

wire_result mpa_start_parse(const uint8_t **p, const uint8_t *end, enum iwarp_mpa_start_kind kind,
                            struct iwarp_mpa_start *start)
{
    const uint8_t *frame = *p;
    size_t count = (size_t)(end - frame);
    size_t key = count < MPA_KEY_OCTETS ? count : MPA_KEY_OCTETS;

    memset(start, 0, sizeof(*start));
    start->kind = kind;
    if (key > 0 && memcmp(frame, key_of(kind), key) != 0)
        return TERM_MPA_START_FRAME;
    if (count < MPA_START_OCTETS)
        return WIRE_MORE;

    start->markers = mpa_start_get_M(frame);
    start->crc = mpa_start_get_C(frame);
    start->rejected = mpa_start_get_R(frame);
    start->enhanced = mpa_start_get_S(frame);
    start->reserved = (uint8_t)mpa_start_get_Res(frame);
    start->revision = (uint8_t)mpa_start_get_Rev(frame);
    start->private_octets = (uint16_t)mpa_start_get_PD_Length(frame);
    if (start->private_octets > IWARP_MPA_PRIVATE_DATA_MAX)
        return TERM_MPA_START_FRAME;
    if (start->enhanced && start->revision >= MPA_REV_2 && start->private_octets < MPA_ENHANCED_OCTETS)
        return TERM_MPA_START_FRAME;
    if (count < MPA_START_OCTETS + (size_t)start->private_octets)
        return WIRE_MORE;

    start->private_data = frame + MPA_START_OCTETS;
    if (iwarp_mpa_start_has_word(start))
        read_word(start);
    *p = frame + MPA_START_OCTETS + start->private_octets;
    return WIRE_OK;
}

size_t mpa_start_pack(const struct iwarp_mpa_start *start, uint8_t *out, size_t room)
{
    size_t word = start->enhanced && start->revision >= MPA_REV_2 ? MPA_ENHANCED_OCTETS : 0;
    size_t private_octets = word + start->private_octets;

    if (private_octets > IWARP_MPA_PRIVATE_DATA_MAX || MPA_START_OCTETS + private_octets > room)
        return 0;
    memset(out, 0, MPA_START_OCTETS + word);
    memcpy(out, key_of(start->kind), MPA_KEY_OCTETS);
    mpa_start_set_M(out, start->markers);
    mpa_start_set_C(out, start->crc);
    mpa_start_set_R(out, start->rejected);
    mpa_start_set_S(out, start->enhanced);
    mpa_start_set_Res(out, start->reserved);
    mpa_start_set_Rev(out, start->revision);
    mpa_start_set_PD_Length(out, private_octets);
    if (word != 0) {
        uint8_t *enhanced = out + MPA_START_OCTETS;

        mpa_enhanced_set_A(enhanced, start->peer_to_peer);
        mpa_enhanced_set_B(enhanced, start->rtr_send);
        mpa_enhanced_set_C(enhanced, start->rtr_write);
        mpa_enhanced_set_D(enhanced, start->rtr_read);
        mpa_enhanced_set_IRD(enhanced, start->ird);
        mpa_enhanced_set_ORD(enhanced, start->ord);
    }
    if (start->private_octets != 0)
        memcpy(out + MPA_START_OCTETS + word, start->private_data, start->private_octets);
    return MPA_START_OCTETS + private_octets;
}
