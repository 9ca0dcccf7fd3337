/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sctp_course.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reference-stack/sctp/sctp.h"

enum { SID = 3, WINDOW = 33000 };

void sctp_say(struct sctp_record *record, const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = vsnprintf(record->text + record->count, SCTP_RECORD - record->count, format, arguments);
    va_end(arguments);
    ck_assert_int_ge(count, 0);
    ck_assert_uint_lt((size_t)count, SCTP_RECORD - record->count);
    record->count += (size_t)count;
}

/* What the device sends: all of it but the inside of segments. */
static void see(void *user, int side, const struct sctp_letter *letter)
{
    struct sctp_record *record = user;
    uint32_t sum = 0;

    if (side != record->device)
        return;
    for (size_t i = 0; i < letter->count; i++)
        sum = sum * 31 + letter->octets[i];
    sctp_say(record, "sid %u ppid %u u %d count %zu sum %08x\n", letter->sid, letter->ppid, letter->unordered,
             letter->count, sum);
}

void sctp_course_reported(struct sctp_record *record, const struct sctp_pair *pair)
{
    for (int side = 0; side < SCTP_SIDES; side++) {
        const struct sctp_pair_side *s = &pair->side[side];

        for (unsigned n = 0; n < SCTP_STREAMS; n++)
            for (size_t i = 0; i < s->ends[n].event_count && i < SCTP_EVENTS; i++) {
                const struct iwarp_event *event = &s->ends[n].events[i];

                sctp_say(record, "%d.%u event %d id %llu octets %zu pd %u %s\n", side, n, (int)event->kind,
                         (unsigned long long)event->id, event->octets, event->start.private_octets,
                         event->requirement != NULL ? event->requirement : "");
            }
        for (size_t i = 0; i < s->event_count; i++)
            sctp_say(record, "%d told %d mode %d sid %u code %u pd %zu\n", side, (int)s->events[i].kind,
                     (int)s->events[i].mode, s->events[i].sid, s->events[i].code, s->events[i].private_octets);
        sctp_say(record, "%d wants %d pending %u\n", side, (int)iwarp_association_wants(s->association),
                 iwarp_association_counters(s->association)->pending_most);
    }
}

struct sctp_pair *sctp_course_begin(struct sctp_record *record, const struct defect_set *defects,
                                    enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_pair_new(profile);
    struct iwarp_sctp_init init;

    pair->side[record->device].config.faults = defect_set_faults(defects);
    pair->side[SCTP_PASSIVE].config.pending_max = 2;
    pair->side[1 - record->device].config.any_indication = true;
    pair->look = see;
    pair->user = record;
    sctp_pair_open(pair);
    iwarp_association_init(pair->side[record->device].association, &init);
    sctp_say(record, "init %d %x %u %u\n", init.has_indication, init.indication, init.outbound, init.inbound);
    return pair;
}

void sctp_course_end(struct sctp_record *record, struct sctp_pair *pair)
{
    pair->side[0].silent = pair->side[1].silent = false;
    sctp_pair_run(pair);
    sctp_course_reported(record, pair);
    sctp_pair_free(pair);
}

/* Only where both associations are up and for RDMA. */
bool sctp_course_stream(struct sctp_pair *pair, int side, unsigned n, uint16_t sid, struct iwarp_stream_config *config)
{
    struct sctp_pair_side *s = &pair->side[side];

    sctp_pair_drop(pair, side, n);
    config->faults = s->config.faults;
    config->number = n + 1;
    s->ends[n].stream = iwarp_sctp_stream_new(s->association, sid, config, pair->now, NULL);
    return s->ends[n].stream != NULL;
}

