/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sessions: two SCTP associations of one process, joined by memory in place of SCTP, with three RDMAP Streams on them
 * (RFC 5043). Whoever has an SCTP of his own (a kernel's, a library, a simulator) drives an association like this.
 */
#include <inttypes.h>
#include <iwarp/instrument.h>
#include <iwarp/sctp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 3, OCTETS = 64, OWN = 0, PEER = 1 };

struct end {
    struct iwarp_device *device;
    struct iwarp_association *association;
    struct iwarp_stream *streams[STREAMS];
    uint8_t inbox[STREAMS][OCTETS];
    unsigned received;
    bool up, down;
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
        (void)fprintf(stderr, "sessions: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
}

/* The ULP of the passive side takes each request, and posts a receive. */
static void handle_request(struct end *end, const struct iwarp_association_event *event, uint64_t now)
{
    struct iwarp_stream_config config;

    printf("      a session is asked for on stream %u: \"%.*s\"\n", event->sid, (int)event->private_octets,
           (const char *)event->private_data);
    if (event->sid >= STREAMS)
        return;
    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    end->streams[event->sid] = iwarp_sctp_stream_new(end->association, event->sid, &config, now, &why);
    (void)iwarp_stream_post_receive(end->streams[event->sid], event->sid, end->inbox[event->sid], OCTETS, &why);
}

static void handle(struct end *end, uint64_t now)
{
    struct iwarp_association_event event;
    struct iwarp_event of_stream;
    struct iwarp_stream *stream;

    while (iwarp_association_poll(end->association, &event))
        switch (event.kind) {
        case IWARP_ASSOCIATION_UP: end->up = event.mode == IWARP_SCTP_RDMA; break;
        case IWARP_ASSOCIATION_REQUEST: handle_request(end, &event, now); break;
        case IWARP_ASSOCIATION_DOWN: end->down = true; break;
        default: break;
        }
    while ((stream = iwarp_association_poll_stream(end->association)) != NULL)
        while (iwarp_stream_poll(stream, &of_stream))
            end->received += of_stream.kind == IWARP_EVENT_RECEIVE;
}

/* SCTP's part: each message goes to the other side in one piece, and is acknowledged at once. */
static bool carry_one(struct end *from, struct end *to, uint64_t now)
{
    struct iwarp_sctp_output output;
    uint8_t octets[2048];
    bool moved = false;

    while (iwarp_association_output(from->association, &output) != 0) {
        struct iwarp_sctp_message message = {.sid = output.sid, .ppid = output.ppid, .octets = octets};

        for (size_t i = 0; i < output.span_count; message.count += output.spans[i++].count)
            memcpy(octets + message.count, output.spans[i].octets, output.spans[i].count);
        iwarp_association_output_done(from->association, now);
        iwarp_association_input(to->association, &message, now);
        iwarp_association_acked(from->association, message.sid, 1, now);
        moved = true;
    }
    iwarp_association_dry(from->association, now);
    if (iwarp_association_wants(from->association) != IWARP_ASSOCIATION_WANT_NOTHING && !to->down) {
        iwarp_association_lost(to->association, now); /* a SHUTDOWN or an ABORT has arrived */
        moved = true;
    }
    handle(from, now);
    handle(to, now);
    return moved;
}

static void carry(struct pair *pair)
{
    bool moved = true;

    while (moved) {
        moved = carry_one(&pair->end[OWN], &pair->end[PEER], pair->now);
        moved = carry_one(&pair->end[PEER], &pair->end[OWN], pair->now) || moved;
    }
    pair->now += 1000000;
    for (int i = 0; i < 2; i++)
        if (iwarp_association_deadline(pair->end[i].association) <= pair->now)
            iwarp_association_tick(pair->end[i].association, pair->now);
}

/* What INIT and INIT-ACK say, each way. */
static void pair_open(struct pair *pair)
{
    struct iwarp_association_config config;
    struct iwarp_sctp_init init;

    memset(pair, 0, sizeof(*pair));
    iwarp_association_config_default(&config, IWARP_SCTP_RFC5043);
    for (int i = 0; i < 2; i++) {
        pair->end[i].device = iwarp_device_new(NULL);
        pair->end[i].association = iwarp_association_new(pair->end[i].device, &config, 0, &why);
        expect(pair->end[i].association != NULL, "an association is made");
    }
    for (int i = 0; i < 2; i++) {
        iwarp_association_init(pair->end[1 - i].association, &init);
        expect(iwarp_sctp_mode(&config, init.has_indication, init.indication) == IWARP_SCTP_RDMA,
               "the peer's adaptation indication is that of DDP");
        iwarp_association_up(pair->end[i].association, &init, pair->now);
    }
    carry(pair);
    expect(pair->end[OWN].up && pair->end[PEER].up, "the association is up");
}

static void pair_close(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < STREAMS; k++)
            iwarp_stream_free(pair->end[i].streams[k]);
        iwarp_association_free(pair->end[i].association);
        iwarp_device_free(pair->end[i].device);
    }
}

