/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judges captures: file -> decoder -> rules -> results. Memory is bounded for files of any size: results of a flow are
 * delivered at the flow's end; findings that get a ladder are delivered after the file's end and a second pass.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_JUDGE_H
#define CONFORMANCE_ENGINE_AUDIT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/capture/capture_ring.h"
#include "conformance/flow/event/flow.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reports/results/end_line.h"
#include "reports/results/result.h"
#include "base/sentence.h"

struct audit_judge; /* opaque */
struct lua_rules;

struct audit_judge_config {
    const struct catalogue *catalogue;
    const struct selection *selection;
    bool ladders; /* second pass over files with findings, for result.steps */
    /* One requirement that one flow exercised. Strings and steps are valid during the call. */
    void (*result)(void *user, const struct result *result, const struct requirement *requirement);
    void (*end)(void *user, const struct end_line *line); /* why a flow ended, likewise; may be NULL */
    void (*results_end)(void *user); /* no more results of this flow, or of this file; may be NULL */
    void *user;
    void (*reading)(void *user, uint64_t frames); /* so many frames of a long file are read; may be NULL */
    size_t memory;                                /* struct flow_config's; 0: the default */
    const struct capture_filter *filter;          /* frames that are judged; NULL: all */
    struct lua_rules *rules;                      /* of somebody's own, which `catalogue` has, too; NULL: none */
};

/* A copy of *config is kept; what it points to outlives the judge. NULL without memory. */
struct audit_judge *audit_judge_create(const struct audit_judge_config *config);
void audit_judge_free(struct audit_judge *judge); /* NULL is allowed */

enum audit_file {
    AUDIT_FILE_WHOLE,
    AUDIT_FILE_DAMAGED, /* judged up to where it breaks off; the sentence says where */
    AUDIT_FILE_FOREIGN, /* no capture that can be read; the sentence says why */
};

/*
 * Judges the capture at `path`; the results name it by this path. If `ring` is not NULL, judges its files as one
 * capture: a result names the file that has its frame, and the frame's number in that file.
 */
enum audit_file audit_judge_file(struct audit_judge *judge, const char *path, struct capture_ring *ring,
                                 struct iwarp_sentence *error);

/* Of all files so far. */
const struct flow_totals *audit_judge_totals(const struct audit_judge *judge);

/* What became of the frames and octets of the last file; nothing for one that could not be read. */
const struct flow_account *audit_judge_account(const struct audit_judge *judge);

#endif
