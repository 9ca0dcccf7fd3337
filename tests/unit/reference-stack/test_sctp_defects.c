/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The faults of DDP over SCTP, one by one: a device that has it goes through a course against a correct one, in both roles
 * and both profiles, and all that can be seen of it is written down. It differs from what is seen of the correct stack, and
 * that is the same each time.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/defect.h"
#include "reference-stack/sctp/sctp.h"
#include "tests/unit/sctp_pair.h"
#include "tests/unit/suites.h"

Suite *sctp_defects_suite(void);

enum { SID = 3, RECORD = 1 << 18, WINDOW = 33000 };

struct record {
    char text[RECORD];
    size_t count;
    int device; /* the side that may have faults */
};

static struct record correct, faulty;

__attribute__((format(printf, 2, 3))) static void say(struct record *record, const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = vsnprintf(record->text + record->count, RECORD - record->count, format, arguments);
    va_end(arguments);
    ck_assert_int_ge(count, 0);
    ck_assert_uint_lt((size_t)count, RECORD - record->count);
    record->count += (size_t)count;
}

/* What the device sends: all of it but the inside of segments. */
static void see(void *user, int side, const struct sctp_letter *letter)
{
    struct record *record = user;
    uint32_t sum = 0;

    if (side != record->device)
        return;
    for (size_t i = 0; i < letter->count; i++)
        sum = sum * 31 + letter->octets[i];
    say(record, "sid %u ppid %u u %d count %zu sum %08x\n", letter->sid, letter->ppid, letter->unordered, letter->count,
        sum);
}

static void see_told(struct record *record, const struct sctp_pair *pair)
{
    for (int side = 0; side < SCTP_SIDES; side++) {
        const struct sctp_pair_side *s = &pair->side[side];

        for (unsigned n = 0; n < SCTP_STREAMS; n++)
            for (size_t i = 0; i < s->ends[n].event_count && i < SCTP_EVENTS; i++) {
                const struct iwarp_event *event = &s->ends[n].events[i];

                say(record, "%d.%u event %d id %llu octets %zu pd %u %s\n", side, n, (int)event->kind,
                    (unsigned long long)event->id, event->octets, event->start.private_octets,
                    event->requirement != NULL ? event->requirement : "");
            }
        for (size_t i = 0; i < s->event_count; i++)
            say(record, "%d told %d mode %d sid %u code %u pd %zu\n", side, (int)s->events[i].kind,
                (int)s->events[i].mode, s->events[i].sid, s->events[i].code, s->events[i].private_octets);
        say(record, "%d wants %d pending %u\n", side, (int)iwarp_association_wants(s->association),
            iwarp_association_counters(s->association)->pending_most);
    }
}

static struct sctp_pair *begin(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
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
    say(record, "init %d %x %u %u\n", init.has_indication, init.indication, init.outbound, init.inbound);
    return pair;
}

static void end(struct record *record, struct sctp_pair *pair)
{
    pair->side[0].silent = pair->side[1].silent = false;
    sctp_pair_run(pair);
    see_told(record, pair);
    sctp_pair_free(pair);
}

/* Only where both associations are up and for RDMA. */
static bool try_stream(struct sctp_pair *pair, int side, unsigned n, uint16_t sid, struct iwarp_stream_config *config)
{
    struct sctp_pair_side *s = &pair->side[side];

    sctp_pair_drop(pair, side, n);
    config->faults = s->config.faults;
    config->number = n + 1;
    s->ends[n].stream = iwarp_sctp_stream_new(s->association, sid, config, pair->now, NULL);
    return s->ends[n].stream != NULL;
}

