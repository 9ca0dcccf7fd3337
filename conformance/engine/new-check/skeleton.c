/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/new-check/skeleton.h"

#include <stdbool.h>
#include <string.h>

enum { WIDTH = 110, LABEL = 12 };

/* What the tester does first: the three templates of conformance/templates. */
enum form { FORM_RESPONDER, FORM_INITIATOR, FORM_STARTUP };

static const struct {
    const char *template;
    const char *members; /* of the check, besides id, role and purpose */
    const char *run;     /* up to the stimulus */
    const char *stimulus, *outcome;
} forms[] = {
    [FORM_RESPONDER] =
        {
            "responder.lua",
            "",
            "    -- A stream in full operation (t:open takes options: docs/writing-checks.md).\n"
            "    local c = t:open()\n",
            "c:send(rdmap.send { data = \"12345678\" })",
            "c:expect_terminate(\"DDP_INVALID_QN\", { message = \"what was sent\" })",
        },
    [FORM_INITIATOR] =
        {
            "initiator.lua",
            "  requires = \"upper_tester\",\n",
            "    -- A stream on which the device may send; its ULP does what the upper tester says.\n"
            "    local c, stream = t:operating()\n",
            "t.dut:send { stream = stream, data = hex(\"12345678\") }",
            "c:expect(rdmap.send { data = \"12345678\" }, { message = \"the Send that was posted\" })",
        },
    [FORM_STARTUP] =
        {
            "startup.lua",
            "  sandwich = \"tcp\",\n",
            "    -- A connection on which the device waits for the tester's start-up frame.\n"
            "    local c = t:awaiting_start()\n",
            "c:send(t:start_frame { Rev = 255 })",
            "c:expect_refusal(\"what was sent\")",
        },
};

static bool is_startup(const struct requirement *requirement)
{
    return strcmp(requirement->source, "RFC6581") == 0 ||
           (strcmp(requirement->source, "RFC5044") == 0 && strncmp(requirement->section, "7.1", 3) == 0);
}

static enum form form_of(const struct requirement *requirement)
{
    if (is_startup(requirement))
        return FORM_STARTUP;
    if (strcmp(requirement->subject, "sender") == 0 || strcmp(requirement->subject, "data-source") == 0)
        return FORM_INITIATOR;
    return FORM_RESPONDER;
}

/* The device's MPA role. In atom.tsv initiator and responder are who asks for an atomic and who executes it. */
static const char *role_of(const struct requirement *requirement)
{
    bool mpa = strcmp(requirement->source, "RFC5044") == 0 || strcmp(requirement->source, "RFC6581") == 0;

    if (mpa && (strcmp(requirement->subject, "initiator") == 0 || strcmp(requirement->subject, "responder") == 0))
        return requirement->subject;
    return "both";
}

/* "-- label     text", wrapped. */
static void comment_write(FILE *out, const char *label, const char *text)
{
    size_t column = 3 + LABEL;

    fprintf(out, "-- %-*s", LABEL, label);
    for (bool first = true; *text != '\0'; first = false) {
        size_t word = strcspn(text, " ");

        if (!first && column + 1 + word > WIDTH) {
            fprintf(out, "\n-- %-*s", LABEL, "");
            column = 3 + LABEL;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* A string of Lua's. The catalogue holds printable ASCII. */
static void string_write(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void head_write(FILE *out, const struct requirement *requirement, const struct coverage *coverage)
{
    fprintf(out, "-- %s, %s: %s section %s\n--\n", requirement->id, requirement_level_name(requirement->level),
            requirement->source, requirement->section);
    comment_write(out, "what", requirement->text);
    comment_write(out, "stimulus", requirement->stimulus);
    comment_write(out, "allowed", requirement->outcomes);
    if (requirement_is_ambiguous(requirement))
        comment_write(out, "ambiguous", requirement->ambiguity);
    comment_write(out, "capability", requirement->capability);
    comment_write(out, "must catch", requirement->defect);
    for (size_t i = 0; i < coverage->defect_count; i++)
        comment_write(out, i == 0 ? "defects" : "", coverage->defects[i]);
    if (coverage->check_path != NULL)
        comment_write(out, "has a check", coverage->check_path);
    if (coverage->rule_name != NULL)
        comment_write(out, "has a rule", coverage->rule_name);
}

void skeleton_write(FILE *out, const struct requirement *requirement, const struct coverage *coverage,
                    const char *command)
{
    enum form form = form_of(requirement);

    head_write(out, requirement, coverage);
    fprintf(
        out,
        "--\n-- A whole check of this form is conformance/templates/%s; docs/script-library.md lists all functions.\n",
        forms[form].template);
    fprintf(out, "-- Try it:  %s\n\n", command);
    fprintf(out,
            "check {\n  id = \"%s\",\n  role = \"%s\", -- of the device: \"responder\", \"initiator\" or \"both\"\n",
            requirement->id, role_of(requirement));
    fputs("  purpose = ", out);
    string_write(out, requirement->text);
    fprintf(out, ",\n%s  run = function(t)\n%s\n", forms[form].members, forms[form].run);
    fprintf(out, "    -- 1. The stimulus, such as:\n    -- %s\n\n", forms[form].stimulus);
    fprintf(out, "    -- 2. The outcomes that the text allows, such as:\n    -- %s\n\n", forms[form].outcome);
    fputs("    -- 3. Remove this line, when the two above are there. Until then the check has shown nothing.\n", out);
    fprintf(out,
            "    t:inconclusive(\"a skeleton: fill in the stimulus and the expected outcomes of %s, and remove this "
            "line\")\n  end,\n}\n",
            requirement->id);
}
