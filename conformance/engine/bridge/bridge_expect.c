/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_expect.h"

#include <stdio.h>
#include <string.h>

enum { DESCRIPTION = 120 };

bool bridge_expect_add(struct bridge_expect *expect, const char *name)
{
    const struct terminate_error *error;

    if (strcmp(name, "survives") == 0)
        return expect->survives = true;
    if (strcmp(name, "closes") == 0)
        return expect->closes = true;
    error = terminate_error_named(name);
    if (error == NULL || expect->triple_count == BRIDGE_TRIPLES_MOST)
        return false;
    expect->triples[expect->triple_count++] = error->triple;
    return true;
}

wire_result bridge_expect_meant(wire_result triple)
{
    return (triple & ~(wire_result)0xFF00) | (triple & 0xF00) << 4 | (triple & 0xF000) >> 4;
}

static bool allows(const struct bridge_expect *expect, wire_result triple)
{
    for (size_t i = 0; i < expect->triple_count; i++)
        if (expect->triples[i] == triple)
            return true;
    return false;
}

static enum verdict judge_terminate(const struct bridge_expect *expect, const struct bridge_seen *seen,
                                    struct iwarp_sentence *actual)
{
    char text[DESCRIPTION];

    (void)iwarp_sentence_set(actual, "Terminate %s", iwarp_terminate_describe(seen->triple, text, sizeof(text)));
    return allows(expect, seen->triple) ? VERDICT_PASS : VERDICT_FAIL;
}

enum verdict bridge_expect_judge(const struct bridge_expect *expect, const struct bridge_seen *seen,
                                 struct iwarp_sentence *actual)
{
    unsigned receiver = 1 - seen->sender;
    char text[DESCRIPTION];

    if (seen->receiver_terminates)
        return judge_terminate(expect, seen, actual);
    if (seen->sender_terminates) {
        (void)iwarp_sentence_set(actual, "the unit's sender ended the stream: Terminate %s",
                                 iwarp_terminate_describe(seen->sender_triple, text, sizeof(text)));
        return expect->survives && !expect->closes && expect->triple_count == 0 ? VERDICT_FAIL : VERDICT_INCONCLUSIVE;
    }
    if (seen->reset[seen->sender] && !seen->reset[receiver]) {
        (void)iwarp_sentence_set(actual, "the unit's sender reset the connection");
        return VERDICT_INCONCLUSIVE;
    }
    if (seen->reset[receiver] || (seen->finished[receiver] && expect->closes)) {
        (void)iwarp_sentence_set(actual, "%s without a Terminate",
                                 seen->reset[receiver] ? (seen->sctp ? "ABORT" : "RST")
                                                       : (seen->sctp ? "the session's end" : "FIN"));
        return expect->closes ? VERDICT_PASS : VERDICT_FAIL;
    }
    if (seen->finished[0] && seen->finished[1]) {
        (void)iwarp_sentence_set(actual, "the stream went on, and ended in order");
        return expect->survives ? VERDICT_PASS : VERDICT_FAIL;
    }
    (void)iwarp_sentence_set(actual, "the stream has not ended yet");
    return VERDICT_INCONCLUSIVE;
}

const char *bridge_expect_text(const struct bridge_expect *expect, struct iwarp_sentence *text)
{
    char one[DESCRIPTION];
    size_t used = 0;

    text->text[0] = '\0';
    for (size_t i = 0; i < expect->triple_count && used + DESCRIPTION + 20 < sizeof(text->text); i++)
        used +=
            (size_t)snprintf(text->text + used, sizeof(text->text) - used, "%sTerminate %s", used == 0 ? "" : " or ",
                             iwarp_terminate_describe(expect->triples[i], one, sizeof(one)));
    if (expect->closes && used + 40 < sizeof(text->text))
        used += (size_t)snprintf(text->text + used, sizeof(text->text) - used, "%sa close without a Terminate",
                                 used == 0 ? "" : " or ");
    if (expect->survives && used + 40 < sizeof(text->text))
        (void)snprintf(text->text + used, sizeof(text->text) - used, "%sthe stream goes on, and ends in order",
                       used == 0 ? "" : " or ");
    return text->text;
}
