/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading (merge.c), grouping (merge_group.c) and writing (merge_write.c) share. */
#ifndef REPORTS_MERGE_INTERNAL_H
#define REPORTS_MERGE_INTERNAL_H

#include "reports/results/difference.h"
#include "reports/merge/merge.h"
#include "base/hash.h"

/* One result's line as every merge has it: without what a merge adds, and with the evidence's first name. */
struct merge_line {
    char *text;
    char *source; /* the evidence as a path from here, NULL: none */
    enum verdict verdict;
};

/* All results of one key in one input, or the best such group of all inputs. */
struct merge_group {
    char *key;
    char *id;
    size_t place;             /* of the requirement in the catalogue; SIZE_MAX: not there */
    unsigned role;            /* role_slot() */
    struct merge_line *lines; /* sorted */
    size_t count, room;
    unsigned otherwise; /* 1 << verdict */
    bool pooled;        /* a rule in a run: */
    json_t *shares;     /* its parts, by name: [verdict, count] */
    UT_hash_handle hh;
};

/* One run, or one shard. */
struct merge_part {
    char *name;
    bool finished;
    struct run_summary summary; /* names of messages belong to merge->kept */
    UT_hash_handle hh;
};

struct merge {
    const struct catalogue *catalogue;
    struct merge_group *groups;
    struct merge_part *parts;
    json_t *info_object; /* the first run line */
    struct run_info info;
    char *first;                        /* the file that it is from */
    json_t *kept;                       /* objects that strings are borrowed from */
    json_t *captures;                   /* lines of captures, by file */
    json_t *services;                   /* lines of what devices serve, by their text */
    json_t *ends;                       /* lines of why flows ended, by their text */
    json_t *differences;                /* from what an audit was to find, by their text */
    struct run_expectation expectation; /* of the first part that has one; its strings belong to `kept` */
    json_t *consoles;                   /* what devices said at their end, as members */
    unsigned of;                        /* shards; 0: not shared out */
};

/* How much a verdict says: what is decided before what is not, the worse before the better. */
int merge_weight(enum verdict verdict);

/* The verdict of a group: the worst of its lines; of a pooled one of its shares. */
enum verdict merge_verdict(const struct merge_group *group);

/* An evidence's name without the digest that a merge may have put into it; malloc'd, NULL without memory. */
char *merge_first_name(const char *path);

/* The line as every merge has it, of a result that was read in the folder `dir`. -1 without memory. */
int merge_line_make(struct merge_line *line, const struct merge_group *group, const struct result *result,
                    json_t *object, const char *dir);
void merge_line_free(struct merge_line *line);
/* For qsort(): the worse first, then by octets. */
int merge_line_order(const void *a, const void *b);

/* Takes the line over. -1 without memory. */
int merge_group_append(struct merge_group *group, const struct merge_line *line);
/* Joins `other` to `group`, which has the same key; `other` is used up. -1 without memory. */
int merge_group_join(struct merge_group *group, struct merge_group *other);
void merge_group_free(struct merge_group *group);
/* A table of groups and all in it. */
void merge_groups_free(struct merge_group *groups);

/* One part's share in a rule's result: of two of the same part the worse, then the larger. -1 without memory. */
int merge_share_add(struct merge_group *group, const char *part, const char *verdict_text, json_int_t count);
/* Adds the shares of a merge before this one; *added is set when there is one that says something. */
int merge_shares_add(struct merge_group *group, const json_t *shares, bool *added);

/* A part and what it saw; `summary` NULL: it did not come to its end. -1 without memory. */
int merge_part_add(struct merge *merge, const char *name, const struct run_summary *summary);

/* The parts of a merge, as its run line has them. */
int merge_parts_add(struct merge *merge, json_t *parts);

/* What the audits of all parts were to find, and of it what each found as expected; differences are not counted. */
struct run_expectation merge_expectation(const struct merge *merge);

/* True: another part found the capture of this missing expectation under another name. */
bool merge_is_renamed(const struct merge *merge, const struct difference *missing);

int merge_part_order(const struct merge_part *a, const struct merge_part *b);

/* Adds `from` to `to`, both counts of verdicts left alone. */
void merge_add_traffic(struct run_summary *to, const struct run_summary *from);

#endif
