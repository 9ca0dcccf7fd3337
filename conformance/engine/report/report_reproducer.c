/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_reproducer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "conformance/engine/report/cmd_report.h"
#include "conformance/engine/reproducer/repro_cm.h"
#include "conformance/engine/reproducer/repro_write.h"
#include "reference-stack/program/complaint.h"
#include "reports/file/save.h"
#include "reports/file/whole_file.h"
#include "reports/results/results_log.h"
#include "reports/results/result.h"

static const size_t EVIDENCE_OCTETS_MAX = (size_t)256 << 20;

struct wanted {
    const char *id; /* "DDP-7.2-01", "DDP-7.2-01-responder" */
    json_t *found;  /* the result */
    bool by_rule;   /* and it is a rule's */
    bool seen;      /* there is one, but it did not fail */
    char tool[64];
    char **text; /* of the reproducer */
};

static bool is_wanted(const struct wanted *wanted, const struct result *result)
{
    size_t length = strlen(result->id);

    if (strncmp(wanted->id, result->id, length) != 0)
        return false;
    return wanted->id[length] == '\0' ||
           (wanted->id[length] == '-' && result->role != NULL && strcmp(wanted->id + length + 1, result->role) == 0);
}

static int on_run(void *user, const struct run_info *info, json_t *object)
{
    struct wanted *wanted = user;

    (void)object;
    (void)snprintf(wanted->tool, sizeof(wanted->tool), "%.60s", info->tool != NULL ? info->tool : "warpcheck");
    return 0;
}

/* The first failure of that id; what a check found goes before what a rule did. */
static int on_result(void *user, const struct result *result, json_t *object)
{
    struct wanted *wanted = user;

    if (!is_wanted(wanted, result))
        return 0;
    wanted->seen = true;
    if (result->verdict != VERDICT_FAIL && result->verdict != VERDICT_KNOWN && result->verdict != VERDICT_WARN)
        return 0;
    if (wanted->found == NULL || (wanted->by_rule && !result_is_by_rule(result))) {
        json_decref(wanted->found);
        wanted->found = json_incref(object);
        wanted->by_rule = result_is_by_rule(result);
    }
    return 0;
}

/* 0; 1 or -1 with the sentence set, as of repro_plan_make(). *text: malloc'd. */
static int make_once(const struct wanted *wanted, const struct result *result, const struct repro_evidence *evidence,
                     bool whole, struct iwarp_sentence *error)
{
    struct repro_plan *plan = malloc(sizeof(*plan));
    int rc;

    if (plan == NULL)
        return iwarp_sentence_set(error, "out of memory");
    rc = repro_plan_make(plan, evidence, result, whole, error);
    if (rc == 0)
        rc = repro_write(plan, wanted->tool, wanted->text, error);
    repro_plan_free(plan);
    free(plan);
    return rc;
}

/* With all connections of the check; where these are too many, with the last alone. */
static int make_text(const struct wanted *wanted, const struct result *result, const struct repro_evidence *evidence,
                     struct iwarp_sentence *error)
{
    int rc;

    if (evidence->connection_count == 0 && evidence->mad_count == 0)
        return iwarp_sentence_set(error, evidence->sctp != 0
                                             ? "it is of a device over SCTP, and a reproducer is over TCP"
                                             : "the evidence has no TCP connection"),
               1;
    if (evidence->cut)
        return iwarp_sentence_set(error, "the evidence lacks octets (run --evidence-limit)"), 1;
    if (evidence->connection_count == 0)
        return repro_cm_write(evidence, result, wanted->tool, wanted->text, error);
    rc = make_once(wanted, result, evidence, true, error);
    return rc == 1 ? make_once(wanted, result, evidence, false, error) : rc;
}

/* The capture of a result, by its last part, in the run's folder. malloc'd; NULL. */
static char *evidence_path(const char *dir, const struct result *result)
{
    const char *slash = result->evidence != NULL ? strrchr(result->evidence, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : result->evidence;
    char *path = name != NULL ? malloc(strlen(dir) + strlen(name) + sizeof("/evidence/")) : NULL;

    if (path != NULL)
        (void)sprintf(path, "%s/evidence/%s", dir, name);
    return path;
}

static int write_result(struct wanted *wanted, const char *dir, const char *output)
{
    struct repro_evidence evidence = {0};
    struct iwarp_sentence error = {""};
    struct place to = place_at(output);
    struct result result;
    uint8_t *octets = NULL;
    size_t size = 0;
    char *text = NULL, *path;
    int status = EXIT_DONE, rc;

    wanted->text = &text;

    if (result_from_json(wanted->found, &result) != 0)
        return complain(EXIT_USAGE, "%.100s: the result cannot be read", wanted->id);
    path = evidence_path(dir, &result);
    if (path == NULL)
        return complain(EXIT_NOTHING_SELECTED, "%.100s: no reproducer: the run kept no evidence of it", wanted->id);
    if (whole_file_read(path, EVIDENCE_OCTETS_MAX, &octets, &size, &error) != 0 || octets == NULL)
        status = complain(EXIT_USAGE, "%.300s: the evidence cannot be read", path);
    else if ((rc = repro_evidence_read(&evidence, result.id, octets, size, &error)) != 0 ||
             (rc = make_text(wanted, &result, &evidence, &error)) != 0)
        status = rc > 0 ? complain(EXIT_NOTHING_SELECTED, "%.100s: no reproducer: %s", wanted->id, error.text)
                        : complain(EXIT_ENVIRONMENT, "%.300s: %s", path, error.text);
    else if (text != NULL && save_file(&to, text, strlen(text), &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    else if (strcmp(output, "-") != 0)
        print_plain(stdout, "%s", output);
    repro_evidence_free(&evidence);
    free(octets);
    free(text);
    free(path);
    return status;
}

int report_reproducer(const char *id, const char *input, const char *output)
{
    struct wanted wanted = {.id = id};
    struct results_reader reader = {.on_run = on_run, .on_result = on_result, .user = &wanted};
    struct iwarp_sentence error = {""};
    char *results = NULL, *dir = NULL;
    int status;

    if (results_paths(input, &results, &dir) != 0)
        status = complain(EXIT_ENVIRONMENT, "out of memory");
    else if (results_read(results, &reader, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text[0] != '\0' ? error.text : "out of memory");
    else if (wanted.found == NULL)
        status = complain(EXIT_USAGE,
                          wanted.seen ? "%.300s: %.100s did not fail here: there is nothing to reproduce"
                                      : "%.300s: no result of %.100s is here",
                          results, id);
    else
        status = write_result(&wanted, dir, output);
    json_decref(wanted.found);
    free(results);
    free(dir);
    return status;
}
