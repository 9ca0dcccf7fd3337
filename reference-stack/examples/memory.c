/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory: two streams of one process, joined by memory in place of TCP. Whoever has a transport of his own (a
 * simulator, a user-space TCP, a fuzzer) drives a stream like this: carry() is all that the streams need of it.
 */
#include <inttypes.h>
#include <iwarp/instrument.h>
#include <iwarp/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCTETS = 4096, GREETING = 1, PEER = 0, OWN = 1 };

/* One end: a stream, its device, and memory that the other end may reach. */
struct end {
    struct iwarp_device *device;
    struct iwarp_stream *stream;
    uint8_t memory[OCTETS];
    uint8_t inbox[OCTETS];
    uint32_t stag;
    bool fin_sent;
    struct iwarp_event last[16]; /* the last event of each kind up to IWARP_EVENT_FLUSHED */
    unsigned events;
    bool refused; /* the ULP rejects the Request */
};

struct pair {
    struct end end[2];
    uint64_t now;
};

static struct iwarp_sentence why;

static void expect(bool holds, const char *what)
{
    printf("%-5s %s\n", holds ? "ok" : "WRONG", what);
    if (!holds) {
        (void)fprintf(stderr, "memory: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
}

/* What the ULP does about an event: it decides on Requests, and keeps the rest for later. */
static void handle(struct end *end, const struct iwarp_event *event, uint64_t now)
{
    size_t octets = 0;

    end->events++;
    if (event->kind < sizeof(end->last) / sizeof(end->last[0]))
        end->last[event->kind] = *event;
    if (event->kind != IWARP_EVENT_CONNECT_REQUEST)
        return;
    /* The peer's Private Data, without the word of RFC 6581 in front of it. */
    if (iwarp_mpa_start_ulp_data(&event->start, &octets) != NULL && octets != 0)
        printf("      the Request has %zu octets of Private Data%s\n", octets,
               iwarp_mpa_start_has_word(&event->start) ? " after the word of RFC 6581" : "");
    if (end->refused)
        (void)iwarp_stream_reject(end->stream, (const uint8_t *)"no", 2, now, &why);
    else
        (void)iwarp_stream_accept(end->stream, (const uint8_t *)"yes", 3, -1, -1, now, &why);
}

/* The octets of one piece go to the other end: straight into its memory where it offers some, else through a buffer. */
static void deliver(struct iwarp_stream *to, const struct iwarp_output *piece, uint64_t now)
{
    for (size_t i = 0; i < piece->span_count; i++) {
        const struct iwarp_span *span = &piece->spans[i];
        uint8_t *space = NULL;

        if (iwarp_stream_input_space(to, &space) >= span->count && span->count != 0) {
            memcpy(space, span->octets, span->count);
            iwarp_stream_input_filled(to, span->count, now);
        } else {
            iwarp_stream_input(to, span->octets, span->count, now);
        }
    }
}

/* All that one end has to say: its output, then FIN or RST if it wants one. True: something moved. */
static bool carry_one(struct end *from, struct end *to, uint64_t now)
{
    struct iwarp_output piece;
    struct iwarp_event event;
    bool moved = false;

    while (iwarp_stream_output(from->stream, &piece) != 0) {
        deliver(to->stream, &piece, now);
        iwarp_stream_output_done(from->stream, piece.octets, now);
        iwarp_stream_set_packed(from->stream, 0); /* the next piece begins a segment */
        moved = true;
    }
    if (iwarp_stream_wants(from->stream) == IWARP_WANT_CLOSE && !from->fin_sent) {
        from->fin_sent = moved = true;
        iwarp_stream_input_fin(to->stream, now);
    } else if (iwarp_stream_wants(from->stream) == IWARP_WANT_ABORT && !from->fin_sent) {
        from->fin_sent = moved = true;
        iwarp_stream_input_reset(to->stream, now);
    }
    while (iwarp_stream_has_event(from->stream) && iwarp_stream_poll(from->stream, &event)) {
        handle(from, &event, now);
        moved = true;
    }
    return moved;
}

/* Until nothing moves; a transport sleeps then until the earlier deadline, this one lets a millisecond pass. */
static void carry(struct pair *pair)
{
    bool moved = true;

    while (moved) {
        moved = carry_one(&pair->end[OWN], &pair->end[PEER], pair->now);
        moved = carry_one(&pair->end[PEER], &pair->end[OWN], pair->now) || moved;
    }
    pair->now += 1000000;
    for (int i = 0; i < 2; i++) {
        if (iwarp_stream_deadline(pair->end[i].stream) > pair->now)
            continue;
        iwarp_stream_set_unacknowledged(pair->end[i].stream, 0, pair->now); /* all has arrived */
        iwarp_stream_tick(pair->end[i].stream, pair->now);
    }
}

static bool end_open(struct end *end, enum iwarp_role role, bool refused)
{
    struct iwarp_region region = {.base = 0, .length = OCTETS, .octets = end->memory};
    struct iwarp_stream_config config;

    end->refused = refused;
    end->device = iwarp_device_new(NULL);
    region.access = IWARP_LOCAL_WRITE | IWARP_REMOTE_READ | IWARP_REMOTE_WRITE | IWARP_REMOTE_ATOMIC;
    if (iwarp_region_register(end->device, &region, &why) != 0)
        return false;
    end->stag = region.stag;
    iwarp_stream_config_default(&config, role);
    config.number = role == IWARP_INITIATOR ? 1 : 2;
    config.accept = IWARP_ACCEPT_ASK;
    if (role == IWARP_INITIATOR) {
        memcpy(config.private_data, "hello", 5);
        config.private_octets = 5;
    }
    end->stream = iwarp_stream_new(end->device, &config, 0, &why);
    return end->stream != NULL;
}

static void pair_open(struct pair *pair, bool refused)
{
    memset(pair, 0, sizeof(*pair));
    expect(end_open(&pair->end[OWN], IWARP_INITIATOR, false) && end_open(&pair->end[PEER], IWARP_RESPONDER, refused),
           "two streams are made");
    carry(pair);
}

static void pair_close(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        iwarp_stream_free(pair->end[i].stream);
        iwarp_device_free(pair->end[i].device);
    }
}

static bool seen(const struct end *end, enum iwarp_event_kind kind, uint64_t id)
{
    return end->last[kind].kind == kind && end->last[kind].id == id;
}

/* Each kind of work once. */
static void work(struct pair *pair)
{
    struct end *own = &pair->end[OWN], *peer = &pair->end[PEER];
    struct iwarp_send send = {.id = 2, .octets = (const uint8_t *)"a Send", .count = 6};
    struct iwarp_write write = {.id = 3, .octets = (const uint8_t *)"a Write", .count = 7, .stag = peer->stag};
    struct iwarp_read read = {.id = 4, .sink_stag = own->stag, .sink_to = 64, .source_stag = peer->stag, .count = 7};
    struct iwarp_atomic add = {.id = 5, .operation = IWARP_ATOMIC_FETCH_ADD, .stag = peer->stag, .to = 128, .data = 7};
    struct iwarp_immediate immediate = {.id = 6, .octets = "8 octets"};
    struct iwarp_buffer pieces[] = {{peer->inbox, 5}, {peer->inbox + 5, 59}};
    uint64_t target = 35;

    memcpy(peer->memory + 128, &target, sizeof(target));
    expect(iwarp_stream_reserve_receives(peer->stream, 2, &why) == 0 &&
               iwarp_stream_post_receive(peer->stream, GREETING, peer->inbox, 64, &why) == 0,
           "the peer posts a receive");
    expect(iwarp_stream_post_send(own->stream, &send, &why) == 0, "a Send is posted");
    carry(pair);
    expect(seen(peer, IWARP_EVENT_RECEIVE, GREETING) && memcmp(peer->inbox, "a Send", 6) == 0,
           "it arrives in the receive");
    expect(iwarp_stream_post_write(own->stream, &write, &why) == 0 &&
               iwarp_stream_post_read(own->stream, &read, &why) == 0,
           "a Write is posted, and a Read of the same octets");
    carry(pair);
    expect(seen(own, IWARP_EVENT_READ_DONE, 4) && memcmp(own->memory + 64, "a Write", 7) == 0,
           "the Read brings back what the Write placed");
    expect(iwarp_stream_post_atomic(own->stream, &add, &why) == 0, "a FetchAdd is posted");
    carry(pair);
    memcpy(&target, peer->memory + 128, sizeof(target));
    expect(seen(own, IWARP_EVENT_ATOMIC_DONE, 5) && own->last[IWARP_EVENT_ATOMIC_DONE].value == 35 && target == 42,
           "its target was 35, and is 42");
    expect(iwarp_stream_post_receive_pieces(peer->stream, 7, pieces, 2, &why) == 0 &&
               iwarp_stream_post_immediate(own->stream, &immediate, &why) == 0,
           "Immediate Data is posted");
    carry(pair);
    expect(seen(peer, IWARP_EVENT_RECEIVE, 7) && memcmp(peer->inbox, "8 octets", 8) == 0,
           "it arrives, too, in a receive of two pieces");
}

/* What a stream and a device say of themselves. */
static void look(struct pair *pair)
{
    struct end *own = &pair->end[OWN], *peer = &pair->end[PEER];
    struct iwarp_mpa_state mpa;
    struct iwarp_ddp_state ddp;

    iwarp_stream_mpa(own->stream, &mpa);
    iwarp_stream_ddp(own->stream, &ddp);
    printf("      stream %" PRIu32 ": IRD %u, ORD %u, MULPDU %zu, EMSS %zu, next MSN %" PRIu32 "\n",
           iwarp_stream_number(own->stream), iwarp_stream_ird(own->stream), iwarp_stream_ord(own->stream),
           iwarp_stream_mulpdu(own->stream), mpa.emss, ddp.send_msn);
    expect(iwarp_stream_counters(own->stream)->fpdus_sent == iwarp_stream_counters(peer->stream)->fpdus_received,
           "each FPDU that one end sent, the other received");
    iwarp_stream_set_emss(own->stream, 536);
    expect(iwarp_stream_mulpdu(own->stream) == 530, "TCP's segments get smaller, and MULPDU with them");
    expect(iwarp_region_count(peer->device) == 1 && iwarp_region_at(peer->device, 0)->stag == peer->stag &&
               iwarp_region_find(peer->device, peer->stag)->length == OCTETS,
           "the peer has one region");
    expect(iwarp_region_set_length(peer->device, peer->stag, 100, &why) == 0,
           "the peer shows 100 octets of it from now on");
}

/* For tests of other stacks: states that a working program never needs. */
static void instruments(struct pair *pair)
{
    struct end *own = &pair->end[OWN], *peer = &pair->end[PEER];
    struct iwarp_write write = {.id = 20, .octets = own->memory, .count = 90, .stag = peer->stag};
    struct iwarp_read read = {.id = 21, .sink_stag = own->stag, .source_stag = peer->stag, .count = 8};
    static const uint8_t empty_write[14] = {0xC1, 0x40}; /* tagged, last, version 1; RDMAP version 1, Write */
    struct iwarp_trace record = {.kind = IWARP_TRACE_DELIVERED};

    iwarp_stream_set_msn(own->stream, UINT32_MAX, 1);
    iwarp_stream_set_msn(peer->stream, 1, UINT32_MAX);
    iwarp_stream_set_mulpdu(own->stream, IWARP_MULPDU_MIN);
    (void)iwarp_stream_trace(peer->stream, &record); /* the trace begins */
    expect(iwarp_stream_post_write(own->stream, &write, &why) == 0, "a Write is posted");
    carry(pair);
    expect(iwarp_stream_trace(peer->stream, &record) && record.kind == IWARP_TRACE_PLACED && record.octets == 90,
           "the trace tells where it was placed");
    iwarp_stream_hold_responses(peer->stream, true);
    expect(iwarp_stream_post_read(own->stream, &read, &why) == 0, "a Read is posted");
    carry(pair);
    expect(!seen(own, IWARP_EVENT_READ_DONE, 21), "the peer holds its Response");
    iwarp_stream_hold_responses(peer->stream, false);
    carry(pair);
    expect(seen(own, IWARP_EVENT_READ_DONE, 21), "now it comes");
    expect(iwarp_stream_post_ulpdu(own->stream, empty_write, sizeof(empty_write), &why) == 0,
           "an empty Write goes out as a ULPDU of the caller's");
    carry(pair);
    expect(iwarp_stream_state(peer->stream) == IWARP_STATE_OPERATION, "the peer has no objection");
}

/* Octets after a gap are placed before the gap is closed (RFC 5044 6, RFC 5041 5.3). */
static void early(struct pair *pair)
{
    struct end *own = &pair->end[OWN], *peer = &pair->end[PEER];
    struct iwarp_write first = {.id = 30, .octets = (const uint8_t *)"one", .count = 3, .stag = peer->stag};
    struct iwarp_write second = {.id = 31, .octets = (const uint8_t *)"two", .count = 3, .stag = peer->stag, .to = 8};
    uint8_t late[256] = {0}, held[256] = {0};
    struct iwarp_output piece;
    size_t late_count = 0, held_count = 0;

    expect(iwarp_stream_post_write(own->stream, &first, &why) == 0 &&
               iwarp_stream_post_write(own->stream, &second, &why) == 0,
           "two Writes are posted");
    for (int which = 0; which < 2 && iwarp_stream_output(own->stream, &piece) != 0; which++) {
        uint8_t *to = which == 0 ? late : held;
        size_t *count = which == 0 ? &late_count : &held_count;

        for (size_t i = 0; i < piece.span_count; *count += piece.spans[i++].count)
            memcpy(to + *count, piece.spans[i].octets, piece.spans[i].count);
        iwarp_stream_output_done(own->stream, piece.octets, pair->now);
    }
    iwarp_stream_input_early(peer->stream, late_count, held, held_count, true, pair->now);
    expect(memcmp(peer->memory + 8, "two", 3) == 0, "the second is placed while the first is missing");
    iwarp_stream_input(peer->stream, late, late_count, pair->now);
    iwarp_stream_input(peer->stream, held, held_count, pair->now);
    expect(memcmp(peer->memory, "one", 3) == 0, "TCP closes the gap");
}

/* The ways in which a stream ends. */
static void ends(void)
{
    static struct pair pair;
    struct end *own = &pair.end[OWN], *peer = &pair.end[PEER];
    char reason[80];
    struct iwarp_read lost = {.id = 40, .source_stag = 1, .sink_stag = 0, .count = 1};

    pair_open(&pair, true);
    expect(iwarp_stream_state(own->stream) == IWARP_STATE_EXITED, "the ULP rejects: MPA is left, and TCP is open");
    pair_close(&pair);

    pair_open(&pair, false);
    expect(iwarp_stream_terminate(own->stream, IWARP_TERMINATE_TRIPLE(0, 2, 0xFF), pair.now, &why) == 0,
           "the ULP ends with a Terminate");
    carry(&pair);
    expect(peer->last[IWARP_EVENT_TERMINATE_RECEIVED].triple == IWARP_TERMINATE_TRIPLE(0, 2, 0xFF),
           "the peer knows the reason");
    expect(strcmp(iwarp_terminate_describe(peer->last[IWARP_EVENT_TERMINATE_RECEIVED].triple, reason, sizeof(reason)),
                  "RDMAP / Remote Operation Error / Unspecified Error (0x02ff)") == 0,
           "and says it in words");
    pair_close(&pair);

    pair_open(&pair, false);
    lost.sink_stag = own->stag;
    expect(iwarp_stream_post_read(own->stream, &lost, &why) == 0, "a Read of an STag that the peer does not have");
    carry(&pair);
    expect(seen(own, IWARP_EVENT_FLUSHED, 40) || own->last[IWARP_EVENT_TERMINATE_RECEIVED].triple != 0,
           "the peer's Terminate ends the stream");
    pair_close(&pair);

    pair_open(&pair, false);
    iwarp_stream_catastrophe(own->stream, IWARP_CATASTROPHE_DDP, pair.now);
    carry(&pair);
    expect(peer->last[IWARP_EVENT_TERMINATE_RECEIVED].triple == IWARP_TERMINATE_TRIPLE(1, 0, 0),
           "a local catastrophic error");
    pair_close(&pair);

    pair_open(&pair, false);
    iwarp_stream_abort(own->stream, pair.now);
    carry(&pair);
    expect(iwarp_stream_state(peer->stream) == IWARP_STATE_CLOSED, "a reset ends both at once");
    pair_close(&pair);
}

int main(void)
{
    static struct pair pair;

    pair_open(&pair, false);
    expect(iwarp_stream_state(pair.end[OWN].stream) == IWARP_STATE_OPERATION, "they are in full operation");
    work(&pair);
    look(&pair);
    instruments(&pair);
    early(&pair);
    expect(iwarp_region_invalidate(pair.end[PEER].device, pair.end[PEER].stag, &why) == 0 &&
               iwarp_region_deregister(pair.end[PEER].device, pair.end[PEER].stag, &why) == 0,
           "the peer takes its memory back");
    iwarp_stream_disconnect(pair.end[OWN].stream, pair.now);
    carry(&pair);
    iwarp_stream_disconnect(pair.end[PEER].stream, pair.now);
    carry(&pair);
    expect(iwarp_stream_state(pair.end[OWN].stream) == IWARP_STATE_CLOSED, "both ends have sent a FIN");
    pair_close(&pair);
    ends();
    printf("%u events at one end\n", pair.end[OWN].events);
    return EXIT_SUCCESS;
}
