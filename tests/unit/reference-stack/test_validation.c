/* SPDX-License-Identifier: BSD-2-Clause */
/* Each entry of the validation table is made to fail, and what goes out is held against the table and RFC 5040 Figure 10. */
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

Suite *validation_suite(void);

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

static struct ulpdu untagged(enum rdmap_opcode opcode, uint32_t qn, uint32_t msn, size_t count)
{
    struct ulpdu ulpdu = {
        .segment = {.last = true, .version = 1, .control = rdmap_control(opcode), .qn = qn, .msn = msn},
        .count = count};
    return ulpdu;
}

static struct ulpdu tagged(enum rdmap_opcode opcode, uint32_t stag, uint64_t to, size_t count)
{
    struct ulpdu ulpdu = {
        .segment =
            {.tagged = true, .last = true, .version = 1, .control = rdmap_control(opcode), .stag = stag, .to = to},
        .count = count};
    return ulpdu;
}

static struct ulpdu read_of(uint32_t stag, uint64_t to, uint32_t octets)
{
    struct ulpdu ulpdu = untagged(RDMAP_READ_REQUEST, 1, 1, READ_REQUEST_OCTETS);
    struct read_request request = {.sink_stag = 5, .octets = octets, .source_stag = stag, .source_to = to};

    read_request_pack(&request, ulpdu.payload);
    return ulpdu;
}

static struct ulpdu atomic_of(unsigned operation, uint32_t stag, uint64_t to)
{
    struct ulpdu ulpdu = untagged(RDMAP_ATOMIC_REQUEST, 1, 1, ATOMIC_REQUEST_OCTETS);
    struct atomic_request request = {.opcode = (uint8_t)operation, .id = 9, .stag = stag, .to = to};

    atomic_request_pack(&request, ulpdu.payload);
    return ulpdu;
}

static struct ulpdu atomic_response_of(uint32_t id, size_t count)
{
    struct ulpdu ulpdu = untagged(RDMAP_ATOMIC_RESPONSE, 3, 1, count);
    struct atomic_response response = {.id = id};

    atomic_response_pack(&response, ulpdu.payload);
    return ulpdu;
}

static size_t pack(const struct ulpdu *ulpdu, uint8_t *out)
{
    size_t header = ddp_pack_header(&ulpdu->segment, out);

    memcpy(out + header, ulpdu->payload, ulpdu->count);
    return header + ulpdu->count;
}

/* --- The stream under test --------------------------------------------------------------------------------------- */

static void feed_request(struct pair *pair)
{
    struct mpa_start start = {.kind = MPA_REQUEST, .revision = 1, .crc = true};
    uint8_t frame[MPA_START_MAX];

    pair_feed(pair, RESPONDER, frame, mpa_start_pack(&start, frame, sizeof(frame)));
}

/* A responder with receives of 64 octets, a region of 100 at 0x1000, one bound to it, one of another stream and PD. */
static struct pair *responder_with(bool markers, enum iwarp_extensions extensions)
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

static struct pair *responder(void)
{
    return responder_with(false, IWARP_EXTENSIONS_RFC7306);
}

static struct pair *initiator(bool peer_to_peer)
{
    struct pair *pair = pair_new();

    pair->side[INITIATOR].config.peer_to_peer = peer_to_peer;
    pair->side[INITIATOR].config.rtr = IWARP_RTR_WRITE;
    pair_open(pair);
    pair_gather(pair, INITIATOR);
    pair->side[INITIATOR].sent_count = 0;
    return pair;
}