/* One session on a free SID, with its name as Private Data. */
static void begin(struct pair *pair, int n)
{
    struct end *own = &pair->end[OWN];
    struct iwarp_stream_config config;
    int sid = iwarp_association_free_sid(own->association);

    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    config.private_octets =
        (uint16_t)snprintf((char *)config.private_data, sizeof(config.private_data), "number %d", n);
    expect(sid >= 0, "a stream identifier is free");
    expect(iwarp_sctp_stream_config_check(own->device, &config, &why) == 0, "a stream can be like that");
    if (n == 0) {
        own->streams[n] = iwarp_sctp_stream_new(own->association, (uint16_t)sid, &config, pair->now, &why);
    } else { /* in two steps: work could be posted in between */
        own->streams[n] = iwarp_sctp_stream_detached(own->device, &config, pair->now, &why);
        expect(iwarp_stream_set_pd(own->streams[n], 1, &why) == 0, "until then it may have another Protection Domain");
        expect(iwarp_sctp_stream_attach(own->association, (uint16_t)sid, own->streams[n], pair->now, &why) == 0,
               "a stream that was made before is given a stream identifier");
    }
    expect(own->streams[n] != NULL && iwarp_sctp_stream_sid(own->streams[n]) == sid, "a session is begun there");
    carry(pair);
    expect(iwarp_stream_state(own->streams[n]) == IWARP_STATE_OPERATION, "the peer has accepted it");
    expect(iwarp_stream_set_pd(own->streams[n], 2, &why) != 0, "it keeps its Protection Domain from now on");
}

int main(void)
{
    static struct pair pair;
    struct end *own = &pair.end[OWN], *peer = &pair.end[PEER];

    pair_open(&pair);
    for (int i = 0; i < STREAMS; i++)
        begin(&pair, i);
    for (int i = 0; i < STREAMS; i++) {
        struct iwarp_send send = {.id = 1, .octets = (const uint8_t *)"on each stream", .count = 14};

        expect(iwarp_stream_post_send(own->streams[i], &send, &why) == 0, "a Send is posted");
    }
    carry(&pair);
    expect(peer->received == STREAMS && memcmp(peer->inbox[2], "on each stream", 14) == 0, "all three have arrived");
    iwarp_association_set_mtu(own->association, 9000);
    printf("      %" PRIu64 " messages sent; DDP Segments of %zu octets are possible now\n",
           iwarp_association_counters(own->association)->messages_sent,
           iwarp_association_segment_max(own->association));
    iwarp_stream_disconnect(own->streams[0], pair.now);
    carry(&pair);
    expect(iwarp_stream_state(own->streams[1]) == IWARP_STATE_OPERATION && !own->down,
           "one session ends, the others go on");
    iwarp_association_close(own->association, pair.now);
    for (int i = 0; i < STREAMS; i++) {
        iwarp_stream_disconnect(own->streams[i], pair.now);
        iwarp_stream_disconnect(peer->streams[i], pair.now);
    }
    carry(&pair);
    expect(peer->down, "without sessions, the association is shut down");
    pair_close(&pair);

    pair_open(&pair);
    iwarp_association_abort(own->association, pair.now);
    carry(&pair);
    expect(peer->down, "another one is aborted");
    pair_close(&pair);
    return EXIT_SUCCESS;
}
