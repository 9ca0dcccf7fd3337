/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of results in groups: all of one key, and which of two such groups counts. */
#include <stdlib.h>
#include <string.h>

#include "reports/merge/merge_internal.h"
#include "reports/results/result_line.h"

enum { DIGEST_DIGITS = 8 };

int merge_weight(enum verdict verdict)
{
    static const int weight[VERDICT_COUNT] = {
        [VERDICT_FAIL] = 6, [VERDICT_KNOWN] = 5,        [VERDICT_WARN] = 4, [VERDICT_AMBIGUOUS] = 3,
        [VERDICT_PASS] = 2, [VERDICT_INCONCLUSIVE] = 1, [VERDICT_SKIP] = 0,
    };
    return weight[verdict];
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return merge_weight(a) >= merge_weight(b) ? a : b;
}

enum verdict merge_verdict(const struct merge_group *group)
{
    enum verdict worst = VERDICT_SKIP;

    if (group->pooled) {
        const char *name;
        json_t *share;
        json_object_foreach(group->shares, name, share)
        {
            enum verdict verdict;
            if (verdict_from_name(json_string_value(json_array_get(share, 0)), &verdict) == 0)
                worst = worse(worst, verdict);
        }
        return worst;
    }
    for (size_t i = 0; i < group->count; i++)
        worst = worse(worst, group->lines[i].verdict);
    return worst;
}

/* ---- a line ------------------------------------------------------------------------------------------------------ */

/* "evidence/NAME" and nothing that leads elsewhere: results may come from anywhere. */
static bool is_evidence(const char *path)
{
    return path && strncmp(path, "evidence/", 9) == 0 && path[9] != '\0' && path[9] != '.' && !strchr(path + 9, '/');
}

/* Where a merge has put a digest into the name, "X.0123abcd.pcapng", the name without it; malloc'd. */
char *merge_first_name(const char *path)
{
    char *name = strdup(path);
    char *dot = name ? strrchr(name, '.') : NULL;

    if (dot && dot - name > DIGEST_DIGITS + 1 && dot[-DIGEST_DIGITS - 1] == '.' &&
        strspn(dot - DIGEST_DIGITS, "0123456789abcdef") == DIGEST_DIGITS)
        memmove(dot - DIGEST_DIGITS - 1, dot, strlen(dot) + 1);
    return name;
}

static int source_set(struct merge_line *line, json_t *object, const char *dir)
{
    const char *evidence = json_string_value(json_object_get(object, "evidence"));
    const char *file = json_string_value(json_object_get(object, "file"));
    char *name;
    int rc = 0;

    if (!is_evidence(evidence))
        return 0;
    name = merge_first_name(evidence);
    line->source = malloc(strlen(dir) + strlen(evidence) + 2);
    if (line->source && name) {
        sprintf(line->source, "%s/%s", dir, evidence);
        if (file && strcmp(file, evidence) == 0)
            rc = json_object_set_new(object, "file", json_string(name));
        rc |= json_object_set_new(object, "evidence", json_string(name));
    }
    rc = line->source && name ? rc : -1;
    free(name);
    return rc;
}

void merge_line_free(struct merge_line *line)
{
    free(line->text);
    free(line->source);
}

/* The line as every merge has it. -1 without memory. */
int merge_line_make(struct merge_line *line, const struct merge_group *group, const struct result *result,
                    json_t *object, const char *dir)
{
    json_t *copy = json_copy(object);
    int rc = copy ? 0 : -1;

    *line = (struct merge_line){.verdict = result->verdict};
    (void)json_object_del(copy, "type");
    (void)json_object_del(copy, "otherwise");
    (void)json_object_del(copy, "shares");
    rc |=
        json_object_set_new(copy, "verdict", json_string(verdict_name(result->verdict))); /* not as version 1 had it */
    if (group->pooled) {
        (void)json_object_del(copy, "count");
        if (result->unexpected) { /* it may have become a FAIL, with a message that says so */
            (void)json_object_del(copy, "message");
            line->verdict = VERDICT_PASS;
            rc |= json_object_set_new(copy, "verdict", json_string("PASS"));
        }
    }
    rc |= copy ? source_set(line, copy, dir) : -1;
    line->text = rc == 0 ? json_dumps(copy, RESULT_LINE_FLAGS) : NULL;
    json_decref(copy);
    if (!line->text) {
        merge_line_free(line);
        return -1;
    }
    return 0;
}

