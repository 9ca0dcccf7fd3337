/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream under test, as responder or initiator, and ULPDUs made by hand that it receives: good ones, and each wrong
 * in one way.
 */
#ifndef TESTS_UNIT_VALIDATION_STREAMS_H
#define TESTS_UNIT_VALIDATION_STREAMS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/validation/validation.h"
#include "tests/unit/stream_pair.h"
#include "tests/unit/suites.h"
#include "wire/atomic.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum {
    RESPONDER = 0,
    INITIATOR = 1,
    STAG = 0x00ABCD01,
    BOUND = 0x00ABCE01,
    ULPDU_MAX = 512,
    BASE = 0x1000,
    LENGTH = 100
};

/* --- ULPDUs by hand ---------------------------------------------------------------------------------------------- */

struct ulpdu {
    struct ddp_segment segment;
    uint8_t payload[256];
    size_t count;
};

static inline struct ulpdu untagged(enum iwarp_rdmap_opcode opcode, uint32_t qn, uint32_t msn, size_t count)
{
    struct ulpdu ulpdu = {
        .segment = {.last = true, .version = 1, .control = rdmap_control(opcode), .qn = qn, .msn = msn},
        .count = count};
    return ulpdu;
}

static inline struct ulpdu tagged(enum iwarp_rdmap_opcode opcode, uint32_t stag, uint64_t to, size_t count)
{
    struct ulpdu ulpdu = {
        .segment =
            {.tagged = true, .last = true, .version = 1, .control = rdmap_control(opcode), .stag = stag, .to = to},
        .count = count};
    return ulpdu;
}

static inline struct ulpdu read_of(uint32_t stag, uint64_t to, uint32_t octets)
{
    struct ulpdu ulpdu = untagged(IWARP_RDMAP_READ_REQUEST, 1, 1, READ_REQUEST_OCTETS);
    struct read_request request = {.sink_stag = 5, .octets = octets, .source_stag = stag, .source_to = to};

    read_request_pack(&request, ulpdu.payload);
    return ulpdu;
}

static inline struct ulpdu atomic_of(unsigned operation, uint32_t stag, uint64_t to)
{
    struct ulpdu ulpdu = untagged(IWARP_RDMAP_ATOMIC_REQUEST, 1, 1, ATOMIC_REQUEST_OCTETS);
    struct atomic_request request = {.opcode = (uint8_t)operation, .id = 9, .stag = stag, .to = to};

    atomic_request_pack(&request, ulpdu.payload);
    return ulpdu;
}

static inline struct ulpdu atomic_response_of(uint32_t id, size_t count)
{
    struct ulpdu ulpdu = untagged(IWARP_RDMAP_ATOMIC_RESPONSE, 3, 1, count);
    struct atomic_response response = {.id = id};

    atomic_response_pack(&response, ulpdu.payload);
    return ulpdu;
}

static inline size_t pack(const struct ulpdu *ulpdu, uint8_t *out)
{
    size_t header = ddp_pack_header(&ulpdu->segment, out);

    memcpy(out + header, ulpdu->payload, ulpdu->count);
    return header + ulpdu->count;
}

/* --- The stream under test --------------------------------------------------------------------------------------- */

static inline void feed_request(struct pair *pair)
{
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REQUEST, .revision = 1, .crc = true};
    uint8_t frame[MPA_START_MAX];

    pair_feed(pair, RESPONDER, frame, mpa_start_pack(&start, frame, sizeof(frame)));
}

