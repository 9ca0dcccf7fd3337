/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream of FPDUs out of any octets. The first octet chooses the framing (1: Markers, 2: CRC, 4: each FPDU is parsed
 * again with its CRC mended, 8: a position off the multiples of 4, which only must do no harm), the next four are the
 * position of the first FPDU. DDP, RDMAP and their headers are read inside each FPDU. What is accepted and keeps to the
 * rules of sending comes back octet for octet from the packers.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "wire/atomic.h"
#include "wire/crc32c.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/rdmap.h"
#include "wire/terminate.h"

enum { USE_MARKERS = 1, USE_CRC = 2, MEND_CRC = 4, UNALIGNED = 8, LEAD_OCTETS = 5 };

static void read_terminate(const uint8_t *payload, const uint8_t *end)
{
    struct terminate terminate;
    const uint8_t *p = payload;
    wire_result result = terminate_parse(&p, end, &terminate);
    uint8_t packed[IWARP_TERMINATE_MAX];
    size_t octets;
    char text[256];

    FUZZ_HOLDS(result == WIRE_OK || result == WIRE_MORE);
    (void)iwarp_terminate_describe(terminate.triple, text, sizeof(text));
    FUZZ_HOLDS(strlen(text) < sizeof(text) - 1);
    if (result != WIRE_OK)
        return;
    FUZZ_HOLDS(p == end);
    octets = (size_t)(end - payload) - terminate.excess;
    FUZZ_HOLDS(terminate_pack(&terminate, packed, sizeof(packed)) == octets);
    FUZZ_HOLDS(memcmp(packed, payload, octets) == 0);
}

static void read_read_request(const uint8_t *payload, const uint8_t *end)
{
    struct read_request request;
    const uint8_t *p = payload;
    uint8_t packed[READ_REQUEST_OCTETS];

    if (read_request_parse(&p, end, &request) == WIRE_MORE) {
        FUZZ_HOLDS(end - payload < READ_REQUEST_OCTETS && p == payload);
        return;
    }
    read_request_pack(&request, packed);
    FUZZ_HOLDS(p == payload + sizeof(packed) && memcmp(packed, payload, sizeof(packed)) == 0);
}

static void read_atomics(const uint8_t *payload, const uint8_t *end)
{
    struct atomic_request request;
    struct atomic_response response;
    const uint8_t *p = payload;
    uint8_t packed[ATOMIC_REQUEST_OCTETS] = {0};

    if (atomic_request_parse(&p, end, &request) == WIRE_OK) {
        atomic_request_pack(&request, packed);
        FUZZ_HOLDS(p == payload + ATOMIC_REQUEST_OCTETS && memcmp(packed, payload, ATOMIC_REQUEST_OCTETS) == 0);
    }
    p = payload;
    if (atomic_response_parse(&p, end, &response) == WIRE_OK) {
        atomic_response_pack(&response, packed);
        FUZZ_HOLDS(p == payload + ATOMIC_RESPONSE_OCTETS && memcmp(packed, payload, ATOMIC_RESPONSE_OCTETS) == 0);
    }
}

/* The octets of a ULPDU, in a copy of their own. */
static void read_ulpdu(const uint8_t *octets, size_t count)
{
    uint8_t *copy = fuzz_copy(octets, count), header[DDP_UNTAGGED_OCTETS];
    const uint8_t *p = copy;
    struct ddp_segment segment;
    struct rdmap_message message;

    if (ddp_parse(&p, copy + count, &segment) == WIRE_MORE) {
        FUZZ_HOLDS(p == copy && count < DDP_UNTAGGED_OCTETS);
        free(copy);
        return;
    }
    FUZZ_HOLDS(p == copy + count && segment.header_octets + segment.payload_octets == count);
    FUZZ_HOLDS(ddp_pack_header(&segment, header) == segment.header_octets);
    FUZZ_HOLDS(memcmp(header, copy, segment.header_octets) == 0);

    wire_result result = rdmap_parse(&segment, &message);

    FUZZ_HOLDS(result != WIRE_OK || (message.row->name != NULL && message.row->tagged == segment.tagged));
    /* By opcode, and whatever it is: a header parser must bear any payload. */
    read_read_request(segment.payload, p);
    read_terminate(segment.payload, p);
    read_atomics(segment.payload, p);
    free(copy);
}

