/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_exchange.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/process/run_stop.h"

enum { STEP_OCTETS = 320, STEPS_MOST = 400 };

static const char *const roles[INTEROP_SIDES] = {"initiator", "responder"};

/* ---- decisions --------------------------------------------------------------------------------------------------- */

static int decide(struct interop_exchange *x, enum verdict verdict, const char *expected, const char *actual,
                  va_list arguments)
{
    if (x->decided)
        return -1;
    x->decided = true;
    x->verdict = verdict;
    (void)iwarp_sentence_set(&x->expected, "%s", expected);
    (void)vsnprintf(x->actual.text, sizeof(x->actual.text), actual, arguments);
    return -1;
}

int interop_fail(struct interop_exchange *x, const char *expected, const char *actual, ...)
{
    va_list arguments;

    va_start(arguments, actual);
    (void)decide(x, VERDICT_FAIL, expected, actual, arguments);
    va_end(arguments);
    return -1;
}

int interop_undecided(struct interop_exchange *x, const char *why, ...)
{
    va_list arguments;

    va_start(arguments, why);
    (void)decide(x, VERDICT_INCONCLUSIVE, "", why, arguments);
    va_end(arguments);
    return -1;
}

int interop_unsupported(struct interop_exchange *x, const char *why, ...)
{
    va_list arguments;

    va_start(arguments, why);
    (void)decide(x, VERDICT_SKIP, "", why, arguments);
    va_end(arguments);
    return -1;
}