/* A responder with receives of 64 octets, a region of 100 at 0x1000, one bound to it, one of another stream and PD. */
static inline struct pair *responder_with(bool markers, enum iwarp_extensions extensions)
{
    static uint8_t buffers[4][64];
    static const struct iwarp_region regions[] = {
        {.stag = STAG,
         .base = BASE,
         .length = LENGTH,
         .access = IWARP_REMOTE_READ | IWARP_REMOTE_WRITE | IWARP_REMOTE_ATOMIC},
        {.stag = BOUND, .base = BASE, .length = LENGTH, .access = IWARP_REMOTE_READ | IWARP_REMOTE_WRITE, .stream = 1},
        {.stag = 0xD00001, .base = BASE, .length = LENGTH, .access = 31, .pd = 9},
        {.stag = 0xD00101, .base = BASE, .length = LENGTH, .access = 31, .stream = 77},
        {.stag = 0xD00201, .base = BASE, .length = LENGTH, .access = IWARP_LOCAL_WRITE},
        {.stag = 0xD00301, .base = 0, .length = LENGTH, .access = 15},
        {.stag = 0xD00401, .base = UINT64_MAX - 99, .length = LENGTH, .access = 31},
    };
    struct pair *pair = pair_new();

    pair->side[RESPONDER].config.ird = 1;
    pair->side[RESPONDER].config.markers = markers;
    pair->side[RESPONDER].config.extensions = extensions;
    pair_open(pair);
    for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
        struct iwarp_region region = regions[i];

        ck_assert_int_eq(iwarp_region_register(pair->side[RESPONDER].device, &region, NULL), 0);
    }
    for (uint64_t i = 0; i < 2; i++)
        ck_assert_int_eq(iwarp_stream_post_receive(pair->side[RESPONDER].stream, i, buffers[i], 64, NULL), 0);
    return pair;
}

static inline struct pair *responder(void)
{
    return responder_with(false, IWARP_EXTENSIONS_RFC7306);
}

static inline struct pair *initiator(bool peer_to_peer)
{
    struct pair *pair = pair_new();

    pair->side[INITIATOR].config.peer_to_peer = peer_to_peer;
    pair->side[INITIATOR].config.rtr = IWARP_RTR_WRITE;
    pair_open(pair);
    pair_gather(pair, INITIATOR);
    pair->side[INITIATOR].sent_count = 0;
    return pair;
}

static inline size_t reply_frame(uint8_t *out, uint16_t ird, uint16_t ord, bool a, bool c)
{
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REPLY,
                                    .revision = 2,
                                    .crc = true,
                                    .enhanced = true,
                                    .ird = ird,
                                    .ord = ord,
                                    .peer_to_peer = a,
                                    .rtr_write = c,
                                    .rtr_send = !c};

    return mpa_start_pack(&start, out, MPA_START_MAX);
}

static inline void feed_good(struct pair *pair)
{
    struct ulpdu good = tagged(IWARP_RDMAP_WRITE, 0, 0, 0);
    uint8_t octets[ULPDU_MAX];

    pair_feed_ulpdu(pair, RESPONDER, octets, pack(&good, octets));
}

/*
 * --- ULPDUs that are wrong ------------------------------------------------------------------------------------------
 */

