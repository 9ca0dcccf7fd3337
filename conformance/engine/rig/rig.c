/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/rig.h"

#include <stdlib.h>

#include "conformance/engine/rig/device_keeper.h"

/*
 * The texts give no times for reactions; the catalogue's longest is 15 s. That is right for a round trip of 10 ms and
 * above, where a device sits after a real network or an emulator; a device on the next cable answers in proportion.
 */
enum { MEASURED_EXCHANGES = 3, REACTION_PER_ROUND_TRIP = 1500, FIRST_PAUSE_MILLISECONDS = 20 };
#define SECOND           UINT64_C(1000000000)
#define MILLISECOND      UINT64_C(1000000)
#define REFUSED_MOST     (5 * SECOND) /* a device that refuses so long does not listen */
#define USUAL_ROUND_TRIP (10 * MILLISECOND)
#define REACTION_LEAST   (2 * SECOND)
#define REACTION_MOST    (15 * SECOND)

void rig_attach(struct rig *rig, struct tester *tester)
{
    struct tester **last = &rig->testers;

    while (*last != NULL)
        last = &(*last)->next;
    tester->next = NULL;
    *last = tester;
}

/* The first timer of all testers. */
static uint64_t first_timer(const struct rig *rig)
{
    uint64_t first = LINK_NEVER;

    for (const struct tester *tester = rig->testers; tester != NULL; tester = tester->next) {
        uint64_t timer = tester->ops->deadline(tester);

        first = timer < first ? timer : first;
    }
    return first;
}

int rig_pump(struct rig *rig, uint64_t deadline_ns)
{
    uint64_t timer = first_timer(rig);
    uint64_t until = timer < deadline_ns ? timer : deadline_ns;
    struct link_frame frame;
    int got = link_receive(rig->link, &frame, until);

    if (got < 0) {
        rig->failure = rig->link->error;
        return -1;
    }
    for (struct tester *tester = rig->testers; tester != NULL; tester = tester->next) {
        if (got > 0)
            tester->ops->input(tester, frame.octets, frame.length, frame.time_ns);
        else
            tester->ops->tick(tester, rig_now(rig));
    }
    return got > 0 || (timer <= deadline_ns && timer != LINK_NEVER) ? 1 : 0;
}

int rig_pass(struct rig *rig, uint64_t nanoseconds)
{
    uint64_t deadline = rig_now(rig) + nanoseconds;

    while (rig_now(rig) < deadline)
        if (rig_pump(rig, deadline) < 0)
            return -1;
    return 0;
}

int rig_ask(struct rig *rig, struct tester_exchange *exchange, struct iwarp_sentence *error)
{
    struct tester *tester = rig->measures != NULL ? rig->measures : rig->testers;

    for (;;) {
        *exchange = (struct tester_exchange){0};
        device_keeper_before(rig);
        if (tester->ops->measure(tester, rig, exchange, error) == 0) {
            device_keeper_accepted(rig, false);
            return 0;
        }
        if (!device_keeper_refused(rig, error->text))
            break;
    }
    if (rig->keeper != NULL && rig->keeper->lost.text[0] != '\0')
        (void)iwarp_sentence_set(error, "%s", rig->keeper->lost.text);
    return -1;
}

/*
 * The first exchange. A device may be up before its listener: if it refuses, it is tried again after longer and longer
 * pauses, and given up when it has refused for REFUSED_MOST.
 */
static int measure_first(struct rig *rig, struct tester_exchange *exchange, struct iwarp_sentence *error)
{
    uint64_t limit = rig_now(rig) + REFUSED_MOST, pause = FIRST_PAUSE_MILLISECONDS * MILLISECOND;
    unsigned attempts = 0;

    for (;;) {
        struct iwarp_sentence why;

        attempts++;
        if (rig_ask(rig, exchange, &why) == 0)
            return 0;
        if (!exchange->refused || rig_now(rig) + pause > limit || device_keeper_waits(rig) ||
            device_keeper_starts_initiator(rig))
            return iwarp_sentence_set(error, attempts > 1 ? "%.400s (tried %u times)" : "%.400s", why.text, attempts);
        if (rig_pass(rig, pause) != 0)
            return iwarp_sentence_set(error, "%s", rig->failure.text);
        pause *= 2;
    }
}