static size_t reply_frame(uint8_t *out, uint16_t ird, uint16_t ord, bool a, bool c)
{
    struct mpa_start start = {.kind = MPA_REPLY,
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

/* --- One stimulus each ------------------------------------------------------------------------------------------- */

struct stimulus {
    const char *entry;
    int side;
    struct pair *(*make)(const struct stimulus *stimulus); /* has fed all; the output is gathered */
    uint8_t octet, value;                                  /* start-up: an octet of the frame, and what it becomes */
    struct ulpdu (*ulpdu)(void);
};

static struct pair *bad_request(const struct stimulus *stimulus)
{
    struct mpa_start start = {.kind = MPA_REQUEST, .revision = 2, .crc = true};
    uint8_t frame[MPA_START_MAX];
    size_t count = mpa_start_pack(&start, frame, sizeof(frame));
    struct pair *pair = pair_new();

    pair->side[RESPONDER].config.enhanced = strcmp(stimulus->entry, "request-enhanced") != 0;
    if (strcmp(stimulus->entry, "request-private-room") == 0)
        pair->side[RESPONDER].config.private_room = 99;
    pair_open(pair);
    frame[stimulus->octet] = stimulus->value;
    pair_feed(pair, RESPONDER, frame, count);
    return pair;
}

static struct pair *long_request(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX] = {0};
    struct mpa_start start = {.kind = MPA_REQUEST, .revision = 2, .crc = true};
    size_t count = mpa_start_pack(&start, frame, sizeof(frame));
    struct pair *pair = pair_new();

    (void)stimulus;
    pair_open(pair);
    pair_feed(pair, RESPONDER, frame, count + 1);
    return pair;
}

static struct pair *bad_reply(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX];
    size_t count = reply_frame(frame, 4, 4, false, false);
    struct pair *pair = initiator(false);

    frame[stimulus->octet] = stimulus->value;
    pair_feed(pair, INITIATOR, frame, count);
    return pair;
}

static struct pair *enhanced_reply_to_plain(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX];
    struct pair *pair = pair_new();

    (void)stimulus;
    pair->side[INITIATOR].config.enhanced = false;
    pair_open(pair);
    pair_gather(pair, INITIATOR);
    pair->side[INITIATOR].sent_count = 0;
    pair_feed(pair, INITIATOR, frame, reply_frame(frame, 4, 4, false, false));
    return pair;
}

/* 100 octets, 4 of them the word, for a ULP that takes 95. */
static struct pair *roomy_reply(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX];
    size_t count = reply_frame(frame, 4, 4, false, false);
    struct pair *pair = pair_new();

    (void)stimulus;
    pair->side[INITIATOR].config.private_room = 95;
    pair_open(pair);
    pair_gather(pair, INITIATOR);
    pair->side[INITIATOR].sent_count = 0;
    frame[19] = 100;
    pair_feed(pair, INITIATOR, frame, count);
    return pair;
}

/* A good Reply, and the device cannot do what it settles. */
static struct pair *unsettable(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX];
    struct pair *pair = pair_new();

    (void)stimulus;
    pair->side[INITIATOR].config.modify_fails = true;
    pair_open(pair);
    pair_gather(pair, INITIATOR);
    pair->side[INITIATOR].sent_count = 0;
    pair_feed(pair, INITIATOR, frame, reply_frame(frame, 4, 4, false, false));
    return pair;
}

static struct pair *long_reply(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX] = {0};
    size_t count = reply_frame(frame, 4, 4, false, false);
    struct pair *pair = initiator(false);

    (void)stimulus;
    pair_feed(pair, INITIATOR, frame, count + 3);
    return pair;
}

static struct pair *much_ord(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX];
    struct pair *pair = initiator(false);

    (void)stimulus;
    pair_feed(pair, INITIATOR, frame, reply_frame(frame, 4, 0x3FFE, false, false));
    return pair;
}

static struct pair *other_rtr(const struct stimulus *stimulus)
{
    uint8_t frame[MPA_START_MAX];
    struct pair *pair = initiator(true);

    (void)stimulus;
    pair_feed(pair, INITIATOR, frame, reply_frame(frame, 4, 4, true, false));
    return pair;
}

static void feed_good(struct pair *pair)
{
    struct ulpdu good = tagged(RDMAP_WRITE, 0, 0, 0);
    uint8_t octets[ULPDU_MAX];

    pair_feed_ulpdu(pair, RESPONDER, octets, pack(&good, octets));
}

static struct pair *bad_crc(const struct stimulus *stimulus)
{
    struct fpdu_framing framing = {false, true, 0};
    struct ulpdu send = untagged(RDMAP_SEND, 0, 1, 4);
    uint8_t ulpdu[ULPDU_MAX];
    uint8_t fpdu[ULPDU_MAX];
    struct pair *pair = responder();
    size_t count;

