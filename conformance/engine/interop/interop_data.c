/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations and sizes. */
#include <string.h>

#include "conformance/engine/interop/interop_tests.h"

enum {
    SMALL = 100,
    ROOM = 160, /* of a region of which SMALL octets are written */
    LARGE = 1 << 20,
    LONGEST = 65537, /* of the sizes below */
    IMMEDIATE_OPCODE = 8,
    BURST_SENDS = 16,
    BURST_READS = 8,
    BURST_OCTETS = 4096,
};

/* ---- Send -------------------------------------------------------------------------------------------------------- */

/* What the receiver reports. A member that its device does not report is not judged. */
static int received(struct interop_exchange *x, enum interop_side to, json_int_t octets, bool solicited,
                    json_int_t invalidated)
{
    static const char expected[] = "the message as it was sent";
    json_t *event = NULL;
    const json_t *flag, *stag;
    const char *data;
    json_int_t got;
    int rc = 0;

    if (interop_await(x, to, "receive", &event) != 0)
        return -1;
    got = json_integer_value(json_object_get(event, "octets"));
    data = json_string_value(json_object_get(event, "data"));
    flag = json_object_get(event, "solicited");
    stag = json_object_get(event, "invalidated");
    if (got != octets)
        rc = interop_fail(x, expected, "%s receives %lld octets in place of %lld", interop_name(x, to), (long long)got,
                          (long long)octets);
    else if (data != NULL && !interop_is_pattern(data, octets))
        rc = interop_fail(x, expected, "%s receives %lld other octets", interop_name(x, to), (long long)octets);
    else if (json_is_false(json_object_get(event, "guarded")))
        rc = interop_fail(x, expected, "octets around the receive of %s have changed", interop_name(x, to));
    else if (json_is_boolean(flag) && json_is_true(flag) != solicited)
        rc = interop_fail(x, expected, "%s is told %s Solicited Event", interop_name(x, to), solicited ? "no" : "a");
    else if (json_is_integer(stag) && json_integer_value(stag) != invalidated)
        rc =
            interop_fail(x, expected, "%s is told that STag 0x%llx is invalid, in place of 0x%llx", interop_name(x, to),
                         (unsigned long long)json_integer_value(stag), (unsigned long long)invalidated);
    json_decref(event);
    return rc;
}

static int send_kind(struct interop_exchange *x, enum interop_side from, json_int_t octets, bool solicited,
                     json_int_t invalidates)
{
    json_t *request = upper_side_work(&x->side[from]->upper, "send");

    (void)json_object_set_new(request, "length", json_integer(octets));
    if (solicited)
        (void)json_object_set_new(request, "solicited", json_true());
    if (invalidates != 0)
        (void)json_object_set_new(request, "invalidate", json_integer(invalidates));
    return interop_ask(x, from, request, NULL) != 0 || received(x, 1 - from, octets, solicited, invalidates) != 0 ||
                   interop_await(x, from, "send_done", NULL) != 0
               ? -1
               : 0;
}

int interop_send(struct interop_exchange *x, enum interop_side from, json_int_t octets)
{
    return send_kind(x, from, octets, false, 0);
}

int interop_send_both(struct interop_exchange *x, json_int_t octets)
{
    return interop_send(x, INITIATOR, octets) != 0 ? -1 : interop_send(x, RESPONDER, octets);
}

int interop_data_send(struct interop_exchange *x)
{
    return interop_establish(x, NULL, NULL) != 0 ? -1 : interop_send_both(x, SMALL);
}

int interop_data_send_solicited(struct interop_exchange *x)
{
    return interop_establish(x, NULL, NULL) != 0 || send_kind(x, INITIATOR, SMALL, true, 0) != 0
               ? -1
               : send_kind(x, RESPONDER, SMALL, true, 0);
}

/*
 * Memory that the peer may invalidate: of this stream alone, or of its domain where the device has no such memory (what
 * RFC 5040 demands of verbs is then its own affair).
 */
