/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seam below DDP (core/llp.h) with a layer of messages, in any order, without Markers and CRC. A message is one
 * octet of kind, one of number, and what the kind has. DDP and RDMAP must work over it by the table alone.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/instrument.h"
#include "reference-stack/core/stream_internal.h"
#include "tests/unit/suites.h"

Suite *llp_suite(void);

enum { ULPDU_MAX = 80, WORD_OCTETS = 6, HELD_MAX = 16, MESSAGE_MAX = 2048, MESSAGES_MAX = 64 };

struct letter {
    uint8_t octets[MESSAGE_MAX];
    size_t count;
};

struct letters {
    uint8_t sent, expected; /* numbers of segments */
    bool end_sent, end_received;
    struct letter held[HELD_MAX]; /* came before their turn, by their number */
};

static struct letters *letters_of(const struct iwarp_stream *stream)
{
    return stream->lower;
}

static int letters_check(const struct iwarp_stream_config *config, struct iwarp_sentence *sentence)
{
    return config->enhanced ? 0 : iwarp_sentence_set(sentence, "letters: every message has the word");
}

static int say(struct iwarp_stream *stream, char kind, const struct negotiation_offer *offer)
{
    uint8_t *out;

    if (piece_reserve(stream, 2 + WORD_OCTETS) != 0)
        return -1;
    out = stream->outbound.buffer;
    memset(out, 0, 2 + WORD_OCTETS);
    out[0] = (uint8_t)kind;
    if (offer != NULL) {
        octets_put16(out + 2, offer->ird);
        octets_put16(out + 4, offer->ord);
        out[6] = offer->peer_to_peer;
        out[7] = (uint8_t)offer->rtr;
    }
    piece_set(stream, 2 + (offer == NULL ? 0 : WORD_OCTETS), false);
    return 0;
}

static int letters_begin(struct iwarp_stream *stream, struct iwarp_sentence *sentence)
{
    struct negotiation_offer own;

    (void)sentence;
    if (stream->config.role == IWARP_RESPONDER)
        return 0;
    negotiate_request(stream, &own);
    return say(stream, 'I', &own);
}

static void letters_release(struct iwarp_stream *stream)
{
    (void)stream;
}

static struct negotiation_offer word_of(const uint8_t *octets)
{
    return (struct negotiation_offer){octets_get16(octets), octets_get16(octets + 2), octets[4], octets[5]};
}

static void established(struct iwarp_stream *stream, enum iwarp_state state)
{
    stream->state = state;
    stream->outbound.segments_allowed = true;
    stream->established = true;
    (void)stream_event(stream, IWARP_EVENT_ESTABLISHED);
}

static struct negotiation_offer asked; /* by the Request of the one stream at a time */

static int letters_answer(struct iwarp_stream *stream, bool accepted)
{
    struct negotiation_offer own;

    negotiate_answer(stream, &asked, &own);
    if (say(stream, accepted ? 'A' : 'R', &own) != 0)
        return -1;
    if (!accepted)
        return 0;
    negotiate_accept(stream);
    established(stream, IWARP_STATE_OPERATION);
    return 0;
}

static void letters_segment(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    struct letters *letters = letters_of(stream);
    struct letter *letter = &letters->held[octets[1] % HELD_MAX];

    memcpy(letter->octets, octets + 2, count - 2);
    letter->count = count - 2;
    if (octets[1] != letters->expected)
        early_ulpdu(stream, letter->octets, letter->count);
    while ((letter = &letters->held[letters->expected % HELD_MAX])->count != 0 && !stream->end.dropping) {
        deliver_ulpdu(stream, letter->octets, letter->count);
        letter->count = 0;
        letters->expected++;
    }
}

static void letters_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    struct negotiation_offer offer;

    switch (octets[0]) {
    case 'I':
        asked = word_of(octets + 2);
        negotiate_depths(stream, &asked);
        if (stream->config.accept == IWARP_ACCEPT_ASK)
            stream->state = IWARP_STATE_DECISION;
        else
            (void)letters_answer(stream, true);
        break;
    case 'A':
        offer = word_of(octets + 2);
        if (!negotiate_reply(stream, &offer))
            break;
        established(stream, IWARP_STATE_OPERATION);
        negotiate_rtr(stream, &offer);
        break;
    case 'S': letters_segment(stream, octets, count); break;
    case 'E': letters_of(stream)->end_received = true; break;
    default: ck_abort_msg("kind %u", octets[0]);
    }
}