/* clang-format off */
static inline struct ulpdu tagged_version(void) { struct ulpdu u = tagged(IWARP_RDMAP_WRITE, STAG, BASE, 8); u.segment.version = 2; return u; }
static inline struct ulpdu untagged_version(void) { struct ulpdu u = untagged(IWARP_RDMAP_SEND, 0, 1, 8); u.segment.version = 0; return u; }
static inline struct ulpdu unknown_stag(void) { return tagged(IWARP_RDMAP_WRITE, STAG ^ 1, BASE, 8); }
static inline struct ulpdu other_pd(void) { return tagged(IWARP_RDMAP_WRITE, 0xD00001, BASE, 8); }
static inline struct ulpdu other_stream(void) { return tagged(IWARP_RDMAP_WRITE, 0xD00101, BASE, 8); }
static inline struct ulpdu unwritable(void) { return tagged(IWARP_RDMAP_WRITE, 0xD00201, BASE, 8); }
static inline struct ulpdu wrapping(void) { return tagged(IWARP_RDMAP_WRITE, 0xD00401, UINT64_MAX - 3, 8); }
static inline struct ulpdu below_base(void) { return tagged(IWARP_RDMAP_WRITE, STAG, BASE - 1, 8); }
static inline struct ulpdu above_end(void) { return tagged(IWARP_RDMAP_WRITE, STAG, BASE + LENGTH - 7, 8); }
static inline struct ulpdu unknown_qn(void) { return untagged(IWARP_RDMAP_SEND, 4, 1, 8); }
static inline struct ulpdu wrong_msn(void) { return untagged(IWARP_RDMAP_SEND, 0, 2, 8); }
static inline struct ulpdu wrong_mo(void) { struct ulpdu u = untagged(IWARP_RDMAP_SEND, 0, 1, 1); u.segment.mo = 64; return u; }
static inline struct ulpdu too_long(void) { return untagged(IWARP_RDMAP_SEND, 0, 1, 65); }
static inline struct ulpdu wrong_rv(void) { struct ulpdu u = untagged(IWARP_RDMAP_SEND, 0, 1, 8); u.segment.control = 0x83; return u; }
static inline struct ulpdu wrong_opcode(void) { struct ulpdu u = untagged(IWARP_RDMAP_SEND, 0, 1, 8); u.segment.control = 0x4C; return u; }
static inline struct ulpdu wrong_model(void) { return tagged(IWARP_RDMAP_SEND, STAG, BASE, 8); }
static inline struct ulpdu wrong_queue(void) { return untagged(IWARP_RDMAP_SEND, 1, 1, 8); }
static inline struct ulpdu short_read(void) { struct ulpdu u = read_of(STAG, BASE, 1); u.count = 27; return u; }
static inline struct ulpdu read_unknown(void) { return read_of(STAG ^ 1, BASE, 1); }
static inline struct ulpdu read_pd(void) { return read_of(0xD00001, BASE, 1); }
static inline struct ulpdu read_stream(void) { return read_of(0xD00101, BASE, 1); }
static inline struct ulpdu read_access(void) { return read_of(0xD00201, BASE, 1); }
static inline struct ulpdu read_wrap(void) { return read_of(0xD00401, UINT64_MAX - 3, 5); }
static inline struct ulpdu read_base(void) { return read_of(STAG, BASE - 1, 1); }
static inline struct ulpdu read_end(void) { return read_of(STAG, BASE, LENGTH + 1); }
static inline struct ulpdu unrequested(void) { return tagged(IWARP_RDMAP_READ_RESPONSE, STAG, BASE, 8); }
static inline struct ulpdu other_sink(void) { return tagged(IWARP_RDMAP_READ_RESPONSE, BOUND, BASE, 20); }
static inline struct ulpdu outside_sink(void) { return tagged(IWARP_RDMAP_READ_RESPONSE, STAG, BASE + 1, 20); }
static inline struct ulpdu short_response(void) { return tagged(IWARP_RDMAP_READ_RESPONSE, STAG, BASE, 10); }
/* As long as a Read Request Header, which it is not (RFC 5040 4.8). */
static inline struct ulpdu invalidate(uint32_t stag) { struct ulpdu u = untagged(IWARP_RDMAP_SEND_INVALIDATE, 0, 1, READ_REQUEST_OCTETS); u.segment.ulp_word = stag; return u; }
static inline struct ulpdu invalidate_unknown(void) { return invalidate(1); }
static inline struct ulpdu invalidate_other(void) { return invalidate(0xD00101); }
static inline struct ulpdu invalidate_shared(void) { return invalidate(STAG); }
static inline struct ulpdu atomic_short(void) { struct ulpdu u = atomic_of(0, STAG, BASE); u.count = 51; return u; }
static inline struct ulpdu atomic_code(void) { return atomic_of(3, STAG, BASE); }
static inline struct ulpdu atomic_swap(void) { return atomic_of(1, STAG, BASE); }
static inline struct ulpdu atomic_unknown(void) { return atomic_of(0, STAG ^ 1, BASE); }
static inline struct ulpdu atomic_pd(void) { return atomic_of(0, 0xD00001, BASE); }
static inline struct ulpdu atomic_stream(void) { return atomic_of(0, 0xD00101, BASE); }
static inline struct ulpdu atomic_access(void) { return atomic_of(0, BOUND, BASE); }
static inline struct ulpdu atomic_wrap(void) { return atomic_of(0, 0xD00401, UINT64_MAX - 3); }
static inline struct ulpdu atomic_base(void) { return atomic_of(0, STAG, BASE - 8); }
static inline struct ulpdu atomic_end(void) { return atomic_of(0, STAG, BASE + 96); }
static inline struct ulpdu add_unaligned(void) { return atomic_of(0, STAG, BASE + 4); }
static inline struct ulpdu swap_unaligned(void) { return atomic_of(1, STAG, BASE + 1); }
static inline struct ulpdu compare_unaligned(void) { return atomic_of(2, STAG, BASE + 7); }
static inline struct ulpdu response_short(void) { return atomic_response_of(1, 11); }
static inline struct ulpdu response_id(void) { return atomic_response_of(2, 12); }
static inline struct ulpdu immediate_short(void) { return untagged(IWARP_RDMAP_IMMEDIATE, 0, 1, 7); }
/* clang-format on */

#endif
