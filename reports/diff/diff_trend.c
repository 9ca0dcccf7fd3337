/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/diff/diff_trend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* A row by what it is of. */
struct place_of {
    size_t row;
    UT_hash_handle hh;
    char key[];
};

/* The place of that entry's row, made where it is new; NULL without memory. */
static struct place_of *find(struct place_of **places, const struct diff_entry *entry)
{
    size_t octets = strlen(entry->id) + strlen(entry->role) + (entry->file != NULL ? strlen(entry->file) : 0) + 3;
    struct place_of *fresh = calloc(1, sizeof(*fresh) + octets), *place = NULL;

    if (fresh == NULL)
        return NULL;
    (void)snprintf(fresh->key, octets, "%s %s %s", entry->id, entry->role, entry->file != NULL ? entry->file : "");
    HASH_FIND_STR(*places, fresh->key, place);
    if (place != NULL) {
        free(fresh);
        return place;
    }
    fresh->row = HASH_COUNT(*places);
    HASH_ADD_STR(*places, key, fresh);
    if (hash_lost(fresh)) {
        free(fresh);
        return NULL;
    }
    return fresh;
}

static struct diff_trend_side side_of(const struct diff_side *side)
{
    return (struct diff_trend_side){side->there, side->worst};
}

/* The row of something that first differs at `step`: until then it was as it is before it. */
static int begin(struct diff_trend_row *row, const struct diff_entry *entry, size_t step, size_t runs)
{
    row->entry = entry;
    row->sides = calloc(runs, sizeof(*row->sides));
    if (row->sides == NULL)
        return -1;
    for (size_t run = 0; run <= step; run++)
        row->sides[run] = side_of(&entry->before);
    return 0;
}

static int add(struct diff_trend *trend, struct place_of **places, const struct diff_entry *entry, size_t step)
{
    const struct place_of *place = find(places, entry);
    struct diff_trend_row *row;

    if (place == NULL)
        return -1;
    row = &trend->rows[place->row];
    if (place->row == trend->count) {
        if (begin(row, entry, step, trend->runs) != 0)
            return -1;
        trend->count++;
    }
    row->sides[step] =
        side_of(&entry->before); /* a SKIP may stand where there was no result: neither is a difference */
    for (size_t run = step + 1; run < trend->runs; run++) /* until it differs again */
        row->sides[run] = side_of(&entry->after);
    return 0;
}

int diff_trend_make(struct diff_trend *trend, const struct diff *steps, size_t count)
{
    struct place_of *places = NULL, *place, *next;
    size_t most = 0;
    int rc = 0;

    for (size_t step = 0; step < count; step++)
        most += steps[step].count;
    *trend = (struct diff_trend){.runs = count + 1, .rows = calloc(most + 1, sizeof(*trend->rows))};
    if (trend->rows == NULL)
        return -1;
    for (size_t step = 0; rc == 0 && step < count; step++)
        for (size_t i = 0; rc == 0 && i < steps[step].count; i++)
            rc = add(trend, &places, &steps[step].entries[i], step);
    place = places;
    HASH_CLEAR(hh, places); /* the table goes, the list of its entries stays */
    for (; place != NULL; place = next) {
        next = place->hh.next;
        free(place);
    }
    if (rc != 0)
        diff_trend_free(trend);
    return rc;
}

void diff_trend_free(struct diff_trend *trend)
{
    for (size_t i = 0; i < trend->count; i++)
        free(trend->rows[i].sides);
    free(trend->rows);
    *trend = (struct diff_trend){0};
}

const char *diff_trend_word(const struct diff_trend_side *side)
{
    return side->there ? verdict_name(side->worst) : "no result";
}

const struct report *diff_trend_run(const struct diff *steps, size_t run, const char **name)
{
    *name = run == 0 ? steps[0].names[0] : steps[run - 1].names[1];
    return run == 0 ? steps[0].before : steps[run - 1].after;
}

size_t diff_trend_verdicts(const struct diff *steps, size_t count, enum verdict verdicts[VERDICT_COUNT])
{
    size_t found = 0;
    const char *name;

    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        for (size_t run = 0; run <= count; run++)
            if (summary_of(&diff_trend_run(steps, run, &name)->summary, (enum verdict)verdict) != 0) {
                verdicts[found++] = (enum verdict)verdict;
                break;
            }
    return found;
}
