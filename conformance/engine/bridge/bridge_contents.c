/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether both ends hold what was sent: a requirement of its own for each connection that the command has made. */
#include <inttypes.h>
#include <stdio.h>

#include "conformance/engine/bridge/bridge_internal.h"

/* "CONTENTS-3" */
static const char *id_of(size_t index, char text[BRIDGE_ID_OCTETS])
{
    (void)snprintf(text, BRIDGE_ID_OCTETS, "CONTENTS-%zu", index + 1);
    return text;
}

void bridge_contents_rows(const struct bridge *bridge, FILE *out)
{
    char id[BRIDGE_ID_OCTETS];
    struct iwarp_sentence text;

    for (size_t i = 0; i < bridge->traffic.count; i++) {
        (void)iwarp_sentence_set(&text, "stream %zu: what is delivered and placed at both ends is what was sent",
                                 i + 1);
        bridge_verdict_row(id_of(i, id), text.text, out);
    }
}

/* What scripts did to a stream, as far as contents are concerned. */
struct effect {
    const struct bridge_impairment *impairment; /* the last one; NULL: none */
    bool unknown;                               /* other contents may be right */
    bool ends;                                  /* its end may be */
};

static struct effect effect_on(const struct bridge *bridge, uint64_t stream)
{
    struct effect effect = {NULL, false, false};

    for (size_t i = 0; bridge->script != NULL && i < bridge_script_count(bridge->script); i++) {
        const struct bridge_impairment *impairment = bridge_script_at(bridge->script, i);
        const struct bridge_expect *expect = &impairment->expect;

        if (impairment->applied == 0 || impairment->seen.stream != stream)
            continue;
        effect.impairment = impairment;
        effect.unknown |= impairment->seen.replaced || (bridge_expect_is_none(expect) && impairment->seen.changed);
        effect.ends |= impairment->seen.closed || bridge_expect_is_none(expect)
                           ? impairment->seen.changed || impairment->seen.closed
                           : expect->closes || expect->triple_count != 0;
    }
    return effect;
}

static enum verdict judge(const struct bridge_contents *contents, const struct effect *effect,
                          struct iwarp_sentence *actual)
{
    if (contents->undecided.text[0] != '\0') {
        *actual = contents->undecided;
        return VERDICT_INCONCLUSIVE;
    }
    *actual = contents->wrong.text[0] != '\0' ? contents->wrong : contents->seen;
    if (contents->wrong.text[0] != '\0')
        return VERDICT_FAIL;
    return contents->complete || effect->ends ? VERDICT_PASS : VERDICT_FAIL;
}

static void conclude(struct bridge *bridge, size_t index)
{
    const struct bridge_contents *contents = &bridge->traffic.contents[index];
    struct effect effect = effect_on(bridge, index + 1);
    char id[BRIDGE_ID_OCTETS];
    struct iwarp_sentence actual = {"the connection was not made"}, allowed;
    enum verdict verdict = VERDICT_INCONCLUSIVE;
    struct result result = {.id = id_of(index, id), .by = "check", .actual = actual.text, .expected = allowed.text};

    if (effect.unknown)
        return; /* which contents are right, the script alone knows */
    if (index < bridge->traffic.done)
        verdict = judge(contents, &effect, &actual);
    (void)iwarp_sentence_set(&allowed, "%s",
                             effect.ends ? "what comes before the stream's end is as it went"
                                         : "all comes as it went, and the stream ends in order");
    result.verdict = verdict;
    result.purpose = effect.impairment != NULL ? effect.impairment->name : "contents as they went";
    if (verdict != VERDICT_PASS)
        result.message = verdict == VERDICT_FAIL ? "an end holds other contents than were sent" : actual.text;
    bridge_verdict_add(bridge, &result);
    if (index < bridge->traffic.done && (verdict != VERDICT_PASS || bridge->options->all))
        bridge_note(bridge, false, "%-4s  contents of stream %zu%s%s: %s", verdict_name(verdict), index + 1,
                    effect.impairment != NULL ? ", " : "", effect.impairment != NULL ? effect.impairment->name : "",
                    actual.text);
}

bool bridge_contents_verdicts(struct bridge *bridge)
{
    const struct bridge_traffic *traffic = &bridge->traffic;

    if (traffic->count == 0)
        return true;
    for (size_t i = 0; i < traffic->count; i++)
        conclude(bridge, i);
    bridge_note(bridge, false, "%zu of %zu connections were made, and contents compared at both ends", traffic->done,
                traffic->count);
    if (!traffic->whole)
        bridge_note(bridge, true, "the traffic did not come to its end: %s",
                    traffic->lost.text[0] != '\0' ? traffic->lost.text : "it was stopped");
    return traffic->whole;
}
