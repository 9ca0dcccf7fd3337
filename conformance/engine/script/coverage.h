/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What decides a requirement: the checks (scripts), rules and defects that cite it. The index is drawn from the code
 * that declares them, so nothing has to be registered twice.
 */
#ifndef CONFORMANCE_ENGINE_COVERAGE_H
#define CONFORMANCE_ENGINE_COVERAGE_H

#include <stddef.h>

struct sentence;
struct coverage_index;

struct coverage {
    const char *check_path; /* script of the first check, such as "conformance/scripts/mpa/7.1-request.lua"; or NULL */
    unsigned check_line;    /* line of its id in the script, from 1 */
    const char *rule_name;  /* C function of the rule; or NULL */
    const char *const *defects; /* ids of the defects that break the requirement, in file order */
    size_t defect_count;
};

enum citation_kind { CITATION_CHECK, CITATION_RULE, CITATION_DEFECT };

/* One place that names a requirement. */
struct citation {
    enum citation_kind kind;
    const char *requirement;
    const char *name; /* rule: its function; defect: its id; check: the script's path */
    const char *path; /* file that cites */
    unsigned line;    /* from 1; 0 for a rule */
};

/* A text that cites requirements. Its path has to outlive the index, its octets need not. */
struct coverage_source {
    const char *path;
    const void *octets;
    size_t size;
};

/*
 * Builds the index of everything compiled in. The caller frees it with coverage_free(). -1 with a sentence if a
 * script or the table of defects cannot be read.
 */
int coverage_load(struct coverage_index **index, struct sentence *error);

/* The same from scripts and tables of defects handed in, without rules. */
int coverage_build(struct coverage_index **index, const struct coverage_source *scripts, size_t script_count,
                   const struct coverage_source *defects, size_t defect_count, struct sentence *error);

void coverage_free(struct coverage_index *index);

/* What decides that requirement; all empty if nothing does. Strings belong to the index. */
void coverage_of(const struct coverage_index *index, const char *requirement_id, struct coverage *out);

/* Every citation, sorted by requirement. */
size_t coverage_citation_count(const struct coverage_index *index);
const struct citation *coverage_citation(const struct coverage_index *index, size_t i);

#endif