    (void)stimulus;
    feed_request(pair);
    feed_good(pair);
    pair->side[RESPONDER].sent_count = 0;
    count = fpdu_pack(ulpdu, pack(&send, ulpdu), &framing, fpdu, sizeof(fpdu));
    fpdu[count - 1] ^= 0x80;
    pair_feed(pair, RESPONDER, fpdu, count);
    return pair;
}

/* Writes up to position 512, where the FPDU's Marker points 4 octets too far; its CRC is right. */
static struct pair *bad_marker(const struct stimulus *stimulus)
{
    struct ulpdu write = tagged(RDMAP_WRITE, STAG, BASE, LENGTH);
    struct fpdu_framing framing = {true, true, 0};
    uint8_t ulpdu[ULPDU_MAX];
    uint8_t fpdu[ULPDU_MAX];
    struct pair *pair = responder_with(true, IWARP_EXTENSIONS_RFC7306);
    size_t octets = pack(&write, ulpdu);
    size_t count;

    (void)stimulus;
    feed_request(pair);
    for (;;) {
        count = fpdu_pack(ulpdu, octets, &framing, fpdu, sizeof(fpdu));
        if (framing.position + count > 512)
            break;
        pair_feed(pair, RESPONDER, fpdu, count);
        framing.position += (uint32_t)count;
    }
    pair->side[RESPONDER].sent_count = 0;
    marker_set_FPDUPTR(fpdu + 512 - framing.position, 512 - framing.position + 4);
    octets_put32_little(fpdu + count - FPDU_CRC_OCTETS, crc32c(fpdu, count - FPDU_CRC_OCTETS));
    pair_feed(pair, RESPONDER, fpdu, count);
    return pair;
}

static struct pair *bad_ulpdu_to(struct pair *pair, const struct stimulus *stimulus)
{
    struct ulpdu ulpdu = stimulus->ulpdu();
    uint8_t octets[ULPDU_MAX];

    feed_request(pair);
    feed_good(pair);
    pair->side[RESPONDER].sent_count = 0;
    pair_feed_ulpdu(pair, RESPONDER, octets, pack(&ulpdu, octets));
    return pair;
}

static struct pair *bad_ulpdu(const struct stimulus *stimulus)
{
    return bad_ulpdu_to(responder(), stimulus);
}

static struct pair *bad_swap(const struct stimulus *stimulus)
{
    return bad_ulpdu_to(responder_with(false, IWARP_EXTENSIONS_DRAFT03), stimulus);
}

static struct pair *bad_atomic_response(const struct stimulus *stimulus)
{
    struct ulpdu ulpdu = stimulus->ulpdu();
    struct iwarp_atomic atomic = {.operation = ATOMIC_FETCH_ADD, .stag = 1};
    uint8_t octets[ULPDU_MAX];
    struct pair *pair = responder();

    feed_request(pair);
    feed_good(pair);
    ck_assert_int_eq(iwarp_stream_post_atomic(pair->side[RESPONDER].stream, &atomic, NULL), 0);
    pair_gather(pair, RESPONDER);
    pair->side[RESPONDER].sent_count = 0;
    pair_feed_ulpdu(pair, RESPONDER, octets, pack(&ulpdu, octets));
    return pair;
}

static struct pair *cut_header(const struct stimulus *stimulus)
{
    struct ulpdu ulpdu = untagged(RDMAP_SEND, 0, 1, 0);
    uint8_t octets[ULPDU_MAX];
    struct pair *pair = responder();

    (void)stimulus;
    feed_request(pair);
    feed_good(pair);
    pair->side[RESPONDER].sent_count = 0;
    pair_feed_ulpdu(pair, RESPONDER, octets, pack(&ulpdu, octets) - 1);
    return pair;
}

/* The second of two Sends finds no receive. */
static struct pair *no_receive(const struct stimulus *stimulus)
{
    uint8_t octets[ULPDU_MAX];
    struct pair *pair = responder();