static void letters_input_end(struct iwarp_stream *stream)
{
    if (!letters_of(stream)->end_received)
        stream_fail_with(stream, NULL, WIRE_OK, VALIDATION_CLOSE, "letters: an end was due");
}

static void letters_overdue(struct iwarp_stream *stream)
{
    stream_fail_with(stream, NULL, WIRE_OK, VALIDATION_CLOSE, "letters: no answer");
}

static size_t letters_answer_room(const struct iwarp_stream *stream)
{
    (void)stream;
    return 3;
}

static size_t letters_ulpdu_max(const struct iwarp_stream *stream, size_t *left)
{
    (void)stream;
    if (left != NULL)
        *left = 0;
    return ULPDU_MAX;
}

static int letters_frame(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu)
{
    size_t before = LLP_PREFIX_OCTETS + ulpdu->header_octets;

    if (piece_reserve(stream, before + ulpdu->payload_octets) != 0)
        return -1;
    stream->outbound.headers[0] = 'S';
    stream->outbound.headers[1] = letters_of(stream)->sent++;
    memcpy(stream->outbound.buffer, stream->outbound.headers, before);
    if (ulpdu->payload_octets != 0)
        memcpy(stream->outbound.buffer + before, ulpdu->payload, ulpdu->payload_octets);
    piece_set(stream, before + ulpdu->payload_octets, true);
    return 0;
}

static bool letters_close(struct iwarp_stream *stream)
{
    if (letters_of(stream)->end_sent)
        return false;
    letters_of(stream)->end_sent = true;
    return say(stream, 'E', NULL) == 0;
}

static void letters_state(const struct iwarp_stream *stream, struct iwarp_event *event)
{
    event->value = letters_of(stream)->expected;
}

static const struct llp_ops letters = {
    .state_octets = sizeof(struct letters),
    .lost = WIRE_OK,
    .check = letters_check,
    .begin = letters_begin,
    .release = letters_release,
    .input = letters_input,
    .input_end = letters_input_end,
    .overdue = letters_overdue,
    .answer_room = letters_answer_room,
    .answer = letters_answer,
    .ulpdu_max = letters_ulpdu_max,
    .frame = letters_frame,
    .close = letters_close,
    .state = letters_state,
};

/* --- Two of them -------------------------------------------------------------------------------------------------- */

enum { INITIATOR, RESPONDER };

struct post {
    struct iwarp_device *device[2];
    struct iwarp_stream *stream[2];
    struct iwarp_event events[2][MESSAGES_MAX];
    size_t event_count[2];
};

static void poll_all(struct post *post, int side)
{
    while (post->event_count[side] < MESSAGES_MAX &&
           iwarp_stream_poll(post->stream[side], &post->events[side][post->event_count[side]]))
        post->event_count[side]++;
}

static const struct iwarp_event *event_of(const struct post *post, int side, enum iwarp_event_kind kind)
{
    for (size_t i = 0; i < post->event_count[side]; i++)
        if (post->events[side][i].kind == kind)
            return &post->events[side][i];
    return NULL;
}

static size_t collect(struct iwarp_stream *stream, struct letter *out)
{
    struct iwarp_output output;
    size_t count = 0;

    while (iwarp_stream_output(stream, &output) != 0) {
        struct letter *letter = &out[count++];

        ck_assert_uint_lt(count, MESSAGES_MAX);
        ck_assert_uint_le(output.octets, 2 + (output.fpdu ? ULPDU_MAX : WORD_OCTETS));
        letter->count = 0;
        for (size_t i = 0; i < output.span_count; i++) {
            memcpy(letter->octets + letter->count, output.spans[i].octets, output.spans[i].count);
            letter->count += output.spans[i].count;
        }
        iwarp_stream_output_done(stream, output.octets, 1);
    }
    return count;
}

