/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sctp_pair.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer.h"
#include "wire/ddp.h"
#include "base/octets.h"
#include "wire/rdmap.h"
#include "wire/sctp.h"
#include "wire/ddp_sctp.h"

struct sctp_pair *sctp_pair_new(enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = calloc(1, sizeof(*pair));

    ck_assert_ptr_nonnull(pair);
    for (int side = 0; side < SCTP_SIDES; side++) {
        struct iwarp_device_config device = {.seed = (uint64_t)side + 1};

        pair->side[side].device = iwarp_device_new(&device);
        iwarp_association_config_default(&pair->side[side].config, profile);
    }
    pair->now = 1;
    pair->random = 1;
    return pair;
}

void sctp_pair_open(struct sctp_pair *pair)
{
    struct iwarp_sctp_init init[SCTP_SIDES];
    struct iwarp_sentence sentence = {""};

    for (int side = 0; side < SCTP_SIDES; side++) {
        struct sctp_pair_side *s = &pair->side[side];

        s->association = iwarp_association_new(s->device, &s->config, pair->now, &sentence);
        ck_assert_msg(s->association != NULL, "%s", sentence.text);
        iwarp_association_init(s->association, &init[side]);
    }
    for (int side = 0; side < SCTP_SIDES; side++)
        iwarp_association_up(pair->side[side].association, &init[1 - side], pair->now);
}

void sctp_pair_drop(struct sctp_pair *pair, int side, unsigned n)
{
    struct sctp_end *end = &pair->side[side].ends[n];

    iwarp_stream_free(end->stream);
    memset(end, 0, sizeof(*end));
}

void sctp_pair_free(struct sctp_pair *pair)
{
    for (int side = 0; side < SCTP_SIDES; side++) {
        for (unsigned n = 0; n < SCTP_STREAMS; n++)
            sctp_pair_drop(pair, side, n);
        iwarp_association_free(pair->side[side].association);
        iwarp_device_free(pair->side[side].device);
    }
    free(pair);
}

uint32_t sctp_pair_random(struct sctp_pair *pair, uint32_t below)
{
    pair->random = pair->random * UINT32_C(1664525) + UINT32_C(1013904223);
    return below == 0 ? 0 : (pair->random >> 8) % below;
}

/* --- Events ----------------------------------------------------------------------------------------------------- */

static void poll_end(struct sctp_end *end)
{
    struct iwarp_event event;

    while (iwarp_stream_poll(end->stream, &event)) {
        if (end->event_count < SCTP_EVENTS)
            end->events[end->event_count] = event;
        end->event_count++;
        end->kinds[event.kind]++;
    }
}

static void poll_all(struct sctp_pair_side *side)
{
    struct iwarp_association_event event;

    for (unsigned n = 0; n < SCTP_STREAMS; n++)
        poll_end(&side->ends[n]);
    while (iwarp_association_poll(side->association, &event))
        if (side->event_count < SCTP_EVENTS)
            side->events[side->event_count++] = event;
}

const struct iwarp_event *sctp_pair_event(const struct sctp_pair *pair, int side, unsigned n,
                                          enum iwarp_event_kind kind)
{
    const struct sctp_end *end = &pair->side[side].ends[n];

    for (size_t i = 0; i < end->event_count && i < SCTP_EVENTS; i++)
        if (end->events[i].kind == kind)
            return &end->events[i];
    return NULL;
}

size_t sctp_pair_count(const struct sctp_pair *pair, int side, unsigned n, enum iwarp_event_kind kind)
{
    return pair->side[side].ends[n].kinds[kind];
}

size_t sctp_pair_reported(const struct sctp_pair *pair, int side, enum iwarp_association_event_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < pair->side[side].event_count; i++)
        count += pair->side[side].events[i].kind == kind;
    return count;
}

/* --- The wire ---------------------------------------------------------------------------------------------------- */