    (void)stimulus;
    feed_request(pair);
    for (uint32_t msn = 1; msn <= 3; msn++) {
        struct ulpdu send = untagged(RDMAP_SEND, 0, msn, 4);

        pair->side[RESPONDER].sent_count = 0;
        pair_feed_ulpdu(pair, RESPONDER, octets, pack(&send, octets));
    }
    return pair;
}

/* A response of 10 octets to a Read of 20 into STAG at its base. */
static struct pair *bad_response(const struct stimulus *stimulus)
{
    struct ulpdu ulpdu = stimulus->ulpdu();
    struct iwarp_read read = {.sink_stag = STAG, .sink_to = BASE, .source_stag = 1, .count = 20};
    uint8_t octets[ULPDU_MAX];
    struct pair *pair = responder();

    feed_request(pair);
    feed_good(pair);
    ck_assert_int_eq(iwarp_stream_post_read(pair->side[RESPONDER].stream, &read, NULL), 0);
    pair_gather(pair, RESPONDER);
    pair->side[RESPONDER].sent_count = 0;
    pair_feed_ulpdu(pair, RESPONDER, octets, pack(&ulpdu, octets));
    return pair;
}

/* clang-format off */
static struct ulpdu tagged_version(void) { struct ulpdu u = tagged(RDMAP_WRITE, STAG, BASE, 8); u.segment.version = 2; return u; }
static struct ulpdu untagged_version(void) { struct ulpdu u = untagged(RDMAP_SEND, 0, 1, 8); u.segment.version = 0; return u; }
static struct ulpdu unknown_stag(void) { return tagged(RDMAP_WRITE, STAG ^ 1, BASE, 8); }
static struct ulpdu other_pd(void) { return tagged(RDMAP_WRITE, 0xD00001, BASE, 8); }
static struct ulpdu other_stream(void) { return tagged(RDMAP_WRITE, 0xD00101, BASE, 8); }
static struct ulpdu unwritable(void) { return tagged(RDMAP_WRITE, 0xD00201, BASE, 8); }
static struct ulpdu wrapping(void) { return tagged(RDMAP_WRITE, 0xD00401, UINT64_MAX - 3, 8); }
static struct ulpdu below_base(void) { return tagged(RDMAP_WRITE, STAG, BASE - 1, 8); }
static struct ulpdu above_end(void) { return tagged(RDMAP_WRITE, STAG, BASE + LENGTH - 7, 8); }
static struct ulpdu unknown_qn(void) { return untagged(RDMAP_SEND, 4, 1, 8); }
static struct ulpdu wrong_msn(void) { return untagged(RDMAP_SEND, 0, 2, 8); }
static struct ulpdu wrong_mo(void) { struct ulpdu u = untagged(RDMAP_SEND, 0, 1, 1); u.segment.mo = 64; return u; }
static struct ulpdu too_long(void) { return untagged(RDMAP_SEND, 0, 1, 65); }
static struct ulpdu wrong_rv(void) { struct ulpdu u = untagged(RDMAP_SEND, 0, 1, 8); u.segment.control = 0x83; return u; }
static struct ulpdu wrong_opcode(void) { struct ulpdu u = untagged(RDMAP_SEND, 0, 1, 8); u.segment.control = 0x4C; return u; }
static struct ulpdu wrong_model(void) { return tagged(RDMAP_SEND, STAG, BASE, 8); }
static struct ulpdu wrong_queue(void) { return untagged(RDMAP_SEND, 1, 1, 8); }
static struct ulpdu short_read(void) { struct ulpdu u = read_of(STAG, BASE, 1); u.count = 27; return u; }
static struct ulpdu read_unknown(void) { return read_of(STAG ^ 1, BASE, 1); }
static struct ulpdu read_pd(void) { return read_of(0xD00001, BASE, 1); }
static struct ulpdu read_stream(void) { return read_of(0xD00101, BASE, 1); }
static struct ulpdu read_access(void) { return read_of(0xD00201, BASE, 1); }
static struct ulpdu read_wrap(void) { return read_of(0xD00401, UINT64_MAX - 3, 5); }
static struct ulpdu read_base(void) { return read_of(STAG, BASE - 1, 1); }
static struct ulpdu read_end(void) { return read_of(STAG, BASE, LENGTH + 1); }
static struct ulpdu unasked(void) { return tagged(RDMAP_READ_RESPONSE, STAG, BASE, 8); }
static struct ulpdu other_sink(void) { return tagged(RDMAP_READ_RESPONSE, BOUND, BASE, 20); }
static struct ulpdu outside_sink(void) { return tagged(RDMAP_READ_RESPONSE, STAG, BASE + 1, 20); }
static struct ulpdu short_response(void) { return tagged(RDMAP_READ_RESPONSE, STAG, BASE, 10); }
static struct ulpdu invalidate(uint32_t stag) { struct ulpdu u = untagged(RDMAP_SEND_INVALIDATE, 0, 1, 4); u.segment.ulp_word = stag; return u; }
static struct ulpdu invalidate_unknown(void) { return invalidate(1); }
static struct ulpdu invalidate_other(void) { return invalidate(0xD00101); }
static struct ulpdu invalidate_shared(void) { return invalidate(STAG); }
static struct ulpdu atomic_short(void) { struct ulpdu u = atomic_of(0, STAG, BASE); u.count = 51; return u; }
static struct ulpdu atomic_code(void) { return atomic_of(3, STAG, BASE); }
static struct ulpdu atomic_swap(void) { return atomic_of(1, STAG, BASE); }
static struct ulpdu atomic_unknown(void) { return atomic_of(0, STAG ^ 1, BASE); }
static struct ulpdu atomic_pd(void) { return atomic_of(0, 0xD00001, BASE); }
static struct ulpdu atomic_stream(void) { return atomic_of(0, 0xD00101, BASE); }
static struct ulpdu atomic_access(void) { return atomic_of(0, BOUND, BASE); }
static struct ulpdu atomic_wrap(void) { return atomic_of(0, 0xD00401, UINT64_MAX - 3); }
static struct ulpdu atomic_base(void) { return atomic_of(0, STAG, BASE - 8); }
static struct ulpdu atomic_end(void) { return atomic_of(0, STAG, BASE + 96); }
static struct ulpdu add_unaligned(void) { return atomic_of(0, STAG, BASE + 4); }
static struct ulpdu swap_unaligned(void) { return atomic_of(1, STAG, BASE + 1); }
static struct ulpdu compare_unaligned(void) { return atomic_of(2, STAG, BASE + 7); }
static struct ulpdu response_short(void) { return atomic_response_of(1, 11); }
static struct ulpdu response_id(void) { return atomic_response_of(2, 12); }
static struct ulpdu immediate_short(void) { return untagged(RDMAP_IMMEDIATE, 0, 1, 7); }

