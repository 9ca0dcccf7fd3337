/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages, sessions and streams after one another, each other than the one before. */
#include <check.h>
#include <string.h>

#include "iwarp/stream.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/defects/peer_faults.h"
#include "reference-stack/sctp/sctp.h"
#include "tests/unit/sctp_course.h"

enum { SID = 3, BUFFER = 64 };

static uint8_t octets[2000], buffers[4][BUFFER];

static struct iwarp_stream *stream_of(struct sctp_pair *pair, int side, unsigned n)
{
    return pair->side[side].ends[n].stream;
}

static void both_end(struct sctp_pair *pair, unsigned n)
{
    for (int side = 0; side < SCTP_SIDES; side++) {
        if (stream_of(pair, side, n) != NULL)
            iwarp_stream_disconnect(stream_of(pair, side, n), pair->now);
        sctp_pair_run(pair);
    }
}

/* Of no octets, or to an STag that there is not. */
static void write_one(struct sctp_pair *pair, int side, unsigned n, bool good)
{
    struct iwarp_write write = {.octets = octets, .count = good ? 0 : 4, .stag = 0x666};

    if (stream_of(pair, side, n) != NULL)
        (void)iwarp_stream_post_write(stream_of(pair, side, n), &write, NULL);
}

static void receive_one(struct sctp_pair *pair, int side, unsigned n)
{
    if (stream_of(pair, side, n) != NULL)
        (void)iwarp_stream_post_receive(stream_of(pair, side, n), 1, buffers[n], BUFFER, NULL);
}

