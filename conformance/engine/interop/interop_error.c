/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors: one side breaks a rule, the other one reports it by a Terminate and ends the stream, and the offender's ULP
 * learns which error it was.
 */
#include <string.h>

#include "conformance/engine/interop/interop_tests.h"
#include "wire/terminate.h"

enum { ROOM = 160, SMALL = 100, SHORT_RECEIVE = 256, TOO_LONG = 257, UNKNOWN_STAG_BITS = 0x5a5a0000 };

/* One offence. */
struct offence {
    uint32_t triple; /* what the Terminate has to say */
    int receives;    /* that the victim posts */
    json_t *(*make)(const struct interop_exchange *x, enum interop_side offender, const struct upper_region *victim,
                    const struct upper_region *own);
    const char *access; /* of the victim's region */
};

/* The offender learns of the Terminate, where its device reports them, and of this error. */
static int heard(struct interop_exchange *x, enum interop_side offender, const struct offence *offence)
{
    static const char *const names[] = {"terminate_received", "closed", "read_done", NULL};
    bool reports_terminates = interop_can(x, offender, "terminate_events");
    char wanted[160], got[160];
    json_t *event = NULL;
    uint32_t triple;
    const char *name;
    bool ended, served;

    (void)iwarp_terminate_describe(offence->triple, wanted, sizeof(wanted));
    if (interop_await_any(x, offender, reports_terminates ? names : names + 1, &event) != 0) {
        if (x->verdict == VERDICT_FAIL)
            (void)iwarp_sentence_set(&x->expected, "Terminate %s", wanted);
        return -1;
    }
    name = json_string_value(json_object_get(event, "event"));
    ended = strcmp(name, "closed") == 0;
    served = strcmp(name, "read_done") == 0;
    triple = IWARP_TERMINATE_TRIPLE((uint32_t)json_integer_value(json_object_get(event, "layer")),
                                    (uint32_t)json_integer_value(json_object_get(event, "etype")),
                                    (uint32_t)json_integer_value(json_object_get(event, "code")));
    json_decref(event);
    if (served)
        return interop_fail(x, wanted, "%s is served all the same", interop_name(x, offender));
    if (ended)
        return reports_terminates
                   ? interop_fail(x, wanted, "the stream ends for %s without a Terminate", interop_name(x, offender))
                   : 0;
    if (triple != offence->triple)
        return interop_fail(x, wanted, "%s hears a Terminate %s", interop_name(x, offender),
                            iwarp_terminate_describe(triple, got, sizeof(got)));
    return interop_await(x, offender, "closed", NULL);
}

static int offend(struct interop_exchange *x, enum interop_side offender, const struct offence *offence)
{
    enum interop_side victim = 1 - offender;
    json_t *options[INTEROP_SIDES];
    struct upper_region region, own;

    options[offender] = json_pack("{s:i}", "receives", 4);
    options[victim] = json_pack("{s:i, s:i}", "receives", offence->receives, "receive_octets", SHORT_RECEIVE);
    x->ending = false;
    if (interop_establish(x, options[INITIATOR], options[RESPONDER]) != 0 ||
        (offender == RESPONDER && interop_send(x, INITIATOR, SMALL) != 0) || /* the responder may not send before */
        interop_region(x, victim, ROOM, json_pack("[s]", offence->access), false, &region) != 0 ||
        interop_region(x, offender, ROOM, json_pack("[s, s]", "remote_read", "remote_write"), false, &own) != 0)
        return -1;
    x->ending = true;
    if (interop_ask(x, offender, offence->make(x, offender, &region, &own), NULL) != 0 ||
        heard(x, offender, offence) != 0 || interop_await(x, victim, "closed", NULL) != 0)
        return -1;
    return interop_compare(x, victim, &region, ROOM, 0, "memory of the victim stays as it was") != 0
               ? -1
               : interop_compare(x, offender, &own, ROOM, 0, "memory of the offender stays as it was");
}

static int both_offend(struct interop_exchange *x, const struct offence *offence)
{
    return offend(x, INITIATOR, offence) != 0 ? -1 : offend(x, RESPONDER, offence);
}

/* An STag that differs from the victim's in bits that no device is likely to count by. */
static json_t *unknown_stag(const struct interop_exchange *x, enum interop_side offender,
                            const struct upper_region *victim, const struct upper_region *own)
{
    (void)own;
    return interop_write(x, offender, victim->stag ^ UNKNOWN_STAG_BITS, victim, 0, SMALL);
}

static json_t *beyond(const struct interop_exchange *x, enum interop_side offender, const struct upper_region *victim,
                      const struct upper_region *own)
{
    (void)own;
    return interop_write(x, offender, victim->stag, victim, ROOM - SMALL + 1, SMALL);
}

static json_t *read_anyway(const struct interop_exchange *x, enum interop_side offender,
                           const struct upper_region *victim, const struct upper_region *own)
{
    return upper_side_read(&x->side[offender]->upper, victim, own, 0, SMALL);
}

static json_t *send_long(const struct interop_exchange *x, enum interop_side offender,
                         const struct upper_region *victim, const struct upper_region *own)
{
    json_t *request = upper_side_work(&x->side[offender]->upper, "send");

    (void)victim;
    (void)own;
    (void)json_object_set_new(request, "length", json_integer(TOO_LONG));
    return request;
}

int interop_error_stag(struct interop_exchange *x)
{
    return both_offend(x, &(struct offence){TERM_DDP_INVALID_STAG, 4, unknown_stag, "remote_write"});
}

int interop_error_bounds(struct interop_exchange *x)
{
    return both_offend(x, &(struct offence){TERM_DDP_BOUNDS, 4, beyond, "remote_write"});
}

int interop_error_rights(struct interop_exchange *x)
{
    return both_offend(x, &(struct offence){TERM_RDMAP_ACCESS, 4, read_anyway, "remote_write"});
}

int interop_error_long(struct interop_exchange *x)
{
    return both_offend(x, &(struct offence){TERM_DDP_TOO_LONG, 4, send_long, "remote_write"});
}

int interop_error_no_receive(struct interop_exchange *x)
{
    return both_offend(x, &(struct offence){TERM_DDP_NO_BUFFER, 0, send_long, "remote_write"});
}