static const struct stimulus stimuli[] = {
    {"request-key", RESPONDER, bad_request, 15, 'f', NULL},
    {"request-revision", RESPONDER, bad_request, 17, 3, NULL},
    {"request-private-length", RESPONDER, bad_request, 18, 3, NULL},
    {"request-private-room", RESPONDER, bad_request, 19, 100, NULL},
    {"request-enhanced", RESPONDER, bad_request, 16, 0x50, NULL},
    {"request-word", RESPONDER, bad_request, 16, 0x50, NULL},
    {"request-excess", RESPONDER, long_request, 0, 0, NULL},
    {"reply-key", INITIATOR, bad_reply, 10, 'q', NULL},
    {"reply-revision", INITIATOR, bad_reply, 17, 3, NULL},
    {"reply-private-length", INITIATOR, bad_reply, 18, 3, NULL},
    {"reply-private-room", INITIATOR, roomy_reply, 0, 0, NULL},
    {"reply-word", INITIATOR, bad_reply, 19, 3, NULL},
    {"reply-enhanced", INITIATOR, bad_reply, 16, 0x40, NULL},
    {"reply-plain", INITIATOR, enhanced_reply_to_plain, 0, 0, NULL},
    {"reply-excess", INITIATOR, long_reply, 0, 0, NULL},
    {"ird-available", INITIATOR, much_ord, 0, 0, NULL},
    {"rtr-in-common", INITIATOR, other_rtr, 0, 0, NULL},
    {"depths-settable", INITIATOR, unsettable, 0, 0, NULL},
    {"fpdu-crc", RESPONDER, bad_crc, 0, 0, NULL},
    {"fpdu-marker", RESPONDER, bad_marker, 0, 0, NULL},
    {"ddp-header", RESPONDER, cut_header, 0, 0, NULL},
    {"ddp-tagged-version", RESPONDER, bad_ulpdu, 0, 0, tagged_version},
    {"ddp-untagged-version", RESPONDER, bad_ulpdu, 0, 0, untagged_version},
    {"ddp-stag", RESPONDER, bad_ulpdu, 0, 0, unknown_stag},
    {"ddp-stag-pd", RESPONDER, bad_ulpdu, 0, 0, other_pd},
    {"ddp-stag-stream", RESPONDER, bad_ulpdu, 0, 0, other_stream},
    {"ddp-stag-access", RESPONDER, bad_ulpdu, 0, 0, unwritable},
    {"ddp-to-wrap", RESPONDER, bad_ulpdu, 0, 0, wrapping},
    {"ddp-to-base", RESPONDER, bad_ulpdu, 0, 0, below_base},
    {"ddp-to-end", RESPONDER, bad_ulpdu, 0, 0, above_end},
    {"ddp-qn", RESPONDER, bad_ulpdu, 0, 0, unknown_qn},
    {"ddp-msn", RESPONDER, bad_ulpdu, 0, 0, wrong_msn},
    {"ddp-buffer", RESPONDER, no_receive, 0, 0, NULL},
    {"ddp-mo", RESPONDER, bad_ulpdu, 0, 0, wrong_mo},
    {"ddp-length", RESPONDER, bad_ulpdu, 0, 0, too_long},
    {"rdmap-version", RESPONDER, bad_ulpdu, 0, 0, wrong_rv},
    {"rdmap-opcode", RESPONDER, bad_ulpdu, 0, 0, wrong_opcode},
    {"rdmap-opcode-model", RESPONDER, bad_ulpdu, 0, 0, wrong_model},
    {"rdmap-opcode-queue", RESPONDER, bad_ulpdu, 0, 0, wrong_queue},
    {"read-length", RESPONDER, bad_ulpdu, 0, 0, short_read},
    {"read-stag", RESPONDER, bad_ulpdu, 0, 0, read_unknown},
    {"read-stag-pd", RESPONDER, bad_ulpdu, 0, 0, read_pd},
    {"read-stag-stream", RESPONDER, bad_ulpdu, 0, 0, read_stream},
    {"read-access", RESPONDER, bad_ulpdu, 0, 0, read_access},
    {"read-to-wrap", RESPONDER, bad_ulpdu, 0, 0, read_wrap},
    {"read-to-base", RESPONDER, bad_ulpdu, 0, 0, read_base},
    {"read-to-end", RESPONDER, bad_ulpdu, 0, 0, read_end},
    {"response-expected", RESPONDER, bad_ulpdu, 0, 0, unasked},
    {"response-stag", RESPONDER, bad_response, 0, 0, other_sink},
    {"response-inside", RESPONDER, bad_response, 0, 0, outside_sink},
    {"response-length", RESPONDER, bad_response, 0, 0, short_response},
    {"invalidate-stag", RESPONDER, bad_ulpdu, 0, 0, invalidate_unknown},
    {"invalidate-associated", RESPONDER, bad_ulpdu, 0, 0, invalidate_other},
    {"invalidate-unshared", RESPONDER, bad_ulpdu, 0, 0, invalidate_shared},
    {"atomic-length", RESPONDER, bad_ulpdu, 0, 0, atomic_short},
    {"atomic-opcode", RESPONDER, bad_ulpdu, 0, 0, atomic_code},
    {"atomic-swap", RESPONDER, bad_ulpdu, 0, 0, atomic_swap},
    {"atomic-stag", RESPONDER, bad_ulpdu, 0, 0, atomic_unknown},
    {"atomic-stag-pd", RESPONDER, bad_ulpdu, 0, 0, atomic_pd},
    {"atomic-stag-stream", RESPONDER, bad_ulpdu, 0, 0, atomic_stream},
    {"atomic-access", RESPONDER, bad_ulpdu, 0, 0, atomic_access},
    {"atomic-to-wrap", RESPONDER, bad_ulpdu, 0, 0, atomic_wrap},
    {"atomic-to-base", RESPONDER, bad_ulpdu, 0, 0, atomic_base},
    {"atomic-to-end", RESPONDER, bad_ulpdu, 0, 0, atomic_end},
    {"fetch-add-alignment", RESPONDER, bad_ulpdu, 0, 0, add_unaligned},
    {"swap-alignment", RESPONDER, bad_swap, 0, 0, swap_unaligned},
    {"compare-swap-alignment", RESPONDER, bad_ulpdu, 0, 0, compare_unaligned},
    {"atomic-response-length", RESPONDER, bad_atomic_response, 0, 0, response_short},
    {"atomic-response-id", RESPONDER, bad_atomic_response, 0, 0, response_id},
    {"immediate-length", RESPONDER, bad_ulpdu, 0, 0, immediate_short},
};
/* clang-format on */

