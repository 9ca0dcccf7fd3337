/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes each entry of the validation table fail, and compares what goes out with the table and RFC 5040 Figure 10. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/validation_streams.h"
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
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REQUEST, .revision = 2, .crc = true};
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
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REQUEST, .revision = 2, .crc = true};
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

static struct pair *bad_crc(const struct stimulus *stimulus)
{
    struct fpdu_framing framing = {false, true, 0};
    struct ulpdu send = untagged(IWARP_RDMAP_SEND, 0, 1, 4);
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
    struct ulpdu write = tagged(IWARP_RDMAP_WRITE, STAG, BASE, LENGTH);
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
    struct iwarp_atomic atomic = {.operation = IWARP_ATOMIC_FETCH_ADD, .stag = 1};
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
    struct ulpdu ulpdu = untagged(IWARP_RDMAP_SEND, 0, 1, 0);
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
        struct ulpdu send = untagged(IWARP_RDMAP_SEND, 0, msn, 4);

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
    {"response-expected", RESPONDER, bad_ulpdu, 0, 0, unrequested},
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
    ck_assert_uint_eq(segment.control, rdmap_control(IWARP_RDMAP_TERMINATE));
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

START_TEST(stimulus_draws_its_requirement)
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

START_TEST(every_validation_has_a_stimulus)
{
    for (size_t i = 0; i < validation_count; i++) {
        size_t n = 0;

        while (n < STIMULI && validation_table[i].stage < VALIDATE_ASSOCIATION &&
               strcmp(stimuli[n].entry, validation_table[i].name) != 0)
            n++;
        ck_assert_msg(n < STIMULI, "%s has no stimulus", validation_table[i].name);
    }
}
END_TEST

START_TEST(table_is_sound)
{
    for (size_t i = 0; i < validation_count; i++) {
        const struct validation *entry = &validation_table[i];
        bool numbered = entry->stage < VALIDATE_ASSOCIATION; /* SCTP has no numbers for its errors */

        ck_assert(i == 0 || validation_table[i - 1].stage <= entry->stage);
        ck_assert_msg((terminate_error_find(entry->error) != NULL) == numbered, "%s: triple", entry->name);
        ck_assert_ptr_nonnull(validation_stage_names[entry->stage]);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(validation_table[j].name, entry->name);
    }
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
        tagged(IWARP_RDMAP_WRITE, STAG, BASE, LENGTH),
        tagged(IWARP_RDMAP_WRITE, STAG, BASE + LENGTH - 1, 1),
        tagged(IWARP_RDMAP_WRITE, 0xD00401, UINT64_MAX - 7, 8), /* ends at 2^64 */
        tagged(IWARP_RDMAP_WRITE, 0, 0, 0),
        untagged(IWARP_RDMAP_SEND, 0, 1, 64),
        untagged(IWARP_RDMAP_SEND, 0, 2, 0),
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
    tcase_add_test(table, every_validation_has_a_stimulus);
    tcase_add_loop_test(table, stimulus_draws_its_requirement, 0, STIMULI);
    tcase_add_test(table, limits_are_inside);
    suite_add_tcase(suite, table);
    return suite;
}
