/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/terminate.h"

#include <stdio.h>
#include <string.h>

#include "wire/ddp.h"
#include "wire/rdmap.h"

const struct wire_name terminate_layer_names[] = {{0, "RDMAP"}, {1, "DDP"}, {2, "LLP (MPA)"}, {0, NULL}};

WIRE_LAYOUT_DEFINE(terminate, TERMINATE_FIELDS, "Terminate Control", "RFC 5040 4.8", TERMINATE_OCTETS);
WIRE_LAYOUT_DEFINE(terminate_length, TERMINATE_LENGTH_FIELDS, "Terminate: DDP Segment Length", "RFC 5040 4.8",
                   TERMINATE_LENGTH_OCTETS);

/* The identifier is stored without its TERM_ prefix. */
#define ERROR_ROW(id, layer, etype, code, type_name, name, source) {&#id[5], id, type_name, name, source},
const struct terminate_error terminate_errors[] = {TERMINATE_ERRORS(ERROR_ROW)};
const size_t terminate_error_count = sizeof(terminate_errors) / sizeof(terminate_errors[0]);

const struct terminate_error *terminate_error_find(wire_result triple)
{
    if (!wire_is_error(triple))
        return NULL;
    if (wire_error_layer(triple) == 0 && wire_error_etype(triple) == 0)
        triple = TERM_RDMAP_CATASTROPHIC;
    for (size_t i = 0; i < terminate_error_count; i++)
        if (terminate_errors[i].triple == triple)
            return &terminate_errors[i];
    return NULL;
}

const struct terminate_error *terminate_error_named(const char *id)
{
    for (size_t i = 0; i < terminate_error_count; i++)
        if (strcmp(terminate_errors[i].id, id) == 0)
            return &terminate_errors[i];
    return NULL;
}

const char *iwarp_terminate_describe(wire_result triple, char *text, size_t room)
{
    const struct terminate_error *error = terminate_error_find(triple);
    const char *layer = wire_name_of(terminate_layer_names, wire_error_layer(triple));

    if (error == NULL)
        (void)snprintf(text, room, "unregistered error layer %u etype %u code 0x%02x (0x%04x)",
                       wire_error_layer(triple), wire_error_etype(triple), wire_error_code(triple),
                       wire_error_word(triple));
    else
        (void)snprintf(text, room, "%s / %s%s%s (0x%04x)", layer, error->type, error->name[0] != '\0' ? " / " : "",
                       error->name, wire_error_word(triple));
    return text;
}

/* The T bit of the terminated DDP header gives its length; the error type does not (RFC 5040 4.8). */
static bool parse_ddp_header(const uint8_t **p, const uint8_t *end, struct terminate *terminate)
{
    size_t left = (size_t)(end - *p);
    size_t octets;

    if (left == 0)
        return false;
    octets = ddp_tagged_get_T(*p) ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    if (left < octets)
        return false;
    terminate->ddp_header = *p;
    terminate->ddp_header_octets = octets;
    *p += octets;
    return true;
}

wire_result terminate_parse(const uint8_t **p, const uint8_t *end, struct terminate *terminate)
{
    const uint8_t *at = *p;

    memset(terminate, 0, sizeof(*terminate));
    if (end - at < TERMINATE_OCTETS)
        return WIRE_MORE;
    terminate->triple = WIRE_ERROR_BIT | octets_get16(at);
    terminate->m = terminate_get_M(at);
    terminate->d = terminate_get_D(at);
    terminate->r = terminate_get_R(at);
    terminate->reserved = (uint16_t)terminate_get_Reserved(at);
    at += TERMINATE_OCTETS;

    /* The two length octets are there with D alone too: the header after them would have no place otherwise. */
    if (terminate->m || terminate->d) {
        if (end - at < TERMINATE_LENGTH_OCTETS)
            return WIRE_MORE;
        terminate->has_length = true;
        terminate->ddp_segment_length = (uint16_t)terminate_length_get_Length(at);
        at += TERMINATE_LENGTH_OCTETS;
    }
    if (terminate->d && !parse_ddp_header(&at, end, terminate))
        return WIRE_MORE;
    if (terminate->r) {
        if (end - at < READ_REQUEST_OCTETS)
            return WIRE_MORE;
        terminate->rdmap_header = at;
        terminate->rdmap_header_octets = READ_REQUEST_OCTETS;
        at += READ_REQUEST_OCTETS;
    }
    terminate->excess = (size_t)(end - at);
    *p = end;
    return WIRE_OK;
}

static size_t append(uint8_t *out, size_t at, const uint8_t *octets, size_t count)
{
    if (count != 0)
        memcpy(out + at, octets, count);
    return at + count;
}

size_t terminate_pack(const struct terminate *terminate, uint8_t *out, size_t room)
{
    size_t ddp = terminate->d ? terminate->ddp_header_octets : 0;
    size_t rdmap = terminate->r ? terminate->rdmap_header_octets : 0;
    size_t length = terminate->m || terminate->d ? TERMINATE_LENGTH_OCTETS : 0;

    if (TERMINATE_OCTETS + length + ddp + rdmap > room)
        return 0;
    memset(out, 0, TERMINATE_OCTETS);
    terminate_set_Layer(out, wire_error_layer(terminate->triple));
    terminate_set_EType(out, wire_error_etype(terminate->triple));
    terminate_set_Code(out, wire_error_code(terminate->triple));
    terminate_set_M(out, terminate->m);
    terminate_set_D(out, terminate->d);
    terminate_set_R(out, terminate->r);
    terminate_set_Reserved(out, terminate->reserved);
    if (length != 0)
        terminate_length_set_Length(out + TERMINATE_OCTETS, terminate->ddp_segment_length);
    size_t at = append(out, TERMINATE_OCTETS + length, terminate->ddp_header, ddp);
    return append(out, at, terminate->rdmap_header, rdmap);
}