enum { STIMULI = sizeof(stimuli) / sizeof(stimuli[0]) };

/* The one FPDU that was sent, as a Terminate; its headers by RFC 5040 Figure 10. */
static void check_terminate(const struct pair_side *side, const struct stimulus *stimulus, wire_result triple)
{
    struct fpdu_framing framing = {false, true, 0};
    const uint8_t *p = side->sent;
    const uint8_t *end = p + side->sent_count;
    struct fpdu fpdu;
    struct ddp_segment segment;
    struct terminate terminate;
    const uint8_t *ulpdu;
    bool has_segment = stimulus->ulpdu != NULL || strcmp(stimulus->entry, "ddp-buffer") == 0;
    unsigned layer = wire_error_layer(triple);

    ck_assert_int_eq(fpdu_parse(&p, end, &framing, NULL, &fpdu), WIRE_OK);
    ck_assert_msg(p == end, "something follows the Terminate");
    ulpdu = fpdu.ulpdu;
    ck_assert_int_eq(ddp_parse(&ulpdu, fpdu.ulpdu + fpdu.ulpdu_length, &segment), WIRE_OK);
    ck_assert(!segment.tagged && segment.last);
    ck_assert_uint_eq(segment.control, rdmap_control(RDMAP_TERMINATE));
    ck_assert_uint_eq(segment.qn, 2);
    ck_assert_uint_eq(segment.msn, 1);
    p = segment.payload;
    ck_assert_int_eq(terminate_parse(&p, segment.payload + segment.payload_octets, &terminate), WIRE_OK);
    ck_assert_uint_eq(terminate.triple, triple);
    ck_assert_uint_eq(terminate.excess, 0);
    ck_assert_int_eq(terminate.m, has_segment && layer != 2);
    ck_assert_int_eq(terminate.d, terminate.m);
    ck_assert_int_eq(terminate.r,
                     layer == 0 && wire_error_etype(triple) == 1 && strncmp(stimulus->entry, "read-", 5) == 0);
    if (stimulus->ulpdu != NULL) {
        struct ulpdu sent = stimulus->ulpdu();
        uint8_t octets[ULPDU_MAX];
        size_t count = pack(&sent, octets);

        ck_assert_uint_eq(terminate.ddp_segment_length, count);
        ck_assert_mem_eq(terminate.ddp_header, octets, terminate.ddp_header_octets);
        if (terminate.r)
            ck_assert_mem_eq(terminate.rdmap_header, octets + DDP_UNTAGGED_OCTETS, READ_REQUEST_OCTETS);
    }
}