void sctp_course_session(struct sctp_pair *pair, unsigned n, uint16_t sid, uint16_t octets, bool enhanced)
{
    struct iwarp_stream_config config;

    for (int side = SCTP_SIDES - 1; side >= 0; side--) {
        iwarp_sctp_stream_config_default(&config, side == SCTP_ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
        config.private_octets = octets;
        config.enhanced = enhanced || side == SCTP_PASSIVE;
        memset(config.private_data, 0x40 + side, sizeof(config.private_data));
        (void)sctp_course_stream(pair, side, n, sid, &config);
    }
    sctp_pair_run(pair);
}

/* --- The course -------------------------------------------------------------------------------------------------- */

static uint8_t octets[70000], buffers[4][4096];

static void traffic(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);

    for (int round = 0; round < 2; round++) {
        sctp_course_session(pair, 0, SID, 508, true);
        sctp_course_session(pair, 1, SID + 1, 300, false);
        for (int i = 0; i < 4; i++) {
            int from = i % 2;
            struct iwarp_send send = {.id = 10 + (uint64_t)i, .octets = octets, .count = i < 2 ? 30 : 4000};

            /* The passive side is first. */
            (void)iwarp_stream_post_receive(pair->side[from].ends[0].stream, (uint64_t)i, buffers[i], 4096, NULL);
            (void)iwarp_stream_post_send(pair->side[1 - from].ends[0].stream, &send, NULL);
            sctp_pair_run(pair);
        }
        for (unsigned n = 0; n < 2; n++)
            for (int side = 0; side < SCTP_SIDES; side++) {
                iwarp_stream_disconnect(pair->side[side].ends[n].stream, pair->now);
                sctp_pair_run(pair);
            }
        sctp_say(record, "next sid %d\n", iwarp_association_free_sid(pair->side[record->device].association));
    }
    sctp_course_end(record, pair);
}

/* The wrap, in the order of sending and out of it; and a message twice. */
static void order(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_send send = {.id = 1, .octets = octets, .count = 8};
    struct sctp_session *peer = NULL;
    int device = record->device;

    sctp_course_session(pair, 0, SID, 0, true);
    if (pair->side[device].ends[0].stream != NULL)
        peer = lower_of(pair->side[device].ends[0].stream)->session;
    if (peer != NULL) {
        for (uint64_t i = 0; i < 6; i++)
            (void)iwarp_stream_post_receive(pair->side[device].ends[0].stream, i, buffers[0] + 64 * i, 64, NULL);
        peer->expected = peer->ssn = UINT16_MAX;
        sctp_pair_feed_send(pair, device, SID, 0, 2, 10);
        sctp_pair_feed_send(pair, device, SID, UINT16_MAX, 1, 9);
        sctp_pair_feed_send(pair, device, SID, 1, 3, 11);
        sctp_pair_feed_send(pair, device, SID, 1, 3, 11);
        for (int i = 0; i < 3; i++)
            (void)iwarp_stream_post_send(pair->side[device].ends[0].stream, &send, NULL);
    }
    /* One that is far from its turn, and another domain for the session. */
    sctp_pair_feed_send(pair, device, SID, 20000, 4, 12);
    sctp_say(record, "held %zu domain %d\n",
             iwarp_association_counters(pair->side[device].association)->held_octets_max,
             iwarp_stream_set_pd(pair->side[device].ends[0].stream, 2, NULL));
    sctp_course_end(record, pair);
}

/*
 * Requests: some wait, one too many; one that is decided on late, one that is refused; Private Data beyond the limit.
 */
static void requests(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_stream_config config;

    for (unsigned n = 0; n < 4; n++) {
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.peer_to_peer = n == 1;
        config.rtr = IWARP_RTR_SEND;
        (void)sctp_course_stream(pair, SCTP_ACTIVE, n, (uint16_t)n, &config);
    }
    sctp_pair_run(pair);
    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.accept = IWARP_ACCEPT_ASK;
    (void)sctp_course_stream(pair, SCTP_PASSIVE, 0, 0, &config);
    sctp_pair_run(pair);
    sctp_say(record, "decide\n");
    (void)iwarp_stream_reject(pair->side[SCTP_PASSIVE].ends[0].stream, octets, 20, pair->now, NULL);
    sctp_pair_run(pair);
    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.rtr = IWARP_RTR_WRITE;
    (void)sctp_course_stream(pair, SCTP_PASSIVE, 1, 1, &config);
    sctp_course_end(record, pair);
}

/* A Terminate and an Initiate that must wait, and segments that must: nothing is acknowledged. */
static void patience(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_write write = {.octets = octets, .count = 4, .stag = 1};
    struct iwarp_stream_config config;
    int device = record->device;

    pair->side[1 - device].silent = true;
    sctp_course_session(pair, 0, SID, 0, true);
    iwarp_stream_disconnect(pair->side[device].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    sctp_say(record, "waits\n");
    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    (void)sctp_course_stream(pair, SCTP_ACTIVE, 1, SID + 1, &config);
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[1].stream, &write, NULL);
    sctp_pair_run(pair);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[1].stream, pair->now);
    sctp_pair_feed_control(pair, SCTP_ACTIVE, SID + 1, 0, DDP_SCTP_TERMINATE, 0);
    sctp_pair_run(pair);
    (void)iwarp_association_output(pair->side[SCTP_ACTIVE].association, &(struct iwarp_sctp_output){0});
    if (sctp_course_stream(pair, SCTP_ACTIVE, 2, SID + 1, &config))
        sctp_say(record, "used again\n");
    sctp_course_end(record, pair);
}