const char *interop_name(const struct interop_exchange *x, enum interop_side side)
{
    return x->side[side]->device->name;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* "initiator libiwarp: send ... -> ok", in the account of the exchange and in its capture. */
static void step(struct interop_exchange *x, enum interop_side side, const char *sign, const char *text)
{
    char line[STEP_OCTETS];

    if (snprintf(line, sizeof(line), "%s %s %s %s", roles[side], interop_name(x, side), sign, text) >= STEP_OCTETS)
        memcpy(line + STEP_OCTETS - 4, "...", 4);
    if (json_array_size(x->steps) < STEPS_MOST)
        (void)json_array_append_new(x->steps, json_string(line));
    if (x->capture != NULL)
        interop_capture_note(x->capture, line);
}

static void step_object(struct interop_exchange *x, enum interop_side side, const char *sign, const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);

    if (text != NULL)
        step(x, side, sign, text);
    free(text);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

enum refusal { REFUSAL_UNDECIDED, REFUSAL_FAILS, REFUSAL_ALLOWED };

static int refused(struct interop_exchange *x, enum interop_side side, const char *verb, const json_t *answer,
                   enum refusal refusal, bool *lacks)
{
    const char *why = upper_text(answer, "error", "no reason given");

    step(x, side, "<", why);
    if (json_is_true(json_object_get(answer, "unsupported"))) {
        if (refusal == REFUSAL_ALLOWED) {
            *lacks = true;
            return 0;
        }
        return interop_unsupported(x, "%s has no such thing: %.300s", interop_name(x, side), why);
    }
    if (refusal == REFUSAL_UNDECIDED)
        return interop_undecided(x, "%s refuses \"%s\": %.300s", interop_name(x, side), verb, why);
    return interop_fail(x, "the command is obeyed", "%s refuses \"%s\": %.300s", interop_name(x, side), verb, why);
}

static int command(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer,
                   enum refusal refusal, bool *lacks)
{
    const char *verb = upper_text(request, "verb", "");
    struct iwarp_sentence why = {{0}};
    json_t *reply;
    int rc = 0;

    if (answer != NULL)
        *answer = NULL;
    if (request == NULL || x->decided) {
        json_decref(request);
        return interop_undecided(x, "out of memory");
    }
    step_object(x, side, ">", request);
    reply = upper_side_call(&x->side[side]->upper, request, &why);
    if (x->capture != NULL)
        interop_capture_drain(x->capture);
    if (reply == NULL)
        rc = interop_undecided(x, "%s does not answer \"%s\": %.400s", interop_name(x, side), verb, why.text);
    else if (!json_is_true(json_object_get(reply, "ok")))
        rc = refused(x, side, verb, reply, refusal, lacks);
    if (rc == 0 && answer != NULL)
        *answer = json_incref(reply);
    json_decref(request);
    json_decref(reply);
    return rc;
}

int interop_tell(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer)
{
    return command(x, side, request, answer, REFUSAL_UNDECIDED, NULL);
}

int interop_ask(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer)
{
    return command(x, side, request, answer, REFUSAL_FAILS, NULL);
}

int interop_try(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer, bool *lacks)
{
    *lacks = false;
    return command(x, side, request, answer, REFUSAL_ALLOWED, lacks);
}

int interop_reset(struct interop_exchange *x)
{
    for (unsigned side = 0; side < INTEROP_SIDES; side++) {
        if (interop_tell(x, side, json_pack("{s:s}", "verb", "reset"), NULL) != 0)
            return -1;
        (void)json_array_clear(x->side[side]->upper.events);
        x->side[side]->upper.stream = 0;
    }
    return 0;
}

bool interop_can(const struct interop_exchange *x, enum interop_side side, const char *ability)
{
    return !json_is_false(json_object_get(x->side[side]->abilities, ability));
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Gets what is new; *any: something was. */
static int events_handle(struct interop_exchange *x, enum interop_side side, bool *any)
{
    struct upper_side *upper = &x->side[side]->upper;
    struct iwarp_sentence why = {{0}};
    int count = upper_side_poll(upper, &why);

    if (x->capture != NULL)
        interop_capture_drain(x->capture);
    if (count < 0)
        return interop_undecided(x, "%s does not answer \"poll\": %.400s", interop_name(x, side), why.text);
    *any = count > 0;
    for (size_t of = json_array_size(upper->events), i = of - (size_t)count; i < of; i++)
        step_object(x, side, "<", json_array_get(upper->events, i));
    return 0;
}

/* The words of an event that ends a stream: its own, and what it says. */
static void end_text(const json_t *event, char *text, size_t room)
{
    const char *more = upper_text(event, "text", upper_text(event, "reason", upper_text(event, "what", "")));

    (void)snprintf(text, room, "%s%s%.300s", upper_text(event, "event", ""), *more != '\0' ? ": " : "", more);
}

/* 1: found, and taken out of the queue; 0: not there; -1: the stream has ended before. */
static int event_find(struct interop_exchange *x, enum interop_side side, const char *const *names, json_t **found)
{
    static const char *const ends[] = {"closed",  "connect_failed",     "rejected",       "error",
                                       "flushed", "terminate_received", "terminate_sent", NULL};
    struct upper_side *upper = &x->side[side]->upper;
    size_t at = upper_side_find(upper, names, 0), end = x->ending ? SIZE_MAX : upper_side_find(upper, ends, 0);
    char text[400];

    if (end < at) {
        end_text(json_array_get(upper->events, end), text, sizeof(text));
        return interop_fail(x, names[0], "%s (%s) reports %s", interop_name(x, side), roles[side], text);
    }
    if (at == SIZE_MAX)
        return 0;
    if (found != NULL)
        *found = json_incref(json_array_get(upper->events, at));
    (void)json_array_remove(upper->events, at);
    return 1;
}

struct awaited {
    struct interop_exchange *x;
    enum interop_side side;
    const char *const *names;
    json_t **event;
};

static int look(void *user, bool *any)
{
    const struct awaited *awaited = user;
    struct interop_exchange *x = awaited->x;
    int found;

    if (events_handle(x, awaited->side, any) != 0)
        return -1;
    found = event_find(x, awaited->side, awaited->names, awaited->event);
    return found == 0 && run_stopped() ? interop_undecided(x, "the command was stopped") : found;
}

static int await(struct interop_exchange *x, enum interop_side side, const char *const *names, const char *expected,
                 json_t **event)
{
    struct awaited awaited = {x, side, names, event};
    int seen = x->decided ? -1 : upper_side_wait(x->seconds, look, &awaited);

    if (seen == 0)
        return interop_fail(x, expected, "%s (%s) reports no \"%s\" within %u s", interop_name(x, side), roles[side],
                            names[0], x->seconds);
    return seen > 0 ? 0 : -1;
}

int interop_await_any(struct interop_exchange *x, enum interop_side side, const char *const *names, json_t **event)
{
    return await(x, side, names, names[0], event);
}

int interop_await(struct interop_exchange *x, enum interop_side side, const char *name, json_t **event)
{
    return await(x, side, (const char *const[]){name, NULL}, name, event);
}

int interop_await_as(struct interop_exchange *x, enum interop_side side, const char *name, const char *expected)
{
    return await(x, side, (const char *const[]){name, NULL}, expected, NULL);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* A side that cannot be asked to do CRC may do it all the same, because the other one asks for it. */
static int offer(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer, bool *crc_lacks)
{
    json_t *without = NULL;
    bool lacks = false;
    int rc;

    if (json_is_true(json_object_get(request, "crc"))) {
        without = json_copy(request);
        (void)json_object_del(without, "crc");
        rc = interop_try(x, side, request, answer, &lacks);
        if (rc != 0 || !lacks) {
            json_decref(without);
            return rc;
        }
        json_decref(*answer);
        *crc_lacks = true;
        request = without;
    }
    return interop_ask(x, side, request, answer);
}

static json_t *with(const char *verb, json_t *options)
{
    json_t *request = options != NULL ? options : json_object();

    (void)json_object_set_new(request, "verb", json_string(verb));
    return request;
}

int interop_connect(struct interop_exchange *x, json_t *initiator, json_t *responder)
{
    bool lacks[INTEROP_SIDES] = {false, false};
    struct iwarp_sentence why;
    json_t *answer = NULL;
    char address[64];
    json_int_t port;

    for (unsigned side = 0; side < INTEROP_SIDES; side++) {
        x->side[side]->upper.stream = 0;
        (void)json_array_clear(
            x->side[side]->upper.events); /* of an earlier stream of this exchange, which has ended */
    }
    initiator = with("connect", initiator);
    if (interop_address(x->side[RESPONDER], x->side[INITIATOR], address, &why) != 0) {
        json_decref(initiator);
        json_decref(responder);
        return interop_undecided(x, "%s", why.text);
    }
    if (offer(x, RESPONDER, with("listen", responder), &answer, &lacks[RESPONDER]) != 0) {
        json_decref(initiator);
        return -1;
    }
    port = json_integer_value(json_object_get(answer, "port"));
    json_decref(answer);
    answer = NULL;
    if (port < 1 || port > UINT16_MAX) {
        json_decref(initiator);
        return interop_undecided(x, "%s does not say at which port it listens", interop_name(x, RESPONDER));
    }
    if (x->capture != NULL)
        interop_capture_port(x->capture, (uint16_t)port);
    (void)json_object_set_new(initiator, "address", json_string(address));
    (void)json_object_set_new(initiator, "port", json_integer(port));
    if (offer(x, INITIATOR, initiator, &answer, &lacks[INITIATOR]) != 0)
        return -1;
    x->side[INITIATOR]->upper.stream = json_integer_value(json_object_get(answer, "stream"));
    json_decref(answer);
    return lacks[INITIATOR] && lacks[RESPONDER] ? interop_unsupported(x, "neither side can ask for CRCs") : 0;
}

/* The responder's stream is that of its first event with one. */
static int responder_stream(struct interop_exchange *x, const json_t *event)
{
    x->side[RESPONDER]->upper.stream = json_integer_value(json_object_get(event, "stream"));
    return x->side[RESPONDER]->upper.stream != 0
               ? 0
               : interop_undecided(x, "%s does not say which stream was established", interop_name(x, RESPONDER));
}

int interop_establish(struct interop_exchange *x, json_t *initiator, json_t *responder)
{
    json_t *event = NULL;
    int rc;

    if (interop_connect(x, initiator, responder) != 0 || interop_await(x, INITIATOR, "established", NULL) != 0 ||
        interop_await(x, RESPONDER, "established", &event) != 0)
        return -1;
    rc = responder_stream(x, event);
    json_decref(event);
    return rc;
}