static void session(struct sctp_pair *pair, unsigned n, uint16_t sid, uint16_t octets, bool enhanced)
{
    struct iwarp_stream_config config;

    for (int side = SCTP_SIDES - 1; side >= 0; side--) {
        iwarp_sctp_stream_config_default(&config, side == SCTP_ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
        config.private_octets = octets;
        config.enhanced = enhanced || side == SCTP_PASSIVE;
        memset(config.private_data, 0x40 + side, sizeof(config.private_data));
        (void)try_stream(pair, side, n, sid, &config);
    }
    sctp_pair_run(pair);
}

/* --- The course -------------------------------------------------------------------------------------------------- */

static uint8_t octets[70000], buffers[4][4096];

static void traffic(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = begin(record, defects, profile);

    for (int round = 0; round < 2; round++) {
        session(pair, 0, SID, 508, true);
        session(pair, 1, SID + 1, 300, false);
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
        say(record, "next sid %d\n", iwarp_association_free_sid(pair->side[record->device].association));
    }
    end(record, pair);
}

/* The wrap, in the order of sending and out of it; and a message twice. */
static void order(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = begin(record, defects, profile);
    struct iwarp_send send = {.id = 1, .octets = octets, .count = 8};
    struct sctp_session *peer = NULL;
    int device = record->device;

    session(pair, 0, SID, 0, true);
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
    say(record, "held %zu domain %d\n", iwarp_association_counters(pair->side[device].association)->held_octets_max,
        iwarp_stream_set_pd(pair->side[device].ends[0].stream, 2, NULL));
    end(record, pair);
}

/* Requests: some wait, one too many; one that is decided on late, one that is refused; Private Data beyond the limit. */
static void requests(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = begin(record, defects, profile);
    struct iwarp_stream_config config;

    for (unsigned n = 0; n < 4; n++) {
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.peer_to_peer = n == 1;
        config.rtr = IWARP_RTR_SEND;
        (void)try_stream(pair, SCTP_ACTIVE, n, (uint16_t)n, &config);
    }
    sctp_pair_run(pair);
    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.accept = IWARP_ACCEPT_ASK;
    (void)try_stream(pair, SCTP_PASSIVE, 0, 0, &config);
    sctp_pair_run(pair);
    say(record, "decide\n");
    (void)iwarp_stream_reject(pair->side[SCTP_PASSIVE].ends[0].stream, octets, 20, pair->now, NULL);
    sctp_pair_run(pair);
    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.rtr = IWARP_RTR_WRITE;
    (void)try_stream(pair, SCTP_PASSIVE, 1, 1, &config);
    end(record, pair);
}

/* A Terminate and an Initiate that must wait, and segments that must: nothing is acknowledged. */
static void patience(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = begin(record, defects, profile);
    struct iwarp_write write = {.octets = octets, .count = 4, .stag = 1};
    struct iwarp_stream_config config;
    int device = record->device;

    pair->side[1 - device].silent = true;
    session(pair, 0, SID, 0, true);
    iwarp_stream_disconnect(pair->side[device].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    say(record, "waits\n");
    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    (void)try_stream(pair, SCTP_ACTIVE, 1, SID + 1, &config);
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[1].stream, &write, NULL);
    sctp_pair_run(pair);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[1].stream, pair->now);
    sctp_pair_feed_control(pair, SCTP_ACTIVE, SID + 1, 0, DDP_SCTP_TERMINATE, 0);
    sctp_pair_run(pair);
    (void)iwarp_association_output(pair->side[SCTP_ACTIVE].association, &(struct iwarp_sctp_output){0});
    if (try_stream(pair, SCTP_ACTIVE, 2, SID + 1, &config))
        say(record, "used again\n");
    end(record, pair);
}

/* Messages that fit no pattern, to a session that is open and to one that has been asked for. */
static void patterns(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
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
        struct sctp_pair *pair = begin(record, defects, profile);
        uint16_t sid = controls[i].asked ? SID + 5 : SID, ssn = controls[i].asked ? 0 : 1;
        struct iwarp_stream_config config;

        session(pair, 0, SID, 0, true);
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.enhanced = controls[i].enhanced;
        if (controls[i].asked)
            (void)try_stream(pair, record->device, 1, sid, &config);
        sctp_pair_run(pair);
        if (controls[i].code == 0)
            sctp_pair_feed_send(pair, record->device, sid, ssn, 1, 5);
        else
            sctp_pair_feed_control(pair, record->device, sid, ssn, controls[i].code, controls[i].octets);
        (void)iwarp_stream_post_receive(pair->side[record->device].ends[0].stream, 1, buffers[0], 64, NULL);
        sctp_pair_feed_send(pair, record->device, sid, (uint16_t)(ssn + 1), 1, 6);
        sctp_pair_feed(pair, record->device, sid, 0, octets, 20);
        end(record, pair);
    }
}