/* Messages that fit no pattern, to a session that is open and to one that has been asked for. */
static void patterns(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    static const struct {
        uint16_t code;
        size_t octets;
        bool asked, enhanced;
    } controls[] = {
        {9, 0, false, true},
        {DDP_SCTP_INITIATE, 0, false, true},
        {DDP_SCTP_ACCEPT, 0, false, true},
        {DDP_SCTP_TERMINATE, 0, false, true},
        {DDP_SCTP_TERMINATE, 8, false, true},
        {DDP_SCTP_REJECT, 0, true, false},
        {DDP_SCTP_ACCEPT, 0, true, true},
        {DDP_SCTP_ENHANCED_ACCEPT, 4, true, false},
        {DDP_SCTP_ACCEPT, 513, true, false},
        {0, 0, true, false}, /* a segment */
    };

    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
        struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
        uint16_t sid = controls[i].asked ? SID + 5 : SID, ssn = controls[i].asked ? 0 : 1;
        struct iwarp_stream_config config;

        sctp_course_session(pair, 0, SID, 0, true);
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.enhanced = controls[i].enhanced;
        if (controls[i].asked)
            (void)sctp_course_stream(pair, record->device, 1, sid, &config);
        sctp_pair_run(pair);
        if (controls[i].code == 0)
            sctp_pair_feed_send(pair, record->device, sid, ssn, 1, 5);
        else
            sctp_pair_feed_control(pair, record->device, sid, ssn, controls[i].code, controls[i].octets);
        (void)iwarp_stream_post_receive(pair->side[record->device].ends[0].stream, 1, buffers[0], 64, NULL);
        sctp_pair_feed_send(pair, record->device, sid, (uint16_t)(ssn + 1), 1, 6);
        sctp_pair_feed(pair, record->device, sid, 0, octets, 20);
        sctp_course_end(record, pair);
    }
}

/* Chunks of no kind, of a part of a header, and before their turn; and streams of two Protection Domains. */
static void chunks(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    static const uint8_t write[16] = {0, 1, 0xC1, 0x40};
    static const struct {
        uint32_t ppid;
        size_t count;
    } foreign[] = {{0x12345678, sizeof(write)}, {DDP_SCTP_PPID_SEGMENT, 1}};

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
        struct iwarp_stream_config config;
        int device = record->device;

        sctp_course_session(pair, 0, SID, 0, true);
        sctp_pair_feed(pair, device, SID, foreign[i].ppid, write, foreign[i].count);
        sctp_pair_feed_send(pair, device, SID, 1, 1, 5);
        sctp_pair_run(pair);
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.enhanced = false;
        config.pd = 5;
        if (sctp_course_stream(pair, device, 1, SID + 5, &config)) {
            sctp_say(record, "domain %u\n", pair->side[device].ends[1].stream->config.pd);
            (void)iwarp_stream_post_receive(pair->side[device].ends[1].stream, 1, buffers[0], 64, NULL);
            sctp_pair_run(pair);
            sctp_pair_feed_send(pair, device, SID + 5, 1, 1, 5);
            sctp_pair_feed_control(pair, device, SID + 5, 0, DDP_SCTP_ACCEPT, 0);
        }
        sctp_course_end(record, pair);
    }
}

