/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between the results of two runs (or audits) of the same kind, an older and a newer one: one difference
 * for a requirement and role, and for an audit for a capture, too. The worst verdict of each side is compared, and
 * where both have the same one that is not PASS, what came.
 */
#ifndef REPORTS_DIFF_H
#define REPORTS_DIFF_H

#include "reports/file/place.h"
#include "reports/results/report.h"

enum diff_kind {
    DIFF_NEW,      /* FAIL, KNOWN, WARN or INCONCLUSIVE now, and none of these before; FAIL now, and not before */
    DIFF_CHANGED,  /* decided both times, and neither of the others: another verdict, or another outcome or reading */
    DIFF_VANISHED, /* decided before, and not now: no result, or SKIP. What failed before need not be fixed */
    DIFF_FIXED,    /* FAIL, KNOWN or WARN before, PASS or AMBIGUOUS now */
    DIFF_ADDED,    /* PASS or AMBIGUOUS now, and not decided before: no result, SKIP or INCONCLUSIVE */
    DIFF_KINDS
};

/* One side of a difference. Strings are the report's. */
struct diff_side {
    bool there;                  /* there is a result */
    enum verdict worst;          /* of `there` */
    const struct result *result; /* the first kept of that verdict; NULL: none was kept (PASS) */
    bool why;                    /* the other side expected and got the same: what differs is the message */
};

struct diff_entry {
    enum diff_kind kind;
    const char *id, *role; /* role "" where the results name none */
    const char *file;      /* of an audit: the capture; NULL */
    struct diff_side before, after;
};

/*
 * A reason of the account for which other octets, frames or items are not judged, or missing, than before: of audits.
 */
struct diff_account {
    enum flow_row row;
    struct flow_count before, after;
};

struct diff {
    const struct report *before, *after; /* borrowed */
    const char *names[2];                /* how messages call the two; borrowed */
    const char *subject;                 /* of a site's page: what the two are versions of; NULL. Borrowed */
    struct diff_entry *entries;          /* by kind; in a kind by the newer report's order, then the older's */
    size_t count;
    size_t kinds[DIFF_KINDS]; /* how many of each */
    size_t same;              /* decided both times, with the same outcome */
    struct diff_account accounts[FLOW_ROWS];
    size_t account_count;
    bool judges_less;     /* for one of these reasons there is more than before */
    const char *pages[2]; /* of the two runs' own pages, as links; NULL: none. Borrowed */
};

/* "new", "changed", "vanished", "fixed", "added" */
const char *diff_kind_name(enum diff_kind kind);

/* The kind of that name, or -1. */
int diff_kind_find(const char *name, size_t octets);

/* Compares. -1 with the sentence set: no memory, or a run and an audit; nothing to free then. */
int diff_make(struct diff *diff, const struct report *before, const struct report *after, struct iwarp_sentence *error);
void diff_free(struct diff *diff);

/*
 * "expected X; got Y", with the message behind it if that is what differs; malloc'd, NULL without a kept result or
 * memory.
 */
char *diff_side_sentence(const struct diff_side *side);

/* A side in words: "FAIL: expected X; got Y", "PASS", "no result"; malloc'd, NULL without memory. */
char *diff_side_text(const struct diff_side *side);

/*
 * The steps from each run to the next, `count` of them: text for people, a summary in Markdown, a line of JSON for each
 * difference and one for each step, and a page. Of three runs or more the trend (diff_trend.h) follows. 0, or -1 with
 * the sentence set.
 */
int diff_write_text(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error);
int diff_write_markdown(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error);
int diff_write_jsonl(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error);
int diff_write_page(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error);

#endif