static void expect_same_when_packed(const struct fpdu *fpdu, const struct fpdu_framing *framing)
{
    uint8_t *packed = fuzz_copy(fpdu->start, fpdu->octets);

    memset(packed, 0xA5, fpdu->octets);
    FUZZ_HOLDS(fpdu_pack(fpdu->ulpdu, fpdu->ulpdu_length, framing, packed, fpdu->octets) == fpdu->octets);
    FUZZ_HOLDS(memcmp(packed, fpdu->start, fpdu->octets) == 0);
    FUZZ_HOLDS(fpdu_pack(fpdu->ulpdu, fpdu->ulpdu_length, framing, packed, fpdu->octets - 1) == 0);
    free(packed);
}

/* One FPDU; returns the octets it took, 0 when there is no whole one. */
static size_t read_fpdu(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, bool aligned)
{
    uint8_t *scratch = malloc(FPDU_SCRATCH_OCTETS);
    const uint8_t *p = octets;
    struct fpdu fpdu;

    if (scratch == NULL)
        abort();
    wire_result result = fpdu_parse(&p, octets + count, framing, scratch, &fpdu);

    FUZZ_HOLDS(result == WIRE_OK || result == WIRE_MORE || result == TERM_MPA_CRC || result == TERM_MPA_MARKER);
    if (result == WIRE_MORE) {
        FUZZ_HOLDS(p == octets);
        free(scratch);
        return 0;
    }
    FUZZ_HOLDS(fpdu.octets == (size_t)(p - octets) && fpdu.octets != 0);
    FUZZ_HOLDS(fpdu.octets == fpdu_octets(fpdu.ulpdu_length, framing->markers, framing->position));
    FUZZ_HOLDS((result == TERM_MPA_CRC) == !fpdu.crc_ok);
    if (result == WIRE_OK && fpdu.pad_zero && !fpdu.marker_reserved && aligned && (framing->crc || fpdu.crc == 0))
        expect_same_when_packed(&fpdu, framing);
    read_ulpdu(fpdu.ulpdu, fpdu.ulpdu_length);
    free(scratch);
    return fpdu.octets;
}

/* The same FPDU with a good CRC: no input finds one by chance, and after it lie the Marker checks. */
static void read_mended(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, bool aligned)
{
    uint8_t *copy = fuzz_copy(octets, count), *scratch = malloc(FPDU_SCRATCH_OCTETS);
    const uint8_t *p = copy;
    struct fpdu fpdu;

    if (scratch == NULL)
        abort();
    octets_put32_little(copy + count - FPDU_CRC_OCTETS, crc32c(copy, count - FPDU_CRC_OCTETS));
    FUZZ_HOLDS(fpdu_parse(&p, copy + count, framing, scratch, &fpdu) != TERM_MPA_CRC);
    FUZZ_HOLDS(p == copy + count);
    free(scratch);
    FUZZ_HOLDS(read_fpdu(copy, count, framing, aligned) == count);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < LEAD_OCTETS)
        return 0;

    struct fpdu_framing framing = {
        .markers = data[0] & USE_MARKERS, .crc = data[0] & USE_CRC, .position = octets_get32(data + 1)};
    bool aligned = !(data[0] & UNALIGNED);
    const uint8_t *at = data + LEAD_OCTETS, *end = data + size;

    if (aligned)
        framing.position &= ~UINT32_C(3);
    for (;;) {
        uint8_t *rest = fuzz_copy(at, (size_t)(end - at));
        size_t octets = read_fpdu(rest, (size_t)(end - at), &framing, aligned);

        free(rest);
        if (octets == 0)
            return 0;
        if (data[0] & MEND_CRC && framing.crc)
            read_mended(at, octets, &framing, aligned);
        at += octets;
        framing.position += (uint32_t)octets;
    }
}