/* All that `side` has to send goes over: in order, or the last message first. Returns how many there were. */
static size_t carry(struct post *post, int side, bool reversed)
{
    static struct letter all[MESSAGES_MAX];
    size_t count = collect(post->stream[side], all);

    for (size_t i = 0; i < count; i++) {
        const struct letter *letter = &all[reversed ? count - 1 - i : i];

        iwarp_stream_input(post->stream[1 - side], letter->octets, letter->count, 1);
        poll_all(post, 1 - side);
    }
    poll_all(post, side);
    return count;
}

static void carry_all(struct post *post)
{
    while (carry(post, INITIATOR, false) + carry(post, RESPONDER, false) != 0)
        continue;
}

static void open_pair(struct post *post, bool peer_to_peer, enum iwarp_accept_policy accept)
{
    struct iwarp_stream_config config;
    struct iwarp_sentence sentence = {""};

    memset(post, 0, sizeof(*post));
    for (int side = 0; side < 2; side++) {
        iwarp_stream_config_default(&config, side == INITIATOR ? IWARP_INITIATOR : IWARP_RESPONDER);
        config.ird = side == INITIATOR ? 2 : 3;
        config.ord = side == INITIATOR ? 9 : 7;
        config.peer_to_peer = peer_to_peer && side == INITIATOR;
        config.rtr = side == INITIATOR ? IWARP_RTR_ALL : IWARP_RTR_SEND | IWARP_RTR_READ;
        config.accept = accept;
        post->device[side] = iwarp_device_new(NULL);
        post->stream[side] = stream_new(&letters, post->device[side], &config, 0, &sentence);
        ck_assert_msg(post->stream[side] != NULL, "%s", sentence.text);
    }
}

static void close_pair(struct post *post)
{
    for (int side = 0; side < 2; side++) {
        iwarp_stream_free(post->stream[side]);
        iwarp_device_free(post->device[side]);
    }
}

START_TEST(ird_and_ord_are_negotiated_over_any_llp)
{
    struct post post;

    open_pair(&post, true, IWARP_ACCEPT);
    ck_assert_uint_eq(carry(&post, INITIATOR, false), 1);
    /* The responder's IRD rises to the initiator's ORD, its ORD falls to the initiator's IRD (RFC 6581 9.1). */
    ck_assert_uint_eq(iwarp_stream_ird(post.stream[RESPONDER]), 9);
    ck_assert_uint_eq(iwarp_stream_ord(post.stream[RESPONDER]), 2);
    ck_assert(post.stream[RESPONDER]->agreed.rtr_awaited);
    ck_assert_uint_eq(carry(&post, RESPONDER, false), 1);
    ck_assert_uint_eq(iwarp_stream_ird(post.stream[INITIATOR]), 2);
    ck_assert_uint_eq(iwarp_stream_ord(post.stream[INITIATOR]), 9);
    /* The RTR that both have and that needs no receive is the Read; its response comes back. */
    ck_assert_uint_eq(carry(&post, INITIATOR, false), 1);
    ck_assert(!post.stream[RESPONDER]->agreed.rtr_awaited);
    ck_assert_uint_eq(post.stream[RESPONDER]->inbound.requests.count, 1);
    carry_all(&post);
    ck_assert_uint_eq(post.stream[INITIATOR]->counters.reads_outstanding, 0);
    for (int side = 0; side < 2; side++) {
        ck_assert_ptr_null(event_of(&post, side, IWARP_EVENT_ERROR));
        ck_assert_ptr_nonnull(event_of(&post, side, IWARP_EVENT_ESTABLISHED));
    }
    close_pair(&post);
}
END_TEST

