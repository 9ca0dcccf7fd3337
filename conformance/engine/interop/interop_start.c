/* SPDX-License-Identifier: BSD-2-Clause */
/* Start-ups and ends. */
#include <string.h>

#include "conformance/engine/interop/interop_tests.h"

#define REQUEST_DATA "72657175657374"     /* "request" */
#define REPLY_DATA   "61207265706c79"     /* "a reply" */
#define REJECT_DATA  "6e6f7420746f646179" /* "not today" */

enum { SMALL = 100, DEPTH_LOW = 3, DEPTH_HIGH = 5, MARKED = 3000 };

/* The Private Data of an event; a device that does not report them is not judged by them. */
static int private_data(struct interop_exchange *x, enum interop_side side, const json_t *event, const char *wanted)
{
    const char *got = json_string_value(json_object_get(event, "private_data"));

    if (got == NULL || strcmp(got, wanted) == 0)
        return 0;
    return interop_fail(x, "the Private Data of the other side", "%s is told %.200s in place of %s",
                        interop_name(x, side), got, wanted);
}

static json_int_t number(const json_t *event, const char *member, json_int_t absent)
{
    const json_t *value = json_object_get(event, member);

    return json_is_integer(value) ? json_integer_value(value) : absent;
}

/* RFC 6581 9.1: no side sends more Reads than the other one takes. */
static int depths(struct interop_exchange *x, const json_t *initiator, const json_t *responder)
{
    const json_t *events[INTEROP_SIDES] = {initiator, responder};

    for (unsigned side = 0; side < INTEROP_SIDES; side++) {
        json_int_t ord = number(events[side], "ord", 0), ird = number(events[1 - side], "ird", ord);

        if (ord > ird)
            return interop_fail(x, "no side sends more Reads than the other one takes",
                                "%s may have %lld Reads outstanding, %s takes %lld", interop_name(x, side),
                                (long long)ord, interop_name(x, 1 - side), (long long)ird);
    }
    return 0;
}

/* The ULP accepts by hand. */
static int accept_by_hand(struct interop_exchange *x, json_t *events[INTEROP_SIDES])
{
    json_t *request = NULL;
    int rc;

    if (interop_await(x, RESPONDER, "connect_request", &request) != 0)
        return -1;
    x->side[RESPONDER]->upper.stream = number(request, "stream", 0);
    rc = private_data(x, RESPONDER, request, REQUEST_DATA);
    json_decref(request);
    if (rc != 0)
        return -1;
    request = upper_side_work(&x->side[RESPONDER]->upper, "accept");
    (void)json_object_set_new(request, "private_data", json_string(REPLY_DATA));
    return interop_ask(x, RESPONDER, request, NULL) != 0 ||
                   interop_await(x, INITIATOR, "established", &events[INITIATOR]) != 0 ||
                   interop_await(x, RESPONDER, "established", &events[RESPONDER]) != 0
               ? -1
               : 0;
}

int interop_start_enhanced(struct interop_exchange *x)
{
    json_t *events[INTEROP_SIDES] = {NULL, NULL};
    json_t *asks = json_pack("{s:s, s:i, s:i}", "private_data", REQUEST_DATA, "ird", DEPTH_LOW, "ord", DEPTH_HIGH);
    json_t *takes = json_pack("{s:s, s:i, s:i}", "accept", "manual", "ird", DEPTH_HIGH, "ord", DEPTH_LOW);
    int rc = -1;

    if (interop_connect(x, asks, takes) == 0 && accept_by_hand(x, events) == 0 &&
        private_data(x, INITIATOR, events[INITIATOR], REPLY_DATA) == 0 &&
        depths(x, events[INITIATOR], events[RESPONDER]) == 0)
        rc = interop_send_both(x, SMALL);
    json_decref(events[INITIATOR]);
    json_decref(events[RESPONDER]);
    return rc;
}