START_TEST(stimulus)
{
    const struct stimulus *row = &stimuli[_i];
    const struct validation *entry = validation_find(row->entry, 0);
    struct pair *pair;
    struct pair_side *side;
    const struct iwarp_event *event;

    ck_assert_msg(entry != NULL, "no validation is called %s", row->entry);
    pair = row->make(row);
    side = &pair->side[row->side];
    event = pair_event(pair, row->side, IWARP_EVENT_ERROR, 0);
    ck_assert_msg(event != NULL, "%s: no error was found", row->entry);
    ck_assert_msg(strcmp(event->requirement, entry->requirement) == 0, "%s: %s instead of %s", row->entry,
                  event->requirement, entry->requirement);
    ck_assert_uint_eq(event->triple, entry->error);
    ck_assert_ptr_nonnull(strstr(event->text, entry->name));
    ck_assert_ptr_null(pair_event(pair, row->side, IWARP_EVENT_ERROR, 1));
    ck_assert_ptr_null(pair_event(pair, row->side, IWARP_EVENT_READ_DONE, 0));
    if (entry->action == VALIDATION_TERMINATE)
        check_terminate(side, row, entry->error);
    else
        ck_assert_uint_eq(side->sent_count, 0);
    ck_assert_int_eq(iwarp_stream_wants(side->stream), IWARP_WANT_CLOSE);
    /* Whatever comes now is dropped without a word (RFC 5041 7.1, RFC 5040 5.4). */
    side->sent_count = 0;
    feed_good(pair);
    if (row->side == RESPONDER) {
        ck_assert_uint_eq(side->sent_count, 0);
        ck_assert_uint_gt(iwarp_stream_counters(side->stream)->octets_dropped, 0);
    }
    iwarp_stream_input_fin(side->stream, 2000);
    ck_assert_int_eq(iwarp_stream_state(side->stream), IWARP_STATE_CLOSED);
    pair_free(pair);
}
END_TEST

