/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/text_stream.h"
#include "conformance/engine/explore/session_layer.h"

const char *session_id(const struct session *session, char id[SESSION_ID_OCTETS])
{
    (void)snprintf(id, SESSION_ID_OCTETS, "explored-%" PRIu64 "-%" PRIu64, session->seed, session->number);
    return id;
}

/* A text of Lua: what is no letter, digit or sign of a sentence becomes a space. */
static void print_text(const char *text, FILE *out)
{
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char octet = (unsigned char)*text;

        (void)fputc(octet < 0x80 && isprint(octet) && octet != '"' && octet != '\\' ? octet : ' ', out);
    }
    (void)fputc('"', out);
}

static void print_member(const struct session_member *member, FILE *out)
{
    (void)fprintf(out, "%s = ", member->name);
    if (member->kind == SESSION_WORD)
        print_text(member->word, out);
    else if (member->kind == SESSION_FLAG)
        (void)fputs(member->number != 0 ? "true" : "false", out);
    else if (member->number >= 0 && member->number < 0x100000)
        (void)fprintf(out, "%" PRId64, member->number);
    else if (member->number < 0 && member->number > -0x100000)
        (void)fprintf(out, "%" PRId64, member->number);
    else
        (void)fprintf(out, "0x%" PRIx64, (uint64_t)member->number);
}

/* The members between `before` and what the caller writes after them; `first`: nothing stands before them. */
static void print_members(const struct session_members *members, bool first, FILE *out)
{
    for (size_t i = 0; i < members->count; i++) {
        (void)fputs(first && i == 0 ? " " : ", ", out);
        print_member(&members->at[i], out);
    }
}

static void print_table(const char *name, const struct session_members *members, bool first, FILE *out)
{
    (void)fprintf(out, "%s%s = {", first ? " " : ", ", name);
    print_members(members, true, out);
    (void)fputs(" }", out);
}

static void print_wrong(const struct session *session, const struct session_wrong *wrong, bool first, FILE *out)
{
    if (!wrong->present)
        return;
    (void)fprintf(out, "%swrong = {", first ? " " : ", ");
    print_members(&wrong->what, true, out);
    if (wrong->frame.count != 0)
        print_table(session_layer(session)->frame, &wrong->frame, wrong->what.count == 0, out);
    (void)fputs(" }", out);
}

static void print_open(const struct session *session, FILE *out)
{
    (void)fputs("      open = { own = {", out);
    print_members(&session->own, true, out);
    if (session->word.count != 0)
        print_table("enhanced", &session->word, session->own.count == 0, out);
    (void)fputs(" }", out);
    print_table("device", &session->device, false, out);
    print_members(&session->open, false, out);
    print_wrong(session, &session->wrong_start, false, out);
    (void)fputs(" },\n", out);
}

static void print_regions(const struct session *session, FILE *out)
{
    if (session->region_count == 0)
        return;
    (void)fputs("      regions = {", out);
    for (size_t i = 0; i < session->region_count; i++) {
        const struct session_region *region = &session->regions[i];

        (void)fputs(i == 0 ? " {" : ", {", out);
        print_members(&region->members, true, out);
        if (region->access != NULL)
            (void)fprintf(out, "%saccess = %s", region->members.count == 0 ? " " : ", ", region->access);
        (void)fputs(" }", out);
    }
    (void)fputs(" },\n", out);
}

static void print_steps(const struct session *session, FILE *out)
{
    for (size_t i = 0; i < session->step_count; i++) {
        const struct session_step *step = &session->steps[i];

        (void)fprintf(out, "      { \"%s\"", step->name);
        print_members(&step->members, false, out);
        print_wrong(session, &step->wrong, false, out);
        (void)fputs(" },\n", out);
    }
}

static void print_reactions(const struct session *session, FILE *out)
{
    if (session->reaction_count == 0)
        return;
    (void)fputs("      reactions = {", out);
    for (size_t i = 0; i < session->reaction_count; i++)
        (void)fprintf(out, "%s \"%s\"", i == 0 ? "" : ",", session->reactions[i]);
    (void)fputs(" },\n", out);
    if (session->beyond)
        (void)fputs("      beyond = true,\n", out);
    if (session->untouched)
        (void)fputs("      untouched = true,\n", out);
}

void session_print(const struct session *session, const char *id, const char *purpose, FILE *out)
{
    char own[SESSION_ID_OCTETS];

    (void)fprintf(out,
                  "check {\n  id = \"%s\",\n  role = \"%s\",\n  purpose = ", id != NULL ? id : session_id(session, own),
                  session->initiator ? "initiator" : "responder");
    print_text(purpose, out);
    if (session->sctp != IWARP_SCTP_UNDECIDED) /* "any": what the device serves is learned before */
        (void)fputs(",\n  llp = \"any\"", out);
    if (session_is_wrong(session))
        (void)fputs(",\n  destructive = true", out);
    (void)fputs(",\n  run = function(t)\n    t:follow {\n", out);
    if (session->sctp != IWARP_SCTP_UNDECIDED)
        (void)fprintf(out, "      over = \"%s\",\n", session_layer(session)->llp);
    print_open(session, out);
    print_regions(session, out);
    print_steps(session, out);
    if (session->atomics)
        (void)fputs("      atomics = true,\n", out);
    print_reactions(session, out);
    if (session->ends != NULL)
        (void)fprintf(out, "      ends = \"%s\",\n", session->ends);
    (void)fputs("    }\n  end,\n}\n", out);
}

int session_script(const struct session *sessions, size_t count, char **text, size_t *octets,
                   struct iwarp_sentence *error)
{
    FILE *out = text_stream_open(text, octets);

    for (size_t i = 0; out != NULL && i < count; i++)
        session_print(&sessions[i], NULL, "a session that was drawn", out);
    if (out == NULL || !text_stream_close(out, text))
        return iwarp_sentence_set(error, "out of memory for sessions");
    return 0;
}