/* Takes what the association has to send, as far as the wire has room. */
static void take(struct sctp_pair *pair, int number)
{
    struct sctp_pair_side *side = &pair->side[number];
    struct iwarp_sctp_output output;

    while (!side->hold && side->flight_count < SCTP_FLIGHT &&
           iwarp_association_output(side->association, &output) != 0) {
        struct sctp_letter *letter = &side->flight[side->flight_count++];

        *letter = (struct sctp_letter){
            .sid = output.sid, .ppid = output.ppid, .unordered = output.unordered, .control = output.control};
        for (size_t i = 0; i < output.span_count; i++) {
            ck_assert_uint_le(letter->count + output.spans[i].count, SCTP_LETTER);
            memcpy(letter->octets + letter->count, output.spans[i].octets, output.spans[i].count);
            letter->count += output.spans[i].count;
        }
        ck_assert_uint_eq(letter->count, output.octets);
        side->sent++;
        side->ordered += !output.unordered;
        if (pair->look != NULL)
            pair->look(pair->user, number, letter);
        iwarp_association_output_done(side->association, pair->now);
    }
}

/* The oldest ones that are acknowledged leave the wire, and are reported. */
static void report(struct sctp_pair *pair, struct sctp_pair_side *side)
{
    for (size_t i = 0; i < side->flight_count;) {
        struct sctp_letter *letter = &side->flight[i];
        uint16_t sid = letter->sid;
        bool older = false;

        for (size_t o = 0; o < i; o++)
            older = older || side->flight[o].sid == sid;
        if (!letter->acked || older) {
            i++;
            continue;
        }
        memmove(letter, letter + 1, (side->flight_count - i - 1) * sizeof(*letter));
        side->flight_count--;
        iwarp_association_acked(side->association, sid, 1, pair->now);
        i = 0;
    }
}

bool sctp_pair_step(struct sctp_pair *pair)
{
    int first = (int)sctp_pair_random(pair, SCTP_SIDES);

    for (int i = 0; i < SCTP_SIDES; i++)
        take(pair, i);
    for (int i = 0; i < SCTP_SIDES; i++) {
        struct sctp_pair_side *from = &pair->side[(first + i) % SCTP_SIDES];
        struct sctp_pair_side *to = &pair->side[(first + i + 1) % SCTP_SIDES];
        struct sctp_letter *letter;
        size_t at = 0;

        if (from->flight_count == 0)
            continue;
        if (pair->shuffle)
            at = sctp_pair_random(pair, (uint32_t)from->flight_count);
        while (at < from->flight_count && (from->flight[at].acked || (to->silent && from->flight[at].given)))
            at++;
        if (at == from->flight_count) {
            for (at = 0; at < from->flight_count && (from->flight[at].acked || (to->silent && from->flight[at].given));)
                at++;
            if (at == from->flight_count)
                continue;
        }
        letter = &from->flight[at];
        pair->now += 1000;
        if (sctp_pair_random(pair, 256) < pair->loss)
            return true; /* lost, and sent again at some later step */
        if (!letter->given) {
            struct iwarp_sctp_message message = {letter->sid, letter->ppid, letter->octets, letter->count};

            letter->given = true;
            iwarp_association_input(to->association, &message, pair->now);
            poll_all(to);
        }
        if (!to->silent && sctp_pair_random(pair, 256) >= pair->loss) {
            letter->acked = true;
            report(pair, from);
        }
        poll_all(from);
        return true;
    }
    for (int i = 0; i < SCTP_SIDES; i++)
        poll_all(&pair->side[i]);
    return false;
}

void sctp_pair_run(struct sctp_pair *pair)
{
    while (sctp_pair_step(pair))
        continue;
}

/* --- Streams ----------------------------------------------------------------------------------------------------- */

