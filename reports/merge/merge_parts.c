/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging results: the parts that they are of, and the traffic that each saw. */
#include <stdlib.h>
#include <string.h>

#include "reports/results/account.h"
#include "reports/results/difference.h"
#include "reports/merge/merge_internal.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static const char *later(const char *a, const char *b)
{
    return !a || (b && strcmp(b, a) > 0) ? b : a;
}

static int message_order(const void *a, const void *b)
{
    const struct message_count *left = a, *right = b;

    return strcmp(left->name, right->name);
}

/* By name: the parts come in any order. */
static void sort_messages(struct run_summary *summary)
{
    qsort(summary->messages, summary->message_count, sizeof(summary->messages[0]), message_order);
}

void merge_add_traffic(struct run_summary *to, const struct run_summary *from)
{
    summary_add_traffic(to, from);
    to->ended = later(to->ended, from->ended);
    sort_messages(to);
}

/* One part was there twice: of each counter the larger. */
static void join_traffic(struct run_summary *to, const struct run_summary *from)
{
    summary_raise(to, from);
    to->frames = larger(to->frames, from->frames);
    to->fpdus = larger(to->fpdus, from->fpdus);
    to->ddp_segments = larger(to->ddp_segments, from->ddp_segments);
    to->crc_errors = larger(to->crc_errors, from->crc_errors);
    to->restarts = larger(to->restarts, from->restarts);
    account_join(&to->account, &from->account);
    to->allow_gaps = to->allow_gaps && from->allow_gaps;
    to->ended = later(to->ended, from->ended);
    to->not_exercised = larger(to->not_exercised, from->not_exercised);
    for (size_t i = 0; i < from->message_count; i++) {
        uint64_t known = 0, count = from->messages[i].count;

        for (size_t k = 0; k < to->message_count; k++)
            if (strcmp(to->messages[k].name, from->messages[i].name) == 0)
                known = to->messages[k].count;
        summary_add_messages(to, from->messages[i].name, count > known ? count - known : 0);
    }
}

int merge_part_order(const struct merge_part *a, const struct merge_part *b)
{
    return strcmp(a->name, b->name);
}

int merge_part_add(struct merge *merge, const char *name, const struct run_summary *summary)
{
    struct merge_part *part = NULL;

    HASH_FIND_STR(merge->parts, name, part);
    if (!part) {
        part = calloc(1, sizeof(*part));
        if (!part || !(part->name = strdup(name))) {
            free(part);
            return -1;
        }
        HASH_ADD_KEYPTR(hh, merge->parts, part->name, strlen(part->name), part);
        if (hash_lost(part)) {
            free(part->name);
            free(part);
            return -1;
        }
    }
    if (summary && part->finished)
        join_traffic(&part->summary, summary);
    else if (summary)
        part->summary = *summary;
    sort_messages(&part->summary);
    part->finished |= summary != NULL;
    return 0;
}

int merge_parts_add(struct merge *merge, json_t *parts)
{
    const char *name;
    json_t *part;
    int rc = 0;

    json_object_foreach(parts, name, part)
    {
        struct run_summary summary;
        json_t *object = json_object_get(part, "summary");
        bool finished = json_is_true(json_object_get(part, "finished")) && run_summary_from_json(object, &summary) == 0;

        rc |= merge_part_add(merge, name, finished ? &summary : NULL);
    }
    return rc;
}

struct run_expectation merge_expectation(const struct merge *merge)
{
    struct run_expectation sum = {
        .used = merge->expectation.used, .file = merge->expectation.file, .digest = merge->expectation.digest};

    for (const struct merge_part *part = merge->parts; part; part = part->hh.next) {
        const struct run_expectation *own = &part->summary.expectation;

        sum.expected += own->expected;
        sum.soon += own->soon;
        if (own->soon_day && (!sum.soon_day || strcmp(own->soon_day, sum.soon_day) < 0))
            sum.soon_day = own->soon_day;
    }
    return sum;
}

bool merge_is_renamed(const struct merge *merge, const struct difference *missing)
{
    const char *text;
    json_t *object;

    json_object_foreach(merge->differences, text, object)
    {
        struct difference other;

        if (difference_from_json(object, &other) == 0 && other.kind == DIFFERENCE_RENAMED &&
            other.was_line == missing->line)
            return true;
    }
    return false;
}