static int stream_region(struct interop_exchange *x, enum interop_side side, struct upper_region *region)
{
    json_t *answer = NULL, *request = json_pack("{s:s, s:i, s:[s], s:I}", "verb", "reg_mr", "length", ROOM, "access",
                                                "remote_write", "stream", x->side[side]->upper.stream);
    bool lacks;

    if (interop_try(x, side, request, &answer, &lacks) != 0)
        return -1;
    if (!lacks)
        upper_region_read(region, answer);
    json_decref(answer);
    return lacks ? interop_region(x, side, ROOM, json_pack("[s]", "remote_write"), false, region) : 0;
}

/*
 * A Send with Invalidate on a stream of its own: the receiver's ULP gets it, and a Write to that STag is refused. What
 * the receiver's ULP says of the STag is not asked: verbs do not tell.
 */
static int invalidate(struct interop_exchange *x, enum interop_side from, bool solicited)
{
    static const char expected[] = "a Write to the STag is refused: it is invalid";
    struct upper_region region;
    json_t *write;

    x->ending = false;
    if (interop_establish(x, NULL, NULL) != 0 ||
        (from == RESPONDER && interop_send(x, INITIATOR, SMALL) != 0) || /* the responder may not send before */
        stream_region(x, 1 - from, &region) != 0 || send_kind(x, from, SMALL, solicited, region.stag) != 0)
        return -1;
    write = interop_write(x, from, region.stag, &region, 0, SMALL);
    x->ending = true;
    return interop_ask(x, from, write, NULL) != 0 || interop_await_as(x, from, "closed", expected) != 0 ||
                   interop_await_as(x, 1 - from, "closed", expected) != 0 ||
                   interop_compare(x, 1 - from, &region, ROOM, 0, expected) != 0
               ? -1
               : 0;
}

static int invalidate_both(struct interop_exchange *x, bool solicited)
{
    return invalidate(x, INITIATOR, solicited) != 0 ? -1 : invalidate(x, RESPONDER, solicited);
}

int interop_data_send_invalidate(struct interop_exchange *x)
{
    return invalidate_both(x, false);
}

int interop_data_send_solicited_invalidate(struct interop_exchange *x)
{
    return invalidate_both(x, true);
}

/* ---- Write and Read ---------------------------------------------------------------------------------------------- */

/* Where one side writes and reads. */
struct places {
    struct upper_region target; /* of the other side */
    struct upper_region source; /* of the other side, filled */
    struct upper_region sink;   /* of its own */
    json_int_t octets;
};

static int places_make(struct interop_exchange *x, enum interop_side from, json_int_t octets, struct places *places)
{
    places->octets = octets;
    return interop_region(x, 1 - from, octets, json_pack("[s]", "remote_write"), false, &places->target) != 0 ||
                   interop_region(x, 1 - from, octets, json_pack("[s]", "remote_read"), true, &places->source) != 0 ||
                   interop_region(x, from, octets, json_pack("[s, s]", "remote_read", "remote_write"), false,
                                  &places->sink) != 0
               ? -1
               : 0;
}

/* A Write, and a Send behind it: when the Send is delivered, the Write has been placed (RFC 5040 5.5). */
static int write_one(struct interop_exchange *x, enum interop_side from, const struct places *places, json_int_t octets,
                     json_int_t send_octets)
{
    return interop_ask(x, from, interop_write(x, from, places->target.stag, &places->target, 0, octets), NULL) != 0 ||
                   interop_send(x, from, send_octets) != 0 || interop_await(x, from, "write_done", NULL) != 0 ||
                   interop_compare(x, 1 - from, &places->target, places->octets, octets,
                                   "the octets that were written, and no others") != 0
               ? -1
               : 0;
}

static int read_one(struct interop_exchange *x, enum interop_side from, const struct places *places, json_int_t octets)
{
    return interop_ask(x, from, upper_side_read(&x->side[from]->upper, &places->source, &places->sink, 0, octets),
                       NULL) != 0 ||
                   interop_await(x, from, "read_done", NULL) != 0 ||
                   interop_compare(x, from, &places->sink, places->octets, octets,
                                   "the octets that were read, and no others") != 0
               ? -1
               : 0;
}