struct iwarp_stream *sctp_pair_stream(struct sctp_pair *pair, int side, unsigned n, uint16_t sid,
                                      const struct iwarp_stream_config *config)
{
    struct sctp_pair_side *s = &pair->side[side];
    struct iwarp_stream_config own;
    struct iwarp_sentence sentence = {""};

    sctp_pair_drop(pair, side, n);
    iwarp_sctp_stream_config_default(&own, side == SCTP_ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
    own.number = n + 1;
    own.faults = s->config.faults;
    s->ends[n].stream =
        iwarp_sctp_stream_new(s->association, sid, config == NULL ? &own : config, pair->now, &sentence);
    ck_assert_msg(s->ends[n].stream != NULL, "%s", sentence.text);
    return s->ends[n].stream;
}

void sctp_pair_session(struct sctp_pair *pair, unsigned n, uint16_t sid)
{
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, n, sid, NULL);
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, n, sid, NULL);
    sctp_pair_run(pair);
    for (int side = 0; side < SCTP_SIDES; side++)
        ck_assert_uint_eq(sctp_pair_count(pair, side, n, IWARP_EVENT_ESTABLISHED), 1);
}

void sctp_pair_feed(struct sctp_pair *pair, int side, uint16_t sid, uint32_t ppid, const void *octets, size_t count)
{
    uint8_t *copy = malloc(count == 0 ? 1 : count);
    struct iwarp_sctp_message message = {sid, ppid, copy, count};

    ck_assert_ptr_nonnull(copy);
    if (count != 0)
        memcpy(copy, octets, count);
    iwarp_association_input(pair->side[side].association, &message, ++pair->now);
    free(copy);
    poll_all(&pair->side[side]);
}

void sctp_pair_feed_control(struct sctp_pair *pair, int side, uint16_t sid, uint16_t ssn, uint16_t code, size_t octets)
{
    uint8_t message[SCTP_LETTER];

    ck_assert_uint_le(DDP_SCTP_CONTROL_OCTETS + octets, sizeof(message));
    memset(message, 0x5A, sizeof(message));
    octets_put16(message, ssn);
    octets_put16(message + 2, code);
    sctp_pair_feed(pair, side, sid, DDP_SCTP_PPID_CONTROL, message, DDP_SCTP_CONTROL_OCTETS + octets);
}

void sctp_pair_feed_send(struct sctp_pair *pair, int side, uint16_t sid, uint16_t ssn, uint32_t msn, size_t octets)
{
    bool draft = pair->side[side].config.profile == IWARP_SCTP_DRAFT02;
    struct ddp_segment segment = {.last = true,
                                  .control = rdmap_control(IWARP_RDMAP_SEND),
                                  .version = DDP_VERSION,
                                  .qn = DDP_QN_SEND,
                                  .msn = msn};
    uint8_t message[SCTP_LETTER] = {0};
    size_t header;

    octets_put16(message, ssn);
    header = DDP_SCTP_SSN_OCTETS + ddp_pack_header(&segment, message + DDP_SCTP_SSN_OCTETS);
    ck_assert_uint_le(header + octets, sizeof(message));
    memset(message + header, (int)msn, octets);
    sctp_pair_feed(pair, side, sid, draft ? DDP_SCTP_PPID_DRAFT_SEGMENT : DDP_SCTP_PPID_SEGMENT, message,
                   header + octets);
}

size_t sctp_pair_leaving(const struct defect_set *defects)
{
    static const uint8_t types[] = {SCTP_INIT, SCTP_SACK, SCTP_ABORT};
    const struct peer_config peer = {.defects = defects};
    size_t sum = 0;

    for (size_t i = 0; i < sizeof(types); i++) {
        uint8_t packet[128] = {0};

        packet[SCTP_COMMON_OCTETS] = types[i];
        octets_put16(packet + SCTP_COMMON_OCTETS + 2, 20);
        sum += peer_sctp_leaving(&peer, packet, SCTP_COMMON_OCTETS + 20, sizeof(packet));
    }
    return sum;
}
