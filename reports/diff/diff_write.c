/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences as text, as Markdown and as lines of JSON (diff.h); diff_page.c has the page. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/results/account.h"
#include "reports/diff/diff.h"
#include "reports/diff/diff_trend.h"
#include "reports/writers/markdown.h"
#include "reports/file/save.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

enum { ROWS_MAX = 500 }; /* of a table in Markdown */

/* How a format writes a step, and after the last one the trend. */
struct writer {
    void (*step)(FILE *out, const struct diff *step);
    void (*trend)(FILE *out, const struct diff_trend *trend, const struct diff *steps);
};

/* Writes each step into memory, and the trend where there is one, and that to `to`. */
static int write_steps(const struct diff *steps, size_t count, const struct writer *writer, const struct place *to,
                       struct iwarp_sentence *error)
{
    struct diff_trend trend = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    int rc;

    if (out == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    for (size_t i = 0; i < count; i++)
        writer->step(out, &steps[i]);
    if (count >= DIFF_TREND_LEAST && diff_trend_make(&trend, steps, count) != 0) {
        (void)text_stream_close(out, &text);
        free(text);
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    }
    if (count >= DIFF_TREND_LEAST)
        writer->trend(out, &trend, steps);
    diff_trend_free(&trend);
    rc = text_stream_close(out, &text) ? save_file(to, text, size, error)
                                       : iwarp_sentence_set(error, "%s: out of memory", to->path);
    free(text);
    return rc;
}

static void write_clean(FILE *out, const char *text)
{
    char *clean = text_clean_line(text);

    fputs(clean != NULL ? clean : "", out);
    free(clean);
}

static void write_side(FILE *out, const struct diff_side *side, void (*write)(FILE *out, const char *text))
{
    char *text = diff_side_text(side);

    write(out, text != NULL ? text : "");
    free(text);
}

static void write_counts(FILE *out, const struct diff *step)
{
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        fprintf(out, "%zu %s, ", step->kinds[kind], diff_kind_name((enum diff_kind)kind));
    fprintf(out, "%zu the same", step->same);
}

static const char *account_count(enum flow_row row, const struct flow_count *count, char text[ACCOUNT_TEXT])
{
    return count->frames + count->octets + count->items != 0 ? account_count_text(row, count, text) : "nothing";
}

/*
 * --- Text ----------------------------------------------------------------------------------------------------------
 */

static void write_text(FILE *out, const struct diff *step)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct diff_entry *entry = &step->entries[i];

        fprintf(out, "%-8s  ", diff_kind_name(entry->kind));
        write_clean(out, entry->id);
        fputs("  ", out);
        write_clean(out, entry->role);
        if (entry->file != NULL) {
            fputs("  ", out);
            write_clean(out, entry->file);
        }
        fputs("\n      before    ", out);
        write_side(out, &entry->before, write_clean);
        fputs("\n      after     ", out);
        write_side(out, &entry->after, write_clean);
        fputc('\n', out);
    }
    for (size_t i = 0; i < step->account_count; i++) {
        const struct diff_account *account = &step->accounts[i];
        char before[ACCOUNT_TEXT], after[ACCOUNT_TEXT];

        fprintf(out, "not judged  %s\n      before    %s\n      after     %s\n", flow_account_row(account->row)->name,
                account_count(account->row, &account->before, before),
                account_count(account->row, &account->after, after));
    }
    write_clean(out, step->names[0]);
    fputs(" -> ", out);
    write_clean(out, step->names[1]);
    fputs(": ", out);
    write_counts(out, step);
    fputc('\n', out);
}

static uint64_t results_of(const struct diff *steps, size_t run, enum verdict verdict)
{
    const char *name;

    return summary_of(&diff_trend_run(steps, run, &name)->summary, verdict);
}

