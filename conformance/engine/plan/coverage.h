/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What decides a requirement: the checks, rules and defects that cite it. The index asks those who know: the script
 * host which checks the scripts declare, the table of rules, and the list of defects. So nothing has to be registered
 * twice, and a script may be written in any way that Lua allows.
 */
#ifndef CONFORMANCE_ENGINE_COVERAGE_H
#define CONFORMANCE_ENGINE_COVERAGE_H

#include <stddef.h>

struct coverage_index;
struct defect_list;
struct script_host;
struct iwarp_sentence;

struct coverage {
    const char *check_path; /* script of the first check, such as "conformance/scripts/mpa/7.1-request.lua"; or NULL */
    unsigned check_line;    /* line of its `check` in the script, from 1 */
    const char *rule_name;  /* C function of the rule; or NULL */
    const char *const *defects; /* ids of the defects that break the requirement, in the list's order */
    size_t defect_count;
};

enum citation_kind { CITATION_CHECK, CITATION_RULE, CITATION_DEFECT };

/* One place that names a requirement. */
struct citation {
    enum citation_kind kind;
    const char *requirement;
    const char *name; /* rule: its function; defect: its id; check: the script's path */
    unsigned line;    /* check: of its `check` in the script; defect: of its row in the table; from 1. Rule: 0 */
    size_t order;     /* among all citations, as they were found */
};

/*
 * Builds the index of everything compiled in. The caller frees it with coverage_free(). -1 with a sentence if a script
 * does not load, the table of defects cannot be read, or memory is short.
 */
int coverage_load(struct coverage_index **index, struct iwarp_sentence *error);

/* The same from the checks of a host and from a list of defects, without rules. Both are borrowed during the call. */
int coverage_build(struct coverage_index **index, const struct script_host *host, const struct defect_list *defects,
                   struct iwarp_sentence *error);

void coverage_free(struct coverage_index *index);

/* What decides that requirement; all empty if nothing does. Strings belong to the index. */
void coverage_of(const struct coverage_index *index, const char *requirement_id, struct coverage *out);

/* Every citation, sorted by requirement. */
size_t coverage_citation_count(const struct coverage_index *index);
const struct citation *coverage_citation(const struct coverage_index *index, size_t i);

#endif