/* A DDP error, then what must have no effect, and a new beginning; then the end of the association. */
static void errors(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    static const uint8_t control[8] = {0, 0, 0, 2};
    struct iwarp_write write = {.octets = octets, .count = 4, .stag = 0x666};
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    int device = record->device;

    for (unsigned n = 0; n < 3; n++)
        sctp_course_session(pair, n, (uint16_t)(SID + n), 0, true);
    (void)iwarp_stream_post_write(pair->side[1 - device].ends[0].stream, &write, NULL);
    sctp_pair_run(pair);
    if (profile == IWARP_SCTP_DRAFT02) {
        sctp_course_session(pair, 0, SID, 0, true);
        sctp_pair_feed(pair, device, SID + 1, DDP_SCTP_PPID_DRAFT_CONTROL, control, 4);
        /* An aborted stream that has one of the ULP's again, and no Stream Reset. */
        (void)iwarp_stream_post_write(pair->side[1 - device].ends[2].stream, &write, NULL);
        sctp_pair_run(pair);
        (void)sctp_pair_step(pair);
        if (pair->side[device].ends[2].stream != NULL) {
            struct iwarp_stream_config config;

            iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
            if (sctp_course_stream(pair, device, 2, SID + 2, &config)) {
                (void)iwarp_stream_post_receive(pair->side[device].ends[2].stream, 1, buffers[0], 64, NULL);
                sctp_pair_feed_send(pair, device, SID + 2, 1, 1, 7);
            }
        }
    } else {
        sctp_pair_feed_control(pair, device, SID + 1, 1, 9, 0);
    }
    sctp_pair_run(pair);
    sctp_course_reported(record, pair);
    for (unsigned n = 0; n < 3; n++)
        sctp_course_session(pair, n, (uint16_t)(SID + 6 + n), 0, true);
    iwarp_association_abort(pair->side[device].association, pair->now);
    sctp_course_end(record, pair);
}

/* A peer that indicates something else, or nothing. */
static void modes(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    for (int any = 0; any < 4; any++) { /* the last one is of DDP alone, where the profile knows that */
        struct iwarp_sctp_init peer = {any != 2, any == 3 ? DDP_SCTP_INDICATION_DDP : 3, 64, 64};
        struct sctp_pair *pair = sctp_pair_new(profile);
        struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];

        side->config.faults = defect_set_faults(defects);
        side->config.any_indication = any == 1;
        side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
        iwarp_association_up(side->association, &peer, 1);
        sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 0, DDP_SCTP_INITIATE, 0);
        (void)iwarp_association_poll(side->association, &side->events[0]);
        sctp_say(record, "mode %d wants %d\n", (int)side->events[0].mode,
                 (int)iwarp_association_wants(side->association));
        sctp_pair_free(pair);
    }
}

/* An endpoint whose ULP wants no DDP (7.1). */
static void without_ddp(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_pair_new(profile);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
    struct iwarp_sctp_init init;

    side->config.faults = defect_set_faults(defects);
    side->config.indicate = false;
    side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
    iwarp_association_init(side->association, &init);
    sctp_say(record, "without %d %x %zu\n", init.has_indication, init.indication, sctp_pair_leaving(defects));
    sctp_pair_free(pair);
}

/* The path becomes narrower while a segment waits that SCTP has not taken. */
static void narrower(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct sctp_pair_side *side = &pair->side[record->device];

    sctp_course_session(pair, 0, SID, 0, true);
    (void)iwarp_stream_post_write(side->ends[0].stream, &(struct iwarp_write){.octets = octets, .count = 1200}, NULL);
    (void)iwarp_association_output(side->association, &(struct iwarp_sctp_output){0});
    iwarp_association_set_mtu(side->association, 700);
    sctp_course_end(record, pair);
}

/* More than may be sent without acknowledgement. */
static void window(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_write write = {.octets = octets, .count = 1, .stag = 1};

    pair->look = NULL;
    sctp_course_session(pair, 0, SID, 0, true);
    for (unsigned i = 0; i < WINDOW; i++)
        (void)iwarp_stream_post_write(pair->side[record->device].ends[0].stream, &write, NULL);
    while (iwarp_association_output(pair->side[record->device].association, &(struct iwarp_sctp_output){0}))
        iwarp_association_output_done(pair->side[record->device].association, 1);
    sctp_say(record, "outstanding %u\n",
             iwarp_association_counters(pair->side[record->device].association)->outstanding_most);
    sctp_pair_free(pair);
}

void sctp_course(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile,
                 int device, bool with_window)
{
    record->count = 0;
    record->device = device;
    traffic(record, defects, profile);
    order(record, defects, profile);
    requests(record, defects, profile);
    patience(record, defects, profile);
    patterns(record, defects, profile);
    chunks(record, defects, profile);
    errors(record, defects, profile);
    modes(record, defects, profile);
    without_ddp(record, defects, profile);
    narrower(record, defects, profile);
    sctp_course_state(record, defects, profile);
    if (with_window)
        window(record, defects, profile);
}