static void write_text_trend(FILE *out, const struct diff_trend *trend, const struct diff *steps)
{
    enum verdict verdicts[VERDICT_COUNT];
    size_t count = diff_trend_verdicts(steps, trend->runs - 1, verdicts);

    for (size_t i = 0; i < count; i++) {
        fprintf(out, "trend     %s", verdict_name(verdicts[i]));
        for (size_t run = 0; run < trend->runs; run++)
            fprintf(out, "%s%llu", run == 0 ? ": " : " -> ", (unsigned long long)results_of(steps, run, verdicts[i]));
        fputc('\n', out);
    }
    for (size_t i = 0; i < trend->count; i++) {
        const struct diff_trend_row *row = &trend->rows[i];

        fputs("trend     ", out);
        write_clean(out, row->entry->id);
        fputs("  ", out);
        write_clean(out, row->entry->role);
        if (row->entry->file != NULL) {
            fputs("  ", out);
            write_clean(out, row->entry->file);
        }
        for (size_t run = 0; run < trend->runs; run++)
            fprintf(out, "%s%s", run == 0 ? ": " : " -> ", diff_trend_word(&row->sides[run]));
        fputc('\n', out);
    }
}

int diff_write_text(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error)
{
    return write_steps(steps, count, &(struct writer){write_text, write_text_trend}, to, error);
}

/*
 * --- Markdown ------------------------------------------------------------------------------------------------------
 */

static void write_markdown(FILE *out, const struct diff *step)
{
    fputs("## ", out);
    markdown_text(out, step->names[0]);
    fputs(" → ", out);
    markdown_text(out, step->names[1]);
    fputs("\n\n", out);
    write_counts(out, step);
    fputs("\n", out);
    if (step->count != 0)
        fputs("\n| | requirement | role | before | after |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < step->count && i < ROWS_MAX; i++) {
        const struct diff_entry *entry = &step->entries[i];

        fprintf(out, "| %s | ", diff_kind_name(entry->kind));
        markdown_text(out, entry->id);
        if (entry->file != NULL) {
            fputs(" in ", out);
            markdown_text(out, entry->file);
        }
        fputs(" | ", out);
        markdown_text(out, entry->role);
        fputs(" | ", out);
        write_side(out, &entry->before, markdown_text);
        fputs(" | ", out);
        write_side(out, &entry->after, markdown_text);
        fputs(" |\n", out);
    }
    if (step->count > ROWS_MAX)
        fprintf(out, "\n%zu more differences.\n", step->count - ROWS_MAX);
    if (step->account_count != 0)
        fputs("\n| not judged | before | after |\n|---|---|---|\n", out);
    for (size_t i = 0; i < step->account_count; i++) {
        const struct diff_account *account = &step->accounts[i];
        char before[ACCOUNT_TEXT], after[ACCOUNT_TEXT];

        fprintf(out, "| %s | %s | %s |\n", flow_account_row(account->row)->name,
                account_count(account->row, &account->before, before),
                account_count(account->row, &account->after, after));
    }
    fputc('\n', out);
}

static void write_markdown_trend(FILE *out, const struct diff_trend *trend, const struct diff *steps)
{
    enum verdict verdicts[VERDICT_COUNT];
    size_t count = diff_trend_verdicts(steps, trend->runs - 1, verdicts);

    fputs("## Trend\n\n| | |", out);
    for (size_t run = 0; run < trend->runs; run++) {
        const char *name;

        (void)diff_trend_run(steps, run, &name);
        fputc(' ', out);
        markdown_text(out, name);
        fputs(" |", out);
    }
    fputs("\n|---|---|", out);
    for (size_t run = 0; run < trend->runs; run++)
        fputs("---|", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "\n| results | %s |", verdict_name(verdicts[i]));
        for (size_t run = 0; run < trend->runs; run++)
            fprintf(out, " %llu |", (unsigned long long)results_of(steps, run, verdicts[i]));
    }
    for (size_t i = 0; i < trend->count && i < ROWS_MAX; i++) {
        const struct diff_trend_row *row = &trend->rows[i];

        fputs("\n| ", out);
        markdown_text(out, row->entry->id);
        if (row->entry->file != NULL) {
            fputs(" in ", out);
            markdown_text(out, row->entry->file);
        }
        fputs(" | ", out);
        markdown_text(out, row->entry->role);
        fputs(" |", out);
        for (size_t run = 0; run < trend->runs; run++)
            fprintf(out, " %s |", diff_trend_word(&row->sides[run]));
    }
    fputc('\n', out);
    if (trend->count > ROWS_MAX)
        fprintf(out, "\n%zu more.\n", trend->count - ROWS_MAX);
}