int interop_data_write(struct interop_exchange *x)
{
    if (interop_establish(x, NULL, NULL) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        struct places places;

        if (places_make(x, from, ROOM, &places) != 0 || write_one(x, from, &places, SMALL, SMALL) != 0)
            return -1;
    }
    return 0;
}

int interop_data_read(struct interop_exchange *x)
{
    if (interop_establish(x, NULL, NULL) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        struct places places;

        if (places_make(x, from, ROOM, &places) != 0 || read_one(x, from, &places, SMALL) != 0)
            return -1;
    }
    return 0;
}

int interop_data_empty(struct interop_exchange *x)
{
    if (interop_establish(x, NULL, NULL) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        struct places places;

        if (places_make(x, from, ROOM, &places) != 0 || write_one(x, from, &places, 0, 0) != 0 ||
            read_one(x, from, &places, 0) != 0)
            return -1;
    }
    return 0;
}

int interop_data_sizes(struct interop_exchange *x)
{
    static const json_int_t sizes[] = {1,    2,    3,    4,    5,    64,   511,   512,    513,
                                       1024, 1434, 1447, 1448, 1460, 4097, 16384, LONGEST};
    json_t *sides[INTEROP_SIDES];

    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        sides[side] = json_pack("{s:i, s:i}", "receives", 4, "receive_octets", LONGEST);
    if (interop_establish(x, sides[INITIATOR], sides[RESPONDER]) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        struct places places;

        if (places_make(x, from, LONGEST, &places) != 0)
            return -1;
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            if (write_one(x, from, &places, sizes[i], sizes[i]) != 0 || read_one(x, from, &places, sizes[i]) != 0)
                return -1;
    }
    return 0;
}

int interop_data_large(struct interop_exchange *x)
{
    if (interop_establish(x, NULL, NULL) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        struct places places;

        if (places_make(x, from, LARGE, &places) != 0 || write_one(x, from, &places, LARGE, SMALL) != 0 ||
            read_one(x, from, &places, LARGE) != 0)
            return -1;
    }
    return 0;
}

/* ---- much at once ------------------------------------------------------------------------------------------------ */

static int burst_post(struct interop_exchange *x, enum interop_side from, const struct places *places)
{
    for (unsigned i = 0; i < BURST_SENDS; i++) {
        json_t *send = upper_side_work(&x->side[from]->upper, "send");

        (void)json_object_set_new(send, "length", json_integer(SMALL));
        if (interop_ask(x, from, interop_write(x, from, places->target.stag, &places->target, 0, BURST_OCTETS), NULL) !=
            0) {
            json_decref(send);
            return -1;
        }
        if (interop_ask(x, from, send, NULL) != 0 ||
            (i < BURST_READS &&
             interop_ask(x, from,
                         upper_side_read(&x->side[from]->upper, &places->source, &places->sink, 0, BURST_OCTETS),
                         NULL) != 0))
            return -1;
    }
    return 0;
}

static int burst_receive(struct interop_exchange *x, enum interop_side side, const struct places *places)
{
    for (unsigned i = 0; i < BURST_SENDS; i++)
        if (received(x, side, SMALL, false, 0) != 0 || interop_await(x, side, "send_done", NULL) != 0 ||
            interop_await(x, side, "write_done", NULL) != 0 ||
            (i < BURST_READS && interop_await(x, side, "read_done", NULL) != 0))
            return -1;
    return interop_compare(x, side, &places->sink, BURST_OCTETS, BURST_OCTETS, "the octets that were read");
}

int interop_data_burst(struct interop_exchange *x)
{
    struct places places[INTEROP_SIDES];
    json_t *sides[INTEROP_SIDES];

    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        sides[side] = json_pack("{s:i}", "receives", 2 * BURST_SENDS);
    if (interop_establish(x, sides[INITIATOR], sides[RESPONDER]) != 0 || interop_send_both(x, SMALL) != 0)
        return -1;
    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        if (places_make(x, side, BURST_OCTETS, &places[side]) != 0)
            return -1;
    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        if (burst_post(x, side, &places[side]) != 0)
            return -1;
    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        if (burst_receive(x, side, &places[side]) != 0)
            return -1;
    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        if (interop_compare(x, 1 - side, &places[side].target, BURST_OCTETS, BURST_OCTETS,
                            "the octets that were written") != 0)
            return -1;
    return 0;
}

