/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/cm_pair.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"

static const uint8_t addresses[2][4] = {{192, 0, 2, 2}, {192, 0, 2, 1}};

void cm_pair_prepare(struct cm_pair *pair, uint64_t seed)
{
    static const struct cm_address own = {4, {192, 0, 2, 2}};

    memset(pair, 0, sizeof(*pair));
    pair->noise = seed;
    pair->delay_ns = 1000000;
    for (unsigned i = 0; i < 2; i++) {
        cm_agent_config_default(&pair->config[i]);
        pair->config[i].seed = seed * 2 + i;
        pair->place[i] = (struct cm_place){.family = 4, .port = (uint16_t)(4791 + i)};
        memcpy(pair->place[i].address, addresses[i], 4);
    }
    pair->config[0].own = &own;
    pair->config[0].own_count = 1;
}

void cm_pair_begin(struct cm_pair *pair)
{
    pair->flight = calloc(CM_PAIR_FLIGHTS, sizeof(*pair->flight));
    ck_assert_ptr_nonnull(pair->flight);
    for (unsigned i = 0; i < 2; i++) {
        struct iwarp_sentence why = {""};

        pair->agent[i] = cm_agent_new(&pair->config[i], &why);
        ck_assert_msg(pair->agent[i] != NULL, "%s", why.text);
    }
}

void cm_pair_end(struct cm_pair *pair)
{
    cm_agent_free(pair->agent[0]);
    cm_agent_free(pair->agent[1]);
    free(pair->flight);
    memset(pair, 0, sizeof(*pair));
}

struct cm_listener cm_pair_listener(uint16_t port, enum cm_answer answer)
{
    return (struct cm_listener){.protocol = 6, .port = port, .answer = answer};
}

void cm_pair_listen(struct cm_pair *pair, const struct cm_listener *listener)
{
    struct iwarp_sentence why = {""};

    ck_assert_msg(cm_agent_listen(pair->agent[0], listener, &why) == 0, "%s", why.text);
}

uint32_t cm_pair_connect(struct cm_pair *pair, uint16_t port, const void *data, size_t octets)
{
    struct cm_connect connect = {.to = pair->place[0],
                                 .from = {.family = 4},
                                 .tuple = {.protocol = 6, .source_port = 49153, .destination_port = port},
                                 .data = data,
                                 .octets = octets};
    struct iwarp_sentence why = {""};
    uint32_t id = 0;

    memcpy(connect.from.octets, addresses[1], 4);
    connect.tuple.source = connect.from;
    connect.tuple.destination.family = 4;
    memcpy(connect.tuple.destination.octets, addresses[0], 4);
    ck_assert_msg(cm_agent_connect(pair->agent[1], &connect, pair->now, &id, &why) == 0, "%s", why.text);
    ck_assert_uint_ne(id, 0);
    return id;
}

/*
 * --- The wire ------------------------------------------------------------------------------------------------------
 */

static void put_on_wire(struct cm_pair *pair, unsigned to, const uint8_t mad[MAD_OCTETS])
{
    unsigned copies = noise(&pair->noise) % 100 < pair->doubled ? 2 : 1;

    if (noise(&pair->noise) % 100 < pair->lost)
        return;
    for (unsigned i = 0; i < copies; i++) {
        struct cm_flight *flight = &pair->flight[pair->flights++];

        ck_assert_uint_le(pair->flights, CM_PAIR_FLIGHTS);
        flight->when = pair->now + pair->delay_ns + (pair->jitter_ns == 0 ? 0 : noise(&pair->noise) % pair->jitter_ns);
        flight->to = to;
        memcpy(flight->mad, mad, MAD_OCTETS);
    }
}

static void drain(struct cm_pair *pair)
{
    struct cm_output output;

    for (unsigned i = 0; i < 2; i++) {
        struct cm_event event;

        while (cm_agent_poll(pair->agent[i], &event)) {
            EXPECT(pair->events[i] < CM_PAIR_EVENTS, "more than %d events", CM_PAIR_EVENTS);
            pair->event[i][pair->events[i]++] = event;
            if (i == 0 && event.kind == CM_EVENT_REQUEST && pair->decide != NULL)
                pair->decide(pair, &event);
        }
        while (cm_agent_output(pair->agent[i], &output)) {
            EXPECT(output.to.family == pair->place[1 - i].family && output.to.port == pair->place[1 - i].port &&
                       memcmp(output.to.address, pair->place[1 - i].address, sizeof(output.to.address)) == 0,
                   "to another place");
            memcpy(pair->last[i], output.mad, MAD_OCTETS);
            pair->sent[i]++;
            put_on_wire(pair, 1 - i, output.mad);
        }
    }
}

void cm_pair_run(struct cm_pair *pair, uint64_t until)
{
    for (;;) {
        size_t first = 0;
        uint64_t next, due;

        drain(pair);
        for (size_t i = 1; i < pair->flights; i++)
            if (pair->flight[i].when < pair->flight[first].when)
                first = i;
        next = pair->flights == 0 ? UINT64_MAX : pair->flight[first].when;
        due = cm_agent_deadline(pair->agent[0]);
        if (cm_agent_deadline(pair->agent[1]) < due)
            due = cm_agent_deadline(pair->agent[1]);
        if (next > until && due > until)
            break;
        if (next <= due) {
            struct cm_flight flight = pair->flight[first];

            pair->flight[first] = pair->flight[--pair->flights];
            pair->now = next;
            cm_agent_input(pair->agent[flight.to], &pair->place[1 - flight.to], flight.mad, MAD_OCTETS, pair->now);
        } else {
            pair->now = due;
            cm_agent_tick(pair->agent[0], pair->now);
            cm_agent_tick(pair->agent[1], pair->now);
        }
    }
    pair->now = until;
}

size_t cm_pair_count(const struct cm_pair *pair, unsigned side, enum cm_event_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < pair->events[side]; i++)
        count += pair->event[side][i].kind == kind;
    return count;
}

const struct cm_event *cm_pair_event(const struct cm_pair *pair, unsigned side, enum cm_event_kind kind)
{
    ck_assert_uint_eq(cm_pair_count(pair, side, kind), 1);
    for (size_t i = 0; i < pair->events[side]; i++)
        if (pair->event[side][i].kind == kind)
            return &pair->event[side][i];
    return NULL;
}

bool cm_pair_ask(struct cm_pair *pair, const uint8_t mad[MAD_OCTETS], uint8_t answer[MAD_OCTETS])
{
    uint8_t *placed = guard_place(mad, MAD_OCTETS);
    struct cm_output output;
    bool answered = false;

    memset(answer, 0, MAD_OCTETS);
    cm_agent_input(pair->agent[0], &pair->place[1], placed, MAD_OCTETS, ++pair->now);
    guard_free(placed, MAD_OCTETS);
    while (cm_agent_output(pair->agent[0], &output)) {
        memcpy(answer, output.mad, MAD_OCTETS);
        answered = true;
    }
    return answered;
}