START_TEST(every_entry_has_a_stimulus)
{
    for (size_t i = 0; i < validation_count; i++) {
        size_t n = 0;

        while (n < STIMULI && strcmp(stimuli[n].entry, validation_table[i].name) != 0)
            n++;
        ck_assert_msg(n < STIMULI, "%s has no stimulus", validation_table[i].name);
    }
}
END_TEST

START_TEST(table_is_sound)
{
    for (size_t i = 0; i < validation_count; i++) {
        const struct validation *entry = &validation_table[i];

        ck_assert(i == 0 || validation_table[i - 1].stage <= entry->stage);
        ck_assert_msg(terminate_error_find(entry->error) != NULL, "%s: unregistered triple", entry->name);
        ck_assert_ptr_nonnull(validation_stage_names[entry->stage]);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(validation_table[j].name, entry->name);
    }
    ck_assert_ptr_null(validation_find("no-such", 0));
    ck_assert_ptr_nonnull(validation_find("RDMAP-5.2.2-09", 1));
    ck_assert_ptr_null(validation_find("RDMAP-5.2.2-09", 2));
}
END_TEST

/* What lies just inside each limit is taken: the predicates are not too strict. */
START_TEST(limits_are_inside)
{
    struct pair *pair = responder();
    uint8_t octets[ULPDU_MAX];
    const struct ulpdu good[] = {
        tagged(RDMAP_WRITE, STAG, BASE, LENGTH),
        tagged(RDMAP_WRITE, STAG, BASE + LENGTH - 1, 1),
        tagged(RDMAP_WRITE, 0xD00401, UINT64_MAX - 7, 8), /* ends at 2^64 */
        tagged(RDMAP_WRITE, 0, 0, 0),
        untagged(RDMAP_SEND, 0, 1, 64),
        untagged(RDMAP_SEND, 0, 2, 0),
        read_of(STAG, BASE, LENGTH),
    };

    feed_request(pair);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        pair_feed_ulpdu(pair, RESPONDER, octets, pack(&good[i], octets));
    ck_assert_ptr_null(pair_event(pair, RESPONDER, IWARP_EVENT_ERROR, 0));
    ck_assert_uint_eq(pair_count(pair, RESPONDER, IWARP_EVENT_RECEIVE), 2);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[RESPONDER].stream)->fpdus_sent, 1);
    pair_free(pair);
}
END_TEST

Suite *validation_suite(void)
{
    Suite *suite = suite_create("validation");
    TCase *table = tcase_create("table");

    tcase_add_test(table, table_is_sound);
    tcase_add_test(table, every_entry_has_a_stimulus);
    tcase_add_loop_test(table, stimulus, 0, STIMULI);
    tcase_add_test(table, limits_are_inside);
    suite_add_tcase(suite, table);
    return suite;
}