/* The worse first, then by octets. */
int merge_line_order(const void *a, const void *b)
{
    const struct merge_line *left = a, *right = b;
    int l = merge_weight(left->verdict), r = merge_weight(right->verdict);

    return l != r ? r - l : strcmp(left->text, right->text);
}

/* ---- a group ----------------------------------------------------------------------------------------------------- */

static void group_clear(struct merge_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        merge_line_free(&group->lines[i]);
    free(group->lines);
    group->lines = NULL;
    group->count = group->room = 0;
}

void merge_group_free(struct merge_group *group)
{
    group_clear(group);
    json_decref(group->shares);
    free(group->key);
    free(group->id);
    free(group);
}

void merge_groups_free(struct merge_group *groups)
{
    struct merge_group *group = groups, *next;

    HASH_CLEAR(hh, groups); /* the table goes, the list of its entries stays */
    for (; group; group = next) {
        next = group->hh.next;
        merge_group_free(group);
    }
}

int merge_group_append(struct merge_group *group, const struct merge_line *line)
{
    if (group->count == group->room) {
        size_t room = group->room ? 2 * group->room : 1;
        struct merge_line *grown = realloc(group->lines, room * sizeof(*grown));

        if (!grown)
            return -1;
        group->lines = grown;
        group->room = room;
    }
    group->lines[group->count++] = *line;
    return 0;
}

/* One part's share in a rule's result: of two of the same part the worse, then the larger. */
int merge_share_add(struct merge_group *group, const char *part, const char *verdict_text, json_int_t count)
{
    json_t *known = json_object_get(group->shares, part);
    enum verdict verdict, before;

    if (verdict_from_name(verdict_text, &verdict) != 0 || count < 0)
        return 0;
    if (known && verdict_from_name(json_string_value(json_array_get(known, 0)), &before) == 0) {
        if (merge_weight(before) > merge_weight(verdict) ||
            (before == verdict && json_integer_value(json_array_get(known, 1)) >= count))
            return 0;
    }
    return json_object_set_new(group->shares, part, json_pack("[s, I]", verdict_text, count));
}

/* Adds the shares of a merge before this one; *added is set when there is one that says something. */
int merge_shares_add(struct merge_group *group, const json_t *shares, bool *added)
{
    const char *part;
    json_t *share;
    int rc = 0;

    json_object_foreach((json_t *)shares, part, share)
    {
        const char *verdict = json_string_value(json_array_get(share, 0));
        json_int_t count = json_integer_value(json_array_get(share, 1));
        enum verdict known;

        *added |= verdict_from_name(verdict, &known) == 0 && count >= 0;
        rc |= merge_share_add(group, part, verdict, count);
    }
    return rc;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Which of two groups of one key counts: the worse; of equals the larger, then the first by octets. */
static int group_order(const struct merge_group *a, const struct merge_group *b)
{
    int left = merge_weight(merge_verdict(a)), right = merge_weight(merge_verdict(b));

    if (left != right)
        return right - left;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    for (size_t i = 0; i < a->count; i++) {
        int order = merge_line_order(&a->lines[i], &b->lines[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

static bool is_decided(enum verdict verdict)
{
    return verdict != VERDICT_INCONCLUSIVE && verdict != VERDICT_SKIP;
}

static void swap_lines(struct merge_group *a, struct merge_group *b)
{
    struct merge_line *lines = a->lines;
    size_t count = a->count, room = a->room;

    a->lines = b->lines;
    a->count = b->count;
    a->room = b->room;
    b->lines = lines;
    b->count = count;
    b->room = room;
}

/* Joins `other` to `group`; `other` is used up. */
int merge_group_join(struct merge_group *group, struct merge_group *other)
{
    enum verdict ours = merge_verdict(group), theirs = merge_verdict(other);
    bool added = false;
    int rc = 0;

    if (group->pooled) {
        rc = merge_shares_add(group, other->shares, &added);
        if (merge_line_order(&other->lines[0], &group->lines[0]) < 0)
            swap_lines(group, other);
    } else {
        group->otherwise |= other->otherwise;
        if (is_decided(ours) && is_decided(theirs) && ours != theirs)
            group->otherwise |= 1U << ours | 1U << theirs;
        if (group_order(other, group) < 0)
            swap_lines(group, other);
        group->otherwise &= ~(1U << merge_verdict(group));
    }
    merge_group_free(other);
    return rc;
}
