/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_prediction.h"

#include <stdio.h>
#include <string.h>

#include "reference-stack/validation/validation.h"

/* Where the row of what allows it asks for a WARN, the reaction is "warn ...". */
static void allow_reaction(struct session *session, const char *reaction, const char *how)
{
    char text[2 * SESSION_REACTION_OCTETS];

    (void)snprintf(text, sizeof(text), "%s%s", how, reaction);
    session_allow(session, text);
}

static void allow_triple(struct session *session, wire_result triple, const char *how)
{
    char reaction[SESSION_REACTION_OCTETS];

    (void)snprintf(reaction, sizeof(reaction), "terminate %04x", wire_error_word(triple));
    allow_reaction(session, reaction, how);
}

static void allow_terminate(struct session *session, wire_result triple)
{
    allow_triple(session, triple, "");
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

/* The triple of a variant's value: its name, and perhaps where alone the variant acts ("RDMAP_OPERATION_OTHER@qn=1"). */
static const struct terminate_error *error_named(const char *value)
{
    size_t octets = strcspn(value, "@");

    for (size_t i = 0; i < terminate_error_count; i++)
        if (strlen(terminate_errors[i].id) == octets && memcmp(terminate_errors[i].id, value, octets) == 0)
            return &terminate_errors[i];
    return NULL;
}

/* What a legal device may do in place of the entry's own action. */
static void allow_variant(struct session *session, const struct validation *entry, const struct defect *variant)
{
    const char *operation = variant->operation,
               *how = variant->warns != NULL && variant->warns[0] != '-' && variant->warns[0] != '\0' ? "warn " : "";
    const struct terminate_error *error =
        strcmp(operation, "triple") == 0 && variant->value != NULL ? error_named(variant->value) : NULL;

    if (error != NULL)
        allow_triple(session, error->triple, how);
    else if (strcmp(operation, "triple") ==
             0) /* by its number: 0/0, which is registered with all codes (RFC 6580 3.1) */
        allow_reaction(session, "terminate 00", how);
    else if (strcmp(operation, "close") == 0 || strcmp(operation, "abort") == 0)
        allow_reaction(session, "closes", how);
    else if (strcmp(operation, "terminate") == 0)
        allow_triple(session, entry->error, how);
    else if (strcmp(operation, "reject") == 0)
        allow_reaction(session, "rejects", how);
    else if (strcmp(operation, "hang") == 0)
        allow_reaction(session, "silent", how);
    else if (strcmp(operation, "off") == 0 || strcmp(operation, "ignore") == 0)
        allow_reaction(session, "goes on", how);
}

/* Octets of SCTP's user messages that are illegal end the session: RDMAP may say so before (RFC 5043 6.1; SCTP5043-6.1-04). */
static bool ends_session(const struct session *session, const struct validation *entry)
{
    return session->sctp == IWARP_SCTP_RFC5043 && entry->action == VALIDATION_CLOSE &&
           (entry->stage == VALIDATE_MESSAGE || entry->stage == VALIDATE_SESSION);
}

/* `asking`: what the stack saw; NULL: whatever a variant is confined to. */
static void allow_entry(struct session *session, size_t index, const struct defect_set *asking,
                        const struct defect_list *variants)
{
    const struct validation *entry = &validation_table[index];

    allow_action(session, entry->action, entry->error);
    if (ends_session(session, entry))
        allow_reaction(session, "terminate 0", "");
    /* A Send without a receive may stay in TCP until there is one (RFC 5041 7.1; DDP-7.1-07). */
    if (entry->error == TERM_DDP_NO_BUFFER)
        session_allow(session, "silent");
    for (size_t i = 0; i < defect_list_count(variants); i++) {
        const struct defect *variant = defect_list_at(variants, i);

        if (strcmp(variant->hook, "validate") == 0 &&
            (strcmp(variant->target, entry->name) == 0 || strcmp(variant->target, entry->requirement) == 0) &&
            (asking == NULL || defect_set_may_apply(asking, variant, index)))
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

/* The octet of the T and L bits. */
static bool is_first_octet_wrong(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++)
        if (session_number(&session->steps[i].wrong.what, "octet", -1) == 0)
            return true;
    return false;
}

static bool has_many_reads(const struct session *session)
{
    if (session->step_count != 0 && strcmp(session->steps[session->step_count - 1].name, "reads") == 0)
        return session->beyond;
    for (size_t i = 0; i < session->step_count; i++)
        if (session_find(&session->steps[i].members, "times") != NULL)
            return true;
    return false;
}

/* What is wrong with a chunk is mostly its place: its DDP-SSN, its SID, or that it comes twice. */
static bool is_chunk_wrong(const struct session *session, const struct session_step *step)
{
    return session->sctp != IWARP_SCTP_UNDECIDED && step->wrong.frame.count != 0;
}

/* Segments after the wrong one may come before it, and are placed then (RFC 5041 5.4, RFC 5043 10). */
static bool is_early(const struct session_step *step)
{
    return step->wrong.present &&
           (session_find(&step->members, "backwards") != NULL || session_find(&step->members, "late") != NULL);
}

/* A segment in a wrong place is good by itself, and so is one with another L bit: what is refused is a later one. */
static bool is_out_of_place(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++) {
        const struct session_members *what = &session->steps[i].wrong.what;

        if (is_early(&session->steps[i]) || is_chunk_wrong(session, &session->steps[i]) ||
            session_find(what, "twice") != NULL || session_find(what, "missing") != NULL ||
            session_find(what, "exchanged") != NULL)
            return true;
    }
    return false;
}

/* Is a frame wrong that nothing but a CRC or a Marker would show? */
static bool has_wrong_frame(const struct session *session)
{
    for (size_t i = 0; session->sctp == IWARP_SCTP_UNDECIDED && i < session->step_count; i++)
        if (session->steps[i].wrong.frame.count != 0)
            return true;
    return false;
}

/* Before a session the round trip is measured by an association that its other side refuses; no session has one. */
static bool is_of_measurement(enum validation_stage stage)
{
    return stage == VALIDATE_ASSOCIATION;
}

static bool allows(const struct session *session, const char *reaction)
{
    for (size_t i = 0; i < session->reaction_count; i++)
        if (strcmp(session->reactions[i], reaction) == 0)
            return true;
    return false;
}

static bool is_private_length_wrong(const struct session *session)
{
    const struct session_member *field = session_find(&session->wrong_start.what, "field");

    return session->sctp == IWARP_SCTP_UNDECIDED && field != NULL && strcmp(field->word, "PD_Length") == 0;
}

/* Octets after a start-up frame that are taken for FPDUs: there is no telling where that ends (MPA-7.1.1-37). */
static void allow_after_start(struct session *session)
{
    if (session->sctp == IWARP_SCTP_UNDECIDED && session_find(&session->wrong_start.what, "more") != NULL)
        session_allow(session, "any");
    /* Where a device takes them, what it sends may come before it finds that FPDUs are out of place. */
    if (is_private_length_wrong(session) && allows(session, "warn goes on"))
        session_allow(session, "warn odd");
}

/* A start-up frame that never comes whole is not waited for for ever (RFC 5044 7.1.2, a SHOULD). */
static bool has_startup_limit(const struct session *session)
{
    return session_find(&session->device, "startup_ms") != NULL &&
           session_find(&session->wrong_start.what, "keep") != NULL;
}

/* A start-up frame that a FIN cuts short is none: the connection ends (MPA-7.1.1-28). */
static bool is_cut_by_fin(const struct session *session)
{
    return session_find(&session->wrong_start.what, "fin") != NULL;
}

void session_predict(struct session *session, const struct prediction_seen *seen, const struct defect_list *variants)
{
    bool framed = has_wrong_frame(session); /* then what is refused may be the octets after a good FPDU */
    size_t refused = 0;

    session->reaction_count = 0;
    session->untouched = false;
    if (seen->reaction == NULL)
        return;
    session_allow(session, seen->reaction);
    for (size_t i = 0; i < validation_count; i++) {
        if (defect_set_may_refuse(seen->asking, i))
            allow_entry(session, i, seen->asking, variants);
        if (!defect_set_refused(seen->asking, i) || is_of_measurement(validation_table[i].stage))
            continue;
        session->untouched =
            (refused == 0 || session->untouched) &&
            (framed ? validation_table[i].stage == VALIDATE_FPDU : is_before_placement(validation_table[i].stage));
        refused++;
        allow_entry(session, i, seen->asking, variants);
    }
    if (defect_set_may_end(seen->asking)) {
        session_allow(session, "closes");
        allow_reaction(session, "terminate 0", "");
    }
    allow_after_start(session);
    /* A side may use CRCs or Markers unasked: where it does, it finds what the stack passes over (RFC 5044 7.1.1). */
    if (framed) {
        allow_triple(session, TERM_MPA_CRC, "crc ");
        allow_triple(session, TERM_MPA_MARKER, "markers ");
    }
    /* Octets that no rule refuses, and after which the stream hangs: where it is found out is each device's own. */
    if (refused == 0 && strcmp(seen->reaction, "goes on") != 0 && !is_cut_by_fin(session))
        allow_reaction(session, "any", has_startup_limit(session) ? "warn " : "");
    /* STag and TO, which the device has chosen, are QN, MSN and MO then. */
    if (is_field_wrong(session, "T") || is_first_octet_wrong(session))
        session_allow(session, "terminate 12");
    /* How many Reads are open depends on how fast the device answers: all may be served, or one is too many. */
    if (has_many_reads(session)) {
        session_allow(session, "goes on");
        allow_terminate(session, TERM_DDP_MSN_RANGE);
        session_allow(session, "closes");
        for (size_t i = 0; i < validation_count; i++)
            if (strcmp(validation_table[i].name, "ddp-buffer") == 0)
                allow_entry(session, i, NULL, variants);
    }
    /* What SCTP's user is free to ignore leaves its DDP-SSN missing: nothing after it is due (RFC 5043 10). */
    if (session->sctp != IWARP_SCTP_UNDECIDED && refused != 0 && allows(session, "goes on"))
        session_allow(session, "silent");
    /* The draft's streams have no end of their own: a bare end shows nothing on the wire. */
    if (session->sctp == IWARP_SCTP_DRAFT02 && allows(session, "closes"))
        session_allow(session, "silent");
    session->untouched = session->untouched && !is_out_of_place(session) && !is_field_wrong(session, "L") &&
                         !is_first_octet_wrong(session);
    if (allows(session, "goes on"))
        session->untouched = false;
}
