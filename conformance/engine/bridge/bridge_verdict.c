/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of impairments, where a script has said what is allowed: a requirement of its own for each. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text_stream.h"
#include "conformance/engine/bridge/bridge_internal.h"

/* "IMPAIRMENT-qn-unknown" */
static const char *id_of(const struct bridge_impairment *impairment, char text[BRIDGE_ID_OCTETS])
{
    (void)snprintf(text, BRIDGE_ID_OCTETS, "IMPAIRMENT-%s", impairment->name);
    return text;
}

/* A column has no tabs and no ends of lines. */
static void write_column(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        (void)fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
}

void bridge_verdict_row(const char *id, const char *text, FILE *out)
{
    (void)fprintf(out, "\n%s\timpairments\t-\t%s\tboth\t%s\tpassive\t", id, requirement_level_name(REQUIREMENT_MUST),
                  requirement_layer_name(REQUIREMENT_LAYER_DDP));
    write_column(out, text);
    (void)fputs("\t-\t-\talways\t-\t", out);
}

static void write_rows(const struct bridge *bridge, FILE *out)
{
    for (unsigned column = 0; column < REQUIREMENT_COLUMNS; column++)
        (void)fprintf(out, "%s%s", column == 0 ? "" : "\t", requirement_column_name((enum requirement_column)column));
    for (size_t i = 0; bridge->script != NULL && i < bridge_script_count(bridge->script); i++) {
        const struct bridge_impairment *impairment = bridge_script_at(bridge->script, i);
        char id[BRIDGE_ID_OCTETS];

        if (!bridge_expect_is_none(&impairment->expect))
            bridge_verdict_row(id_of(impairment, id),
                               impairment->purpose != NULL ? impairment->purpose : impairment->name, out);
    }
    bridge_contents_rows(bridge, out);
}

int bridge_verdict_rows(struct bridge *bridge, struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    int rc;

    bridge->selected = selection_count(&bridge->options->selection, bridge->catalogue);
    if (bridge->script == NULL && bridge->traffic.count == 0)
        return 0;
    out = text_stream_open(&text, &size);
    if (out == NULL)
        return iwarp_sentence_set(error, "out of memory for impairments");
    write_rows(bridge, out);
    if (!text_stream_close(out, &text))
        return iwarp_sentence_set(error, "out of memory for impairments");
    rc = catalogue_load_with(&bridge->rows, &(struct catalogue_source){"impairments", text, size}, error);
    free(text);
    if (rc == 0)
        bridge->catalogue = bridge->rows;
    return rc;
}

void bridge_verdict_add(struct bridge *bridge, const struct result *result)
{
    const struct requirement *row = catalogue_find(bridge->catalogue, result->id);

    if (row != NULL)
        bridge->exercised[row->index] = true;
    summary_count(&bridge->counted, result->verdict);
    bridge_append(bridge, result);
}

static void append(struct bridge *bridge, const struct bridge_impairment *impairment, enum verdict verdict,
                   const char *actual, const char *expected)
{
    char id[BRIDGE_ID_OCTETS];
    struct result result = {.id = id_of(impairment, id),
                            .verdict = verdict,
                            .by = "check",
                            .expected = expected,
                            .actual = actual,
                            .purpose = impairment->purpose};

    if (impairment->applied != 0) {
        result.file = bridge->sides[impairment->seen.sender].file;
        result.frame = impairment->seen.frame;
    }
    if (verdict != VERDICT_PASS)
        result.message = verdict == VERDICT_FAIL ? "the receiver of what was impaired did what is not allowed" : actual;
    bridge_verdict_add(bridge, &result);
}

/* How a Terminate is laid out is a requirement of its own, which a rule judges. */
static enum verdict judge(const struct bridge *bridge, const struct bridge_impairment *impairment,
                          struct iwarp_sentence *actual)
{
    struct bridge_seen seen = impairment->seen;

    if (bridge->traffic.pair.swapped[1 - seen.sender])
        seen.triple = bridge_expect_meant(seen.triple);
    if (bridge->traffic.pair.swapped[seen.sender])
        seen.sender_triple = bridge_expect_meant(seen.sender_triple);
    return bridge_expect_judge(&impairment->expect, &seen, actual);
}

void bridge_verdicts(struct bridge *bridge)
{
    for (size_t i = 0; bridge->script != NULL && i < bridge_script_count(bridge->script); i++) {
        const struct bridge_impairment *impairment = bridge_script_at(bridge->script, i);
        struct iwarp_sentence expected, actual = {"it was not applied"};
        enum verdict verdict = VERDICT_INCONCLUSIVE;

        if (bridge_expect_is_none(&impairment->expect))
            continue;
        if (impairment->applied != 0)
            verdict = judge(bridge, impairment, &actual);
        (void)bridge_expect_text(&impairment->expect, &expected);
        append(bridge, impairment, verdict, actual.text, expected.text);
        bridge_note(bridge, false, "%-4s  %s: %s%s%s", verdict_name(verdict), impairment->name, actual.text,
                    verdict == VERDICT_PASS ? "" : "; allowed: ", verdict == VERDICT_PASS ? "" : expected.text);
    }
}
