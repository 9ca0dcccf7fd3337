/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_prediction.h"

#include <stdio.h>
#include <string.h>

#include "reference-stack/validation/validation.h"

static void allow_terminate(struct session *session, wire_result triple)
{
    char reaction[SESSION_REACTION_OCTETS];

    (void)snprintf(reaction, sizeof(reaction), "terminate %04x", wire_error_word(triple));
    session_allow(session, reaction);
}

static void allow_action(struct session *session, enum validation_action action, wire_result triple)
{
    switch (action) {
    case VALIDATION_TERMINATE: allow_terminate(session, triple); break;
    case VALIDATION_REJECT: session_allow(session, "rejects"); break;
    case VALIDATION_HANG: session_allow(session, "silent"); break;
    case VALIDATION_IGNORE: session_allow(session, "goes on"); break;
    case VALIDATION_CLOSE:
    case VALIDATION_ABORT:
    default: session_allow(session, "closes"); break;
    }
}

/* The triple of that name. */
static const struct terminate_error *error_named(const char *name)
{
    for (size_t i = 0; i < terminate_error_count; i++)
        if (strcmp(terminate_errors[i].id, name) == 0)
            return &terminate_errors[i];
    return NULL;
}

/* What a legal device may do in place of the entry's own action. */
static void allow_variant(struct session *session, const struct validation *entry, const struct defect *variant)
{
    const char *operation = variant->operation;
    const struct terminate_error *error =
        strcmp(operation, "triple") == 0 && variant->value != NULL ? error_named(variant->value) : NULL;

    if (error != NULL)
        allow_terminate(session, error->triple);
    else if (strcmp(operation, "triple") ==
             0) /* by its number: 0/0, which is registered with all codes (RFC 6580 3.1) */
        session_allow(session, "terminate 00");
    else if (strcmp(operation, "close") == 0 || strcmp(operation, "abort") == 0)
        session_allow(session, "closes");
    else if (strcmp(operation, "terminate") == 0)
        allow_terminate(session, entry->error);
    else if (strcmp(operation, "reject") == 0)
        session_allow(session, "rejects");
    else if (strcmp(operation, "hang") == 0)
        session_allow(session, "silent");
    else if (strcmp(operation, "off") == 0 || strcmp(operation, "ignore") == 0)
        session_allow(session, "goes on");
}

static void allow_entry(struct session *session, const struct validation *entry, const struct defect_list *variants)
{
    allow_action(session, entry->action, entry->error);
    /* A Send without a receive may stay in TCP until there is one (RFC 5041 7.1; DDP-7.1-07). */
    if (entry->error == TERM_DDP_NO_BUFFER)
        session_allow(session, "silent");
    for (size_t i = 0; i < defect_list_count(variants); i++) {
        const struct defect *variant = defect_list_at(variants, i);

        if (strcmp(variant->hook, "validate") == 0 &&
            (strcmp(variant->target, entry->name) == 0 || strcmp(variant->target, entry->requirement) == 0))
            allow_variant(session, entry, variant);
    }
}

/* Entries of these stages are judged before payload is placed. */
static bool is_before_placement(enum validation_stage stage)
{
    return stage == VALIDATE_SEGMENT || stage == VALIDATE_TAGGED || stage == VALIDATE_UNTAGGED;
}

static bool is_field_wrong(const struct session *session, const char *name)
{
    for (size_t i = 0; i < session->step_count; i++) {
        const struct session_member *field = session_find(&session->steps[i].wrong.what, "field");

        if (field != NULL && strcmp(field->word, name) == 0)
            return true;
    }
    return false;
}

/* The octet of the T bit. */
static bool is_first_octet_wrong(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++)
        if (session_number(&session->steps[i].wrong.what, "octet", -1) == 0)
            return true;
    return false;
}

static bool has_many_reads(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++)
        if (session_find(&session->steps[i].members, "times") != NULL)
            return true;
    return false;
}

/* A segment in a wrong place is good by itself, and so is one with another L bit: what is refused is a later one. */
static bool is_out_of_place(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++) {
        const struct session_members *what = &session->steps[i].wrong.what;

        if (session_find(what, "twice") != NULL || session_find(what, "missing") != NULL ||
            session_find(what, "exchanged") != NULL)
            return true;
    }
    return false;
}

/* Is a frame wrong that nothing but a CRC or a Marker would show? */
static bool has_wrong_frame(const struct session *session)
{
    bool checked = session_number(&session->own, "C", 1) != 0 || session_number(&session->device, "crc", 1) != 0;
    bool marked = session_number(&session->device, "markers", 0) != 0;

    for (size_t i = 0; session->sctp == IWARP_SCTP_UNDECIDED && i < session->step_count; i++) {
        const struct session_members *fpdu = &session->steps[i].wrong.frame;

        if (fpdu->count != 0 && (!checked || (!marked && session_find(fpdu, "marker_index") != NULL)))
            return true;
    }
    return false;
}

static bool allows(const struct session *session, const char *reaction)
{
    for (size_t i = 0; i < session->reaction_count; i++)
        if (strcmp(session->reactions[i], reaction) == 0)
            return true;
    return false;
}

void session_predict(struct session *session, const struct prediction_seen *seen, const struct defect_list *variants)
{
    size_t refused = 0;

    session->reaction_count = 0;
    session->untouched = false;
    if (seen->reaction == NULL)
        return;
    session_allow(session, seen->reaction);
    for (size_t i = 0; i < validation_count; i++) {
        if (!defect_set_refused(seen->asking, i))
            continue;
        session->untouched = (refused == 0 || session->untouched) && is_before_placement(validation_table[i].stage);
        refused++;
        allow_entry(session, &validation_table[i], variants);
    }
    /* Octets after a start-up frame that are taken for FPDUs: there is no telling where that ends (MPA-7.1.1-37). */
    if (session_find(&session->wrong_start.what, "more") != NULL)
        session_allow(session, "any");
    /* A side that uses CRCs or Markers unasked finds what the stack without them passes over (RFC 5044 7.1.1). */
    if (has_wrong_frame(session)) {
        allow_terminate(session, TERM_MPA_CRC);
        allow_terminate(session, TERM_MPA_MARKER);
    }
    /* Octets that no rule refuses, and after which the stream hangs: where it is found out is each device's own. */
    if (refused == 0 && strcmp(seen->reaction, "goes on") != 0)
        session_allow(session, "any");
    /* STag and TO, which the device has chosen, are QN, MSN and MO then. */
    if (is_field_wrong(session, "T") || is_first_octet_wrong(session))
        session_allow(session, "terminate 12");
    /* How many Reads are open depends on how fast the device answers: all may be served, or one is too many. */
    if (has_many_reads(session)) {
        session_allow(session, "goes on");
        allow_terminate(session, TERM_DDP_MSN_RANGE);
        session_allow(session, "closes");
    }
    /* What SCTP's user is free to ignore leaves its DDP-SSN missing: nothing after it is due (RFC 5043 10). */
    if (session->sctp != IWARP_SCTP_UNDECIDED && refused != 0 && allows(session, "goes on"))
        session_allow(session, "silent");
    /* The draft's streams have no end of their own: a bare end shows nothing on the wire. */
    if (session->sctp == IWARP_SCTP_DRAFT02 && allows(session, "closes"))
        session_allow(session, "silent");
    session->untouched = session->untouched && !is_out_of_place(session) && !is_field_wrong(session, "L");
    if (allows(session, "goes on"))
        session->untouched = false;
}