/* Private Data and depths of sessions, each less than the one before. */
static void less(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    static const uint16_t counts[] = {300, 20, 0}, depths[] = {8, 3, 1};
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    int device = record->device;

    for (unsigned n = 0; n < 3; n++)
        sctp_course_session(pair, n, (uint16_t)(SID + n), counts[n], false);
    for (unsigned n = 3; n < 6; n++) {
        struct iwarp_stream_config config;

        for (int side = SCTP_SIDES - 1; side >= 0; side--) {
            iwarp_sctp_stream_config_default(&config, side == SCTP_ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
            config.ird = side == device ? 20 : depths[n - 3];
            config.ord = side == device ? 20 : (uint16_t)(depths[n - 3] + 2);
            (void)sctp_course_stream(pair, side, n, (uint16_t)(SID + n), &config);
        }
        sctp_pair_run(pair);
        if (stream_of(pair, device, n) != NULL)
            sctp_say(record, "depths %u %u told %zu\n", iwarp_stream_ird(stream_of(pair, device, n)),
                     iwarp_stream_ord(stream_of(pair, device, n)), iwarp_stream_mulpdu(stream_of(pair, device, n)));
    }
    sctp_course_end(record, pair);
}

/* A session, and another one on the SID, with another Protection Domain; a message of the first one is early. */
static void again(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_send send = {.id = 1, .octets = octets, .count = 9};
    int device = record->device;

    for (uint32_t round = 0; round < 2; round++) {
        struct iwarp_stream_config config;

        for (int side = SCTP_SIDES - 1; side >= 0; side--) {
            iwarp_sctp_stream_config_default(&config, side == SCTP_ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
            config.pd = round + 1;
            config.enhanced = side == SCTP_PASSIVE;
            (void)sctp_course_stream(pair, side, 0, SID, &config);
        }
        sctp_pair_run(pair);
        if (stream_of(pair, device, 0) == NULL)
            break;
        sctp_say(record, "domain %u\n", stream_of(pair, device, 0)->config.pd);
        receive_one(pair, 1 - device, 0);
        (void)iwarp_stream_post_send(stream_of(pair, device, 0), &send, NULL);
        sctp_pair_run(pair);
        for (unsigned i = 0; i < 4; i++)
            receive_one(pair, device, 0);
        if (round == 0)
            sctp_pair_feed_send(pair, device, SID, 4, 1, 7);
        for (uint16_t ssn = 1; ssn < 4 && round == 1; ssn++)
            sctp_pair_feed_send(pair, device, SID, ssn, ssn, 5);
        sctp_say(record, "held %zu\n", iwarp_association_counters(pair->side[device].association)->held_octets);
        both_end(pair, 0);
    }
    sctp_course_end(record, pair);
}

/* Requests that are rejected, and that were one too many; then others on the same SIDs. */
static void refused(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_stream_config config;

    for (int round = 0; round < 3; round++) {
        for (unsigned n = 0; n < 4; n++) {
            iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
            config.enhanced = round == 1;
            (void)sctp_course_stream(pair, SCTP_ACTIVE, n, (uint16_t)n, &config);
            sctp_pair_run(pair);
        }
        iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
        config.accept = IWARP_ACCEPT_ASK;
        for (unsigned n = 0; n < 4; n++) {
            if (sctp_course_stream(pair, SCTP_PASSIVE, n, (uint16_t)n, &config))
                (void)iwarp_stream_reject(stream_of(pair, SCTP_PASSIVE, n), octets, 5, pair->now, NULL);
            sctp_pair_run(pair);
        }
        sctp_course_reported(record, pair);
    }
    sctp_course_end(record, pair);
}

/* Two requests of the active side; the second one is answered first. And a Terminate before its turn. */
static void crossed(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct iwarp_stream_config config;
    int device = record->device;

    for (unsigned n = 0; n < 2 && device == SCTP_ACTIVE; n++) {
        iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
        config.enhanced = false;
        (void)sctp_course_stream(pair, SCTP_ACTIVE, n, (uint16_t)(SID + n), &config);
        sctp_pair_run(pair);
    }
    for (uint16_t n = 2; n-- > 0 && device == SCTP_ACTIVE;) {
        sctp_pair_feed_control(pair, SCTP_ACTIVE, SID + n, 0, n == 0 ? DDP_SCTP_REJECT : DDP_SCTP_ACCEPT, 0);
        sctp_course_reported(record, pair);
    }
    sctp_course_session(pair, 2, SID + 5, 0, false);
    receive_one(pair, device, 2);
    sctp_pair_feed_control(pair, device, SID + 5, 2, DDP_SCTP_TERMINATE, 0);
    sctp_pair_feed_send(pair, device, SID + 5, 1, 1, 7);
    sctp_course_end(record, pair);
}

/* A SID's messages beyond one octet of DDP-SSNs; the last segment of a Send when the path becomes narrower. */
static void many(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    struct sctp_pair_side *side = &pair->side[record->device];
    struct iwarp_send send = {.id = 1, .octets = octets, .count = 1200};

    sctp_course_session(pair, 0, SID, 0, true);
    for (int i = 0; i < 260; i++) {
        write_one(pair, record->device, 0, true);
        sctp_pair_run(pair);
    }
    if (side->ends[0].stream != NULL)
        (void)iwarp_stream_post_send(side->ends[0].stream, &send, NULL);
    (void)iwarp_association_output(side->association, &(struct iwarp_sctp_output){0});
    iwarp_association_set_mtu(side->association, 700);
    sctp_course_end(record, pair);
}

/*
 * The draft: three streams of which one is aborted, with a message before its turn, and begins again; then a fourth
 * one.
 */
static void aborted(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    static const uint8_t reset[] = {0, 0, 0, 1};
    struct sctp_pair *pair = sctp_course_begin(record, defects, profile);
    int device = record->device;

    for (unsigned n = 0; n < 3; n++) {
        sctp_course_session(pair, n, (uint16_t)(SID + n), 0, true);
        write_one(pair, device, n, true);
        write_one(pair, 1 - device, n, true);
        sctp_pair_run(pair);
    }
    sctp_pair_feed_send(pair, device, SID, 4, 1, 7);
    write_one(pair, 1 - device, 0, false);
    sctp_pair_run(pair);
    sctp_course_session(pair, 3, SID + 3, 0, true);
    sctp_pair_feed(pair, device, SID, DDP_SCTP_PPID_DRAFT_CONTROL, reset, sizeof(reset));
    sctp_pair_run(pair);
    sctp_course_session(pair, 0, SID, 0, true);
    for (unsigned i = 0; i < 4; i++)
        receive_one(pair, device, 0);
    for (uint16_t ssn = 1; ssn < 4; ssn++)
        sctp_pair_feed_send(pair, device, SID, ssn, ssn, 5);
    for (unsigned n = 1; n < 4; n++) {
        write_one(pair, device, n, true);
        sctp_pair_run(pair);
    }
    sctp_say(record, "held %zu\n", iwarp_association_counters(pair->side[device].association)->held_octets);
    sctp_course_end(record, pair);
}

/* A peer whose numbers of streams differ; and what is reported to SCTP itself. */
static void unequal(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    struct iwarp_sctp_init peer = {true, profile == IWARP_SCTP_DRAFT02 ? DDP_SCTP_INDICATION_DDP_RDMA : 1, 64, 2};
    struct sctp_pair *pair = sctp_pair_new(profile);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
    struct iwarp_association_config config = side->config;
    struct sctp_settings settings = {0};

    side->config.faults = defect_set_faults(defects);
    side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
    iwarp_association_up(side->association, &peer, 1);
    sctp_say(record, "pairs %u\n", side->association->streams);
    sctp_pair_free(pair);
    if (defects != NULL)
        hook_sctp_config(defects, &config, &settings);
    sctp_say(record, "chunks of %u\n", settings.chunk_max);
}

void sctp_course_state(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile)
{
    less(record, defects, profile);
    again(record, defects, profile);
    refused(record, defects, profile);
    crossed(record, defects, profile);
    many(record, defects, profile);
    unequal(record, defects, profile);
    if (profile == IWARP_SCTP_DRAFT02)
        aborted(record, defects, profile);
}