int diff_write_markdown(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error)
{
    return write_steps(steps, count, &(struct writer){write_markdown, write_markdown_trend}, to, error);
}

/*
 * --- Lines of JSON ---------------------------------------------------------------------------------------------------
 */

static json_t *text_json(const char *text)
{
    char *clean = text != NULL ? text_clean(text) : NULL;
    json_t *json = clean != NULL ? json_string(clean) : json_null();

    free(clean);
    return json;
}

static json_t *side_json(const struct diff_side *side)
{
    const struct result *result = side->result;

    if (!side->there)
        return json_null();
    return json_pack("{s:s, s:o*, s:o*, s:o*, s:o*}", "verdict", verdict_name(side->worst), "message",
                     result != NULL && result->message != NULL ? text_json(result->message) : NULL, "expected",
                     result != NULL && result->expected != NULL ? text_json(result->expected) : NULL, "actual",
                     result != NULL && result->actual != NULL ? text_json(result->actual) : NULL, "reading",
                     result != NULL && result->reading != NULL ? text_json(result->reading) : NULL);
}

static void write_line(FILE *out, json_t *line)
{
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;

    if (text != NULL)
        fprintf(out, "%s\n", text);
    free(text);
    json_decref(line);
}

static json_t *count_json(const struct flow_count *count)
{
    return json_pack("{s:I, s:I, s:I}", "frames", (json_int_t)count->frames, "octets", (json_int_t)count->octets,
                     "items", (json_int_t)count->items);
}

static void write_jsonl(FILE *out, const struct diff *step)
{
    json_t *counts = json_object();

    for (size_t i = 0; i < step->count; i++) {
        const struct diff_entry *entry = &step->entries[i];

        write_line(out, json_pack("{s:s, s:s, s:s, s:s, s:o*, s:o, s:o}", "type", "difference", "kind",
                                  diff_kind_name(entry->kind), "id", entry->id, "role", entry->role, "file",
                                  entry->file != NULL ? text_json(entry->file) : NULL, "before",
                                  side_json(&entry->before), "after", side_json(&entry->after)));
    }
    for (size_t i = 0; i < step->account_count; i++) {
        const struct diff_account *account = &step->accounts[i];

        write_line(out,
                   json_pack("{s:s, s:s, s:o, s:o}", "type", "account", "reason", flow_account_row(account->row)->name,
                             "before", count_json(&account->before), "after", count_json(&account->after)));
    }
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        (void)json_object_set_new(counts, diff_kind_name((enum diff_kind)kind),
                                  json_integer((json_int_t)step->kinds[kind]));
    write_line(out, json_pack("{s:s, s:o, s:o, s:o, s:I}", "type", "step", "before", text_json(step->names[0]), "after",
                              text_json(step->names[1]), "counts", counts, "same", (json_int_t)step->same));
}

static void write_jsonl_trend(FILE *out, const struct diff_trend *trend, const struct diff *steps)
{
    for (size_t run = 0; run < trend->runs; run++) {
        json_t *counts = json_object();
        const char *name;

        (void)diff_trend_run(steps, run, &name);
        for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
            (void)json_object_set_new(counts, verdict_name((enum verdict)verdict),
                                      json_integer((json_int_t)results_of(steps, run, (enum verdict)verdict)));
        write_line(out, json_pack("{s:s, s:o, s:o}", "type", "run", "name", text_json(name), "results", counts));
    }
    for (size_t i = 0; i < trend->count; i++) {
        const struct diff_trend_row *row = &trend->rows[i];
        json_t *verdicts = json_array();

        for (size_t run = 0; run < trend->runs; run++)
            (void)json_array_append_new(
                verdicts, row->sides[run].there ? json_string(verdict_name(row->sides[run].worst)) : json_null());
        write_line(out, json_pack("{s:s, s:s, s:s, s:o*, s:o}", "type", "trend", "id", row->entry->id, "role",
                                  row->entry->role, "file",
                                  row->entry->file != NULL ? text_json(row->entry->file) : NULL, "verdicts", verdicts));
    }
}

int diff_write_jsonl(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error)
{
    return write_steps(steps, count, &(struct writer){write_jsonl, write_jsonl_trend}, to, error);
}