static void set_limits(struct rig *rig, uint64_t round_trip)
{
    rig->round_trip_ns = round_trip;
    rig->reaction_ns = round_trip * REACTION_PER_ROUND_TRIP;
    if (rig->reaction_ns < REACTION_LEAST)
        rig->reaction_ns = REACTION_LEAST;
    if (rig->reaction_ns > REACTION_MOST)
        rig->reaction_ns = REACTION_MOST;
    if (rig->reaction_ns < rig->reaction_least_ns)
        rig->reaction_ns = rig->reaction_least_ns;
    rig->quiet_ns = rig->reaction_ns / 8;
    if (rig->reaction_ns < rig->patience_ns)
        rig->reaction_ns = rig->patience_ns;
}

/* The longest of the latest exchanges that is no exception. */
static uint64_t usual_longest(const struct rig *rig)
{
    size_t noted = rig->recent_next < RIG_RECENT ? rig->recent_next : RIG_RECENT;
    size_t exceptions = noted / RIG_PER_EXCEPTION;
    uint64_t longest[RIG_RECENT / RIG_PER_EXCEPTION + 1] = {0}; /* in falling order */

    for (size_t i = 0; i < noted; i++) {
        uint64_t round_trip = rig->recent_ns[i];

        for (size_t place = 0; place <= exceptions; place++) {
            uint64_t less = longest[place];

            if (round_trip <= less)
                continue;
            longest[place] = round_trip;
            round_trip = less;
        }
    }
    return longest[exceptions];
}

void rig_note_round_trip(struct rig *rig, uint64_t round_trip)
{
    if (rig->simulated || round_trip == 0)
        return;
    rig->recent_ns[rig->recent_next++ % RIG_RECENT] = round_trip;
    set_limits(rig, usual_longest(rig));
}

/*
 * A device that only opens connections refuses ours: then its refusal is the exchange, and silence is a firewall's.
 * True: the round trip is known by that, or taken for the usual one of a network.
 */
static bool measure_refusal(struct rig *rig)
{
    uint64_t longest = 0;

    if (!device_keeper_starts_initiator(rig))
        return false;
    for (int i = 0; i < MEASURED_EXCHANGES; i++) {
        uint64_t begun = rig_now(rig), took;
        struct tester_exchange exchange;
        struct iwarp_sentence ignored;

        (void)rig_ask(rig, &exchange, &ignored);
        took = rig_now(rig) - begun;
        if (!exchange.refused) {
            longest = USUAL_ROUND_TRIP;
            break;
        }
        longest = took > longest ? took : longest;
        rig->only_opens = true;
    }
    set_limits(rig, longest);
    rig_note_round_trip(rig, longest);
    return true;
}

/*
 * A device that is too busy to accept() before the tester's RST may stop listening (tester_tcp.c). What has been
 * measured until then counts, and the upper tester makes the device listen again.
 */
static int listen_anew(struct rig *rig, const struct tester_exchange *exchange, struct iwarp_sentence *error)
{
    return exchange->refused && rig->upper_tester && rig->ops->reset != NULL ? rig->ops->reset(rig, error) : -1;
}

int rig_measure(struct rig *rig, struct iwarp_sentence *error)
{
    uint64_t longest = 0;

    for (int i = 0; i < MEASURED_EXCHANGES; i++) {
        struct tester_exchange exchange;

        if ((i == 0 ? measure_first(rig, &exchange, error) : rig_ask(rig, &exchange, error)) != 0) {
            if (i == 0)
                return measure_refusal(rig) ? 0 : -1;
            if (listen_anew(rig, &exchange, error) != 0)
                return -1;
            break;
        }
        longest = exchange.round_trip_ns > longest ? exchange.round_trip_ns : longest;
        if (device_keeper_one(rig))
            break;
    }
    set_limits(rig, longest);
    rig_note_round_trip(rig, longest);
    return 0;
}

void rig_free(struct rig *rig)
{
    if (rig != NULL)
        rig->ops->free(rig);
}