/* Chunks of no kind, of a part of a header, and before their turn; and streams of two Protection Domains. */
static void chunks(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    static const uint8_t write[16] = {0, 1, 0xC1, 0x40};
    static const struct {
        uint32_t ppid;
        size_t count;
    } foreign[] = {{0x12345678, sizeof(write)}, {DDP_SCTP_PPID_SEGMENT, 1}};

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        struct sctp_pair *pair = begin(record, defects, profile);
        struct iwarp_stream_config config;
        int device = record->device;

        session(pair, 0, SID, 0, true);
        sctp_pair_feed(pair, device, SID, foreign[i].ppid, write, foreign[i].count);
        sctp_pair_feed_send(pair, device, SID, 1, 1, 5);
        sctp_pair_run(pair);
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.enhanced = false;
        config.pd = 5;
        if (try_stream(pair, device, 1, SID + 5, &config)) {
            say(record, "domain %u\n", pair->side[device].ends[1].stream->config.pd);
            (void)iwarp_stream_post_receive(pair->side[device].ends[1].stream, 1, buffers[0], 64, NULL);
            sctp_pair_run(pair);
            sctp_pair_feed_send(pair, device, SID + 5, 1, 1, 5);
            sctp_pair_feed_control(pair, device, SID + 5, 0, DDP_SCTP_ACCEPT, 0);
        }
        end(record, pair);
    }
}

/* A DDP error, then what must have no effect, and a new beginning; then the end of the association. */
static void errors(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    static const uint8_t control[8] = {0, 0, 0, 2};
    struct iwarp_write write = {.octets = octets, .count = 4, .stag = 0x666};
    struct sctp_pair *pair = begin(record, defects, profile);
    int device = record->device;

    for (unsigned n = 0; n < 3; n++)
        session(pair, n, (uint16_t)(SID + n), 0, true);
    (void)iwarp_stream_post_write(pair->side[1 - device].ends[0].stream, &write, NULL);
    sctp_pair_run(pair);
    if (profile == DDP_SCTP_DRAFT02) {
        session(pair, 0, SID, 0, true);
        sctp_pair_feed(pair, device, SID + 1, DDP_SCTP_PPID_DRAFT_CONTROL, control, 4);
        /* An aborted stream that has one of the ULP's again, and no Stream Reset. */
        (void)iwarp_stream_post_write(pair->side[1 - device].ends[2].stream, &write, NULL);
        sctp_pair_run(pair);
        (void)sctp_pair_step(pair);
        if (pair->side[device].ends[2].stream != NULL) {
            struct iwarp_stream_config config;

            iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
            if (try_stream(pair, device, 2, SID + 2, &config)) {
                (void)iwarp_stream_post_receive(pair->side[device].ends[2].stream, 1, buffers[0], 64, NULL);
                sctp_pair_feed_send(pair, device, SID + 2, 1, 1, 7);
            }
        }
    } else {
        sctp_pair_feed_control(pair, device, SID + 1, 1, 9, 0);
    }
    sctp_pair_run(pair);
    see_told(record, pair);
    for (unsigned n = 0; n < 3; n++)
        session(pair, n, (uint16_t)(SID + 6 + n), 0, true);
    iwarp_association_abort(pair->side[device].association, pair->now);
    end(record, pair);
}

/* A peer that indicates something else, or nothing. */
static void modes(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
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
        say(record, "mode %d wants %d\n", (int)side->events[0].mode, (int)iwarp_association_wants(side->association));
        sctp_pair_free(pair);
    }
}