START_TEST(answers_with_its_own_room)
{
    static const uint8_t data[4] = {1, 2, 3, 4};
    struct iwarp_sentence sentence = {""};
    struct post post;

    open_pair(&post, false, IWARP_ACCEPT_ASK);
    carry_all(&post);
    ck_assert_int_eq(iwarp_stream_accept(post.stream[RESPONDER], data, 4, -1, -1, 1, &sentence), -1);
    ck_assert_str_eq(sentence.text, "stream: 4 octets of Private Data, at most 3 fit");
    ck_assert_int_eq(iwarp_stream_accept(post.stream[RESPONDER], data, 3, 5, -1, 1, &sentence), 0);
    carry_all(&post);
    ck_assert_uint_eq(iwarp_stream_ird(post.stream[RESPONDER]), 5);
    ck_assert_uint_eq(iwarp_stream_ord(post.stream[INITIATOR]), 5);
    close_pair(&post);
}
END_TEST

/* Segments of a Send that come last first are placed at once, and delivered when the first has come (RFC 5041 5.3). */
START_TEST(places_before_the_turn)
{
    uint8_t data[300], receive[300] = {0};
    struct iwarp_send send = {.id = 7, .octets = data, .count = sizeof(data)};
    const struct iwarp_event *event;
    struct post post;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7 + 1);
    open_pair(&post, false, IWARP_ACCEPT);
    carry_all(&post);
    ck_assert_int_eq(iwarp_stream_post_receive(post.stream[RESPONDER], 3, receive, sizeof(receive), NULL), 0);
    ck_assert_int_eq(iwarp_stream_post_send(post.stream[INITIATOR], &send, NULL), 0);
    ck_assert_uint_eq(carry(&post, INITIATOR, true), (sizeof(data) + ULPDU_MAX - 19) / (ULPDU_MAX - 18));
    ck_assert_uint_eq(iwarp_stream_counters(post.stream[RESPONDER])->segments_early, 4);
    ck_assert_uint_eq(iwarp_stream_counters(post.stream[RESPONDER])->segments_placed, 5);
    event = event_of(&post, RESPONDER, IWARP_EVENT_RECEIVE);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->octets, sizeof(data));
    ck_assert_mem_eq(receive, data, sizeof(data));
    ck_assert_ptr_nonnull(event_of(&post, INITIATOR, IWARP_EVENT_SEND_DONE));
    close_pair(&post);
}
END_TEST

/* The Terminate quotes the length of the DDP Segment, which is all that the layer said of it. */
START_TEST(terminate_over_any_llp_quotes_the_segment)
{
    uint8_t data[40] = {0};
    struct iwarp_write write = {.id = 1, .octets = data, .count = sizeof(data), .stag = 0xBAD, .to = 5};
    const struct iwarp_event *event;
    struct post post;

    open_pair(&post, false, IWARP_ACCEPT);
    carry_all(&post);
    ck_assert_int_eq(iwarp_stream_post_write(post.stream[INITIATOR], &write, NULL), 0);
    carry_all(&post);
    event = event_of(&post, INITIATOR, IWARP_EVENT_TERMINATE_RECEIVED);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->triple, TERM_DDP_INVALID_STAG);
    ck_assert_uint_eq(octets_get16(event->headers + TERMINATE_OCTETS), DDP_TAGGED_OCTETS + sizeof(data));
    event = event_of(&post, RESPONDER, IWARP_EVENT_ERROR);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->value, 0); /* what the layer adds: the segment is still the expected one */
    /* The ends of both layers went over by themselves, before the transport's. */
    for (int side = 0; side < 2; side++) {
        ck_assert(letters_of(post.stream[side])->end_sent);
        ck_assert(letters_of(post.stream[side])->end_received);
        ck_assert_int_eq(iwarp_stream_wants(post.stream[side]), IWARP_WANT_CLOSE);
    }
    close_pair(&post);
}
END_TEST

