/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strverscmp */
#include "reports/results/known.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finding {
    UT_hash_handle hh;
    char name[];
};

void finding_set_free(struct finding_set *set)
{
    struct finding *finding = set->findings, *next;

    HASH_CLEAR(hh, set->findings); /* the table goes, the list of its entries stays */
    for (; finding; finding = next) {
        next = finding->hh.next;
        free(finding);
    }
}

const char *known_finding(const struct result *result)
{
    return result->finding ? result->finding : result->deviation ? result->deviation : result->id;
}

int summary_count_result(struct run_summary *summary, struct finding_set *set, const struct result *result)
{
    if (result->verdict == VERDICT_KNOWN) {
        const char *name = known_finding(result);
        struct finding *finding = NULL;

        HASH_FIND_STR(set->findings, name, finding);
        if (!finding) {
            finding = calloc(1, sizeof(*finding) + strlen(name) + 1);
            if (!finding)
                return -1;
            memcpy(finding->name, name, strlen(name) + 1);
            HASH_ADD_STR(set->findings, name, finding);
            if (hash_lost(finding)) {
                free(finding);
                return -1;
            }
            summary->known_findings++;
        }
    }
    summary_count_several(summary, result->verdict, result_results(result));
    return 0;
}

int known_finding_order(const char *a, const char *b)
{
    return strverscmp(a, b);
}

const char *known_counts(const struct run_summary *summary, char text[KNOWN_TEXT_OCTETS])
{
    (void)snprintf(text, KNOWN_TEXT_OCTETS, "%" PRIu64 " result%s of %" PRIu64 " finding%s", summary->known,
                   summary->known == 1 ? "" : "s", summary->known_findings, summary->known_findings == 1 ? "" : "s");
    return text;
}