int interop_start_plain(struct interop_exchange *x)
{
    return interop_establish(x, json_pack("{s:i, s:b}", "rev", 1, "enhanced", 0), NULL) != 0
               ? -1
               : interop_send_both(x, SMALL);
}

int interop_start_peer(struct interop_exchange *x)
{
    return interop_establish(x, json_pack("{s:b}", "p2p", 1), NULL) != 0 ? -1 : interop_send_both(x, SMALL);
}

/*
 * What of an option each side says is in force; `as`: what it has to be. A side that does not tell is not judged by it.
 */
static int in_force(struct interop_exchange *x, const char *member, bool as)
{
    json_t *event = NULL;

    if (interop_await(x, INITIATOR, "established", &event) != 0)
        return -1;
    for (unsigned side = 0;; side++) {
        const json_t *value = json_object_get(event, member);
        bool wrong = json_is_boolean(value) && json_is_true(value) != as;

        if (side == RESPONDER)
            x->side[RESPONDER]->upper.stream = number(event, "stream", 0);
        json_decref(event);
        event = NULL;
        if (wrong)
            return interop_fail(x, member, "%s says that it is %s", interop_name(x, side), as ? "off" : "on");
        if (side == RESPONDER)
            return 0;
        if (interop_await(x, RESPONDER, "established", &event) != 0)
            return -1;
    }
}

int interop_start_markers(struct interop_exchange *x)
{
    if (interop_connect(x, json_pack("{s:b}", "markers", 1), json_pack("{s:b}", "markers", 1)) != 0 ||
        in_force(x, "receive_markers", true) != 0)
        return -1;
    return interop_send_both(x, MARKED);
}

int interop_start_crc(struct interop_exchange *x)
{
    if (interop_connect(x, json_pack("{s:b}", "crc", 1), json_pack("{s:b}", "crc", 1)) != 0 ||
        in_force(x, "crc", true) != 0)
        return -1;
    return interop_send_both(x, MARKED);
}

int interop_start_without_crc(struct interop_exchange *x)
{
    if (interop_connect(x, json_pack("{s:b}", "crc", 0), json_pack("{s:b}", "crc", 0)) != 0 ||
        in_force(x, "crc", false) != 0)
        return -1;
    return interop_send_both(x, MARKED);
}

int interop_start_reject(struct interop_exchange *x)
{
    json_t *event = NULL;
    int rc;

    if (interop_connect(x, NULL, json_pack("{s:s, s:s}", "accept", "reject", "private_data", REJECT_DATA)) != 0 ||
        interop_await(x, INITIATOR, "rejected", &event) != 0)
        return -1;
    rc = private_data(x, INITIATOR, event, REJECT_DATA);
    json_decref(event);
    return rc;
}

/* An orderly end: nothing of an error before it. */
static int closed_in_order(struct interop_exchange *x, enum interop_side by)
{
    static const char *const ends[] = {"closed", "error", "terminate_received", "terminate_sent", NULL};

    if (interop_establish(x, NULL, NULL) != 0 || interop_send_both(x, SMALL) != 0 ||
        interop_ask(x, by, upper_side_work(&x->side[by]->upper, "disconnect"), NULL) != 0)
        return -1;
    for (unsigned side = 0; side < INTEROP_SIDES; side++) {
        json_t *event = NULL;
        const char *name;
        bool wrong;

        if (interop_await_any(x, side, ends, &event) != 0)
            return -1;
        name = json_string_value(json_object_get(event, "event"));
        wrong = strcmp(name, "closed") != 0;
        if (wrong)
            (void)interop_fail(x, "closed", "%s reports %s", interop_name(x, side), name);
        json_decref(event);
        if (wrong)
            return -1;
    }
    return 0;
}

int interop_close_initiator(struct interop_exchange *x)
{
    return closed_in_order(x, INITIATOR);
}

int interop_close_responder(struct interop_exchange *x)
{
    return closed_in_order(x, RESPONDER);
}