START_TEST(streams_end_over_any_llp)
{
    const struct iwarp_event *event;
    struct post post;

    /* In order: the layer's own message, once, and then the transport's end. */
    open_pair(&post, false, IWARP_ACCEPT);
    carry_all(&post);
    iwarp_stream_disconnect(post.stream[INITIATOR], 1);
    ck_assert_int_eq(iwarp_stream_wants(post.stream[INITIATOR]), IWARP_WANT_NOTHING);
    ck_assert_uint_eq(carry(&post, INITIATOR, false), 1);
    ck_assert_int_eq(iwarp_stream_wants(post.stream[INITIATOR]), IWARP_WANT_CLOSE);
    iwarp_stream_input_fin(post.stream[RESPONDER], 1);
    poll_all(&post, RESPONDER);
    ck_assert_ptr_nonnull(event_of(&post, RESPONDER, IWARP_EVENT_HALF_CLOSED));
    ck_assert_ptr_null(event_of(&post, RESPONDER, IWARP_EVENT_ERROR));
    close_pair(&post);

    /* Without that message it is an error, which the layer finds. */
    open_pair(&post, false, IWARP_ACCEPT);
    carry_all(&post);
    iwarp_stream_input_fin(post.stream[RESPONDER], 1);
    poll_all(&post, RESPONDER);
    event = event_of(&post, RESPONDER, IWARP_EVENT_ERROR);
    ck_assert_ptr_nonnull(event);
    ck_assert_str_eq(event->text, "letters: an end was due");

    /* A connection that is lost has the layer's number: none. */
    iwarp_stream_input_reset(post.stream[INITIATOR], 1);
    poll_all(&post, INITIATOR);
    event = event_of(&post, INITIATOR, IWARP_EVENT_ERROR);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->triple, WIRE_OK);
    close_pair(&post);

    /* So does a start-up that takes too long. */
    open_pair(&post, false, IWARP_ACCEPT);
    iwarp_stream_tick(post.stream[INITIATOR], iwarp_stream_deadline(post.stream[INITIATOR]));
    poll_all(&post, INITIATOR);
    event = event_of(&post, INITIATOR, IWARP_EVENT_ERROR);
    ck_assert_ptr_nonnull(event);
    ck_assert_str_eq(event->text, "letters: no answer");
    close_pair(&post);
}
END_TEST

/* What is MPA's and TCP's alone does nothing to such a stream, and looks at nothing of it. */
START_TEST(knows_no_mpa)
{
    struct iwarp_mpa_state state = {.emss = 1};
    struct iwarp_stream_config config;
    struct iwarp_sentence sentence = {""};
    uint8_t *space = NULL;
    struct letters before;
    struct post post;

    open_pair(&post, false, IWARP_ACCEPT);
    carry_all(&post);
    before = *letters_of(post.stream[RESPONDER]);
    iwarp_stream_set_emss(post.stream[RESPONDER], 9000);
    iwarp_stream_set_packed(post.stream[RESPONDER], 100);
    iwarp_stream_mpa(post.stream[RESPONDER], &state);
    ck_assert_uint_eq(state.emss, 0);
    ck_assert_uint_eq(iwarp_stream_input_space(post.stream[RESPONDER], &space), 0);
    iwarp_stream_input_filled(post.stream[RESPONDER], 5, 1);
    iwarp_stream_input_early(post.stream[RESPONDER], 1, (const uint8_t *)"S", 1, true, 1);
    ck_assert_mem_eq(letters_of(post.stream[RESPONDER]), &before, sizeof(before));
    ck_assert_uint_eq(iwarp_stream_mulpdu(post.stream[RESPONDER]), ULPDU_MAX);
    ck_assert_ptr_null(event_of(&post, RESPONDER, IWARP_EVENT_ERROR));
    iwarp_stream_config_default(&config, IWARP_INITIATOR);
    config.enhanced = false;
    ck_assert_ptr_null(stream_new(&letters, post.device[0], &config, 0, &sentence));
    ck_assert_str_eq(sentence.text, "letters: every message has the word");
    close_pair(&post);
}
END_TEST

Suite *llp_suite(void)
{
    Suite *suite = suite_create("llp");
    TCase *tcase = tcase_create("messages");

    tcase_add_test(tcase, ird_and_ord_are_negotiated_over_any_llp);
    tcase_add_test(tcase, answers_with_its_own_room);
    tcase_add_test(tcase, places_before_the_turn);
    tcase_add_test(tcase, terminate_over_any_llp_quotes_the_segment);
    tcase_add_test(tcase, streams_end_over_any_llp);
    tcase_add_test(tcase, knows_no_mpa);
    suite_add_tcase(suite, tcase);
    return suite;
}