/* ---- extensions -------------------------------------------------------------------------------------------------- */

static int both_can(struct interop_exchange *x, const char *ability, const char *words)
{
    for (unsigned side = 0; side < INTEROP_SIDES; side++)
        if (!interop_can(x, side, ability))
            return interop_unsupported(x, "%s has no %s", interop_name(x, side), words);
    return 0;
}

/* One atomic operation; what the target held before is `before`. */
static int atomic_one(struct interop_exchange *x, enum interop_side from, const struct upper_region *target,
                      json_t *operation, const char *before)
{
    json_t *event = NULL;
    const char *value;
    int rc = 0;

    (void)json_object_set_new(operation, "stag", json_integer(target->stag));
    (void)json_object_set_new(operation, "to", upper_region_to(target, 0));
    if (interop_ask(x, from, operation, NULL) != 0 || interop_await(x, from, "atomic_done", &event) != 0)
        return -1;
    value = json_string_value(json_object_get(event, "value"));
    if (value == NULL || strcmp(value, before) != 0)
        rc = interop_fail(x, before, "%s gets %.40s as the value before", interop_name(x, from),
                          value != NULL ? value : "nothing");
    json_decref(event);
    return rc;
}

int interop_data_atomic(struct interop_exchange *x)
{
    if (both_can(x, "atomics", "atomic operations") != 0 || interop_establish(x, NULL, NULL) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        struct upper_region target;
        json_t *add = upper_side_work(&x->side[from]->upper, "atomic"),
               *swap = upper_side_work(&x->side[from]->upper, "atomic"),
               *look = upper_side_work(&x->side[from]->upper, "atomic");
        bool done;

        (void)json_object_update_new(add, json_pack("{s:s, s:i}", "operation", "fetch_add", "data", 5));
        (void)json_object_update_new(
            swap, json_pack("{s:s, s:i, s:i}", "operation", "compare_swap", "compare", 5, "data", 9));
        (void)json_object_update_new(look, json_pack("{s:s, s:i}", "operation", "fetch_add", "data", 0));
        done = interop_region(x, 1 - from, ROOM, json_pack("[s]", "remote_atomic"), false, &target) == 0 &&
               atomic_one(x, from, &target, json_incref(add), "0x0000000000000000") == 0 &&
               atomic_one(x, from, &target, json_incref(swap), "0x0000000000000005") == 0 &&
               atomic_one(x, from, &target, json_incref(look), "0x0000000000000009") == 0;
        json_decref(add);
        json_decref(swap);
        json_decref(look);
        if (!done)
            return -1;
    }
    return 0;
}

int interop_data_immediate(struct interop_exchange *x)
{
    static const char octets[] = "0123456789abcdef";

    if (both_can(x, "immediate", "Immediate Data") != 0 || interop_establish(x, NULL, NULL) != 0)
        return -1;
    for (unsigned from = 0; from < INTEROP_SIDES; from++) {
        json_t *event = NULL, *request = upper_side_work(&x->side[from]->upper, "immediate");
        const char *data;
        json_int_t opcode;
        int rc = 0;

        (void)json_object_set_new(request, "data", json_string(octets));
        if (interop_ask(x, from, request, NULL) != 0 || interop_await(x, 1 - from, "receive", &event) != 0)
            return -1;
        data = json_string_value(json_object_get(event, "data"));
        opcode = json_object_get(event, "opcode") != NULL ? json_integer_value(json_object_get(event, "opcode"))
                                                          : IMMEDIATE_OPCODE; /* not every device says it */
        if (opcode != IMMEDIATE_OPCODE || data == NULL || strcmp(data, octets) != 0)
            rc = interop_fail(x, octets, "%s receives %.40s, opcode %lld", interop_name(x, 1 - from),
                              data != NULL ? data : "nothing", (long long)opcode);
        json_decref(event);
        if (rc != 0 || interop_await(x, from, "immediate_done", NULL) != 0)
            return -1;
    }
    return 0;
}