/* An endpoint whose ULP wants no DDP (7.1). */
static void without_ddp(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_pair_new(profile);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
    struct iwarp_sctp_init init;

    side->config.faults = defect_set_faults(defects);
    side->config.indicate = false;
    side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
    iwarp_association_init(side->association, &init);
    say(record, "without %d %x %zu\n", init.has_indication, init.indication, sctp_pair_leaving(defects));
    sctp_pair_free(pair);
}

/* The path becomes narrower while a segment waits that SCTP has not taken. */
static void narrower(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = begin(record, defects, profile);
    struct sctp_pair_side *side = &pair->side[record->device];

    session(pair, 0, SID, 0, true);
    (void)iwarp_stream_post_write(side->ends[0].stream, &(struct iwarp_write){.octets = octets, .count = 1200}, NULL);
    (void)iwarp_association_output(side->association, &(struct iwarp_sctp_output){0});
    iwarp_association_set_mtu(side->association, 700);
    end(record, pair);
}

/* More than may be sent without acknowledgement. */
static void window(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile)
{
    struct sctp_pair *pair = begin(record, defects, profile);
    struct iwarp_write write = {.octets = octets, .count = 1, .stag = 1};

    pair->look = NULL;
    session(pair, 0, SID, 0, true);
    for (unsigned i = 0; i < WINDOW; i++)
        (void)iwarp_stream_post_write(pair->side[record->device].ends[0].stream, &write, NULL);
    while (iwarp_association_output(pair->side[record->device].association, &(struct iwarp_sctp_output){0}))
        iwarp_association_output_done(pair->side[record->device].association, 1);
    say(record, "outstanding %u\n",
        iwarp_association_counters(pair->side[record->device].association)->outstanding_most);
    sctp_pair_free(pair);
}

static void run_course(struct record *record, const struct defect_set *defects, enum ddp_sctp_profile profile,
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
    if (with_window)
        window(record, defects, profile);
}

static bool differs(const struct defect_set *defects, bool with_window)
{
    static const enum ddp_sctp_profile profiles[] = {DDP_SCTP_RFC5043, DDP_SCTP_DRAFT02};

    for (int i = 0; i < 4; i++) {
        run_course(&correct, NULL, profiles[i / 2], i % 2, with_window);
        run_course(&faulty, defects, profiles[i / 2], i % 2, with_window);
        if (correct.count != faulty.count || memcmp(correct.text, faulty.text, correct.count) != 0)
            return true;
    }
    return false;
}

START_TEST(correct_stack_is_the_same_each_time)
{
    struct sentence sentence = {""};
    struct defect_list *list = defect_list_embedded(&sentence);
    struct defect_set *none = defect_set_new(list, NULL, 0, &sentence);

    ck_assert(!differs(NULL, true));
    /* Nor does it make a difference that faults are asked for at all, when there are none. */
    ck_assert(!differs(none, false));
    defect_set_free(none);
    defect_list_free(list);
}
END_TEST

START_TEST(each_defect_shows)
{
    struct sentence sentence = {""};
    struct defect_list *list = defect_list_embedded(&sentence);
    unsigned hidden = 0, rows = 0;

    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *defect = defect_list_at(list, i);
        struct defect_set *set;

        ck_assert_int_eq(defect_acts_over_sctp(defect), strncmp(defect->id, "sctp-", 5) == 0);
        if (!defect_acts_over_sctp(defect))
            continue;
        set = defect_set_new(list, &defect->id, 1, &sentence);
        ck_assert_msg(set != NULL, "%s", sentence.text);
        if (!differs(set, strcmp(defect->target, "sctp-outstanding-unlimited") == 0)) {
            fprintf(stderr, "%s does not show\n", defect->id);
            hidden++;
        }
        rows++;
        defect_set_free(set);
    }
    ck_assert_uint_eq(hidden, 0);
    ck_assert_uint_gt(rows, 60);
    defect_list_free(list);
}
END_TEST

Suite *sctp_defects_suite(void)
{
    Suite *suite = suite_create("sctp_defects");
    TCase *tcase = tcase_create("defects");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, correct_stack_is_the_same_each_time);
    tcase_add_test(tcase, each_defect_shows);
    suite_add_tcase(suite, tcase);
    return suite;
}
