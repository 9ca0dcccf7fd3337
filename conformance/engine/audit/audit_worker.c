/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* close_range */
#include "conformance/engine/audit/audit_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "reports/results/result_line.h"
#include "base/out_of_memory.h"

enum { GATHERED_OCTETS = 64 << 10 }; /* written at once, but for what a long line needs */

/* The descriptors of a worker: the three standard ones, of which the output leads nowhere, and its pipes. */
enum { ORDERS = 3, RECORDS = 4, FIRST_FOREIGN = 5 };

struct worker {
    const struct audit_workers_config *config;
    struct audit_judge *judge;
    struct result_lines lines; /* the one that is being made */
    uint32_t file;
    uint32_t (
        *passed)[ROLE_SLOTS]; /* results of this file, by requirement: lines beyond AUDIT_PASSED_LINES are not wanted */
    char *gathered;           /* records that wait to be written */
    size_t count, room;
    bool failed;
};

static void records_write(struct worker *worker)
{
    for (size_t done = 0; done < worker->count;) {
        ssize_t wrote = write(RECORDS, worker->gathered + done, worker->count - done);

        if (wrote < 0 && errno != EINTR) {
            worker->failed = true;
            break;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    worker->count = 0;
}

static bool records_reserve(struct worker *worker, size_t octets)
{
    char *grown;

    if (worker->room - worker->count >= octets)
        return true;
    grown = realloc(worker->gathered, worker->count + octets + GATHERED_OCTETS);
    if (grown == NULL) {
        worker->failed = true;
        return false;
    }
    worker->gathered = grown;
    worker->room = worker->count + octets + GATHERED_OCTETS;
    return true;
}

static void record_write(struct worker *worker, struct audit_record record, const void *octets, size_t count)
{
    record.file = worker->file;
    record.octets = (uint32_t)count;
    if (count > UINT32_MAX || !records_reserve(worker, sizeof(record) + count)) {
        worker->failed = true;
        return;
    }
    memcpy(worker->gathered + worker->count, &record, sizeof(record));
    worker->count += sizeof(record);
    if (count != 0)
        memcpy(worker->gathered + worker->count, octets, count);
    worker->count += count;
    if (worker->count >= GATHERED_OCTETS)
        records_write(worker);
}

static void send_result(void *user, const struct result *result, const struct requirement *requirement)
{
    struct worker *worker = user;
    struct audit_record record = {.kind = AUDIT_RECORD_RESULT,
                                  .verdict = (uint16_t)result->verdict,
                                  .requirement = (uint32_t)requirement->index,
                                  .number = result->count * ROLE_SLOTS + role_slot(result->role)};

    worker->lines.count = 0;
    if (result->verdict != VERDICT_PASS ||
        ((worker->config->lines || worker->config->shown) && !worker->config->findings_only &&
         worker->passed[requirement->index][role_slot(result->role)]++ < AUDIT_PASSED_LINES))
        worker->failed |= result_line_append(&worker->lines, result) != 0;
    record_write(worker, record, worker->lines.octets, worker->lines.count);
}

static void send_end(void *user, const struct end_line *line)
{
    struct worker *worker = user;
    json_t *object = end_line_to_json(line);

    worker->lines.count = 0;
    worker->failed |= object == NULL || result_line_append_json(&worker->lines, object) != 0;
    json_decref(object);
    record_write(worker, (struct audit_record){.kind = AUDIT_RECORD_WHY}, worker->lines.octets, worker->lines.count);
}

static void send_flow_end(void *user)
{
    record_write(user, (struct audit_record){.kind = AUDIT_RECORD_FLOW_END}, NULL, 0);
}

static void send_reading(void *user, uint64_t frames)
{
    struct worker *worker = user;

    record_write(worker, (struct audit_record){.kind = AUDIT_RECORD_READING, .number = frames}, NULL, 0);
    records_write(worker);
}

static void file_judge(struct worker *worker, uint32_t file)
{
    const struct capture_list *files = worker->config->files;
    struct flow_totals before = *audit_judge_totals(worker->judge);
    struct audit_ending ending = {.error = {""}};

    worker->file = file;
    memset(worker->passed, 0, catalogue_count(worker->config->catalogue) * sizeof(worker->passed[0]));
    ending.status = audit_judge_file(worker->judge, files->paths[file], capture_list_ring(files, file), &ending.error);
    if (out_of_memory_noted()) { /* what was found is not all: without an END it does not count as that */
        worker->failed = true;
        return;
    }
    ending.totals = *audit_judge_totals(worker->judge);
    flow_totals_subtract(&ending.totals, &before);
    record_write(worker, (struct audit_record){.kind = AUDIT_RECORD_END}, &ending, sizeof(ending));
}

/* False: there are no more. */
static bool order_read(struct audit_order *order)
{
    ssize_t got;

    do
        got = read(ORDERS, order, sizeof(*order));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*order);
}

static int work(const struct audit_workers_config *config)
{
    struct worker worker = {.config = config};
    struct audit_judge_config judge = {
        .catalogue = config->catalogue,
        .selection = config->selection,
        .memory = config->memory,
        .filter = config->filter,
        .rules = config->rules,
        .ladders = config->lines,
        .result = send_result,
        .end = send_end,
        .results_end = send_flow_end,
        .reading = send_reading,
        .user = &worker,
    };
    struct audit_order order;

    worker.judge = audit_judge_create(&judge);
    worker.passed = calloc(catalogue_count(config->catalogue) + 1, sizeof(worker.passed[0]));
    worker.failed = worker.judge == NULL || worker.passed == NULL;
    if (!worker.failed)
        record_write(&worker, (struct audit_record){.kind = AUDIT_RECORD_READY}, NULL, 0);
    records_write(&worker);
    while (!worker.failed && order_read(&order)) {
        for (uint32_t i = 0; i < order.count && !worker.failed; i++)
            file_judge(&worker, order.first + i);
        records_write(&worker);
    }
    audit_judge_free(worker.judge);
    free(worker.passed);
    free(worker.lines.octets);
    free(worker.gathered);
    return worker.failed ? 1 : 0;
}

/*
 * Nothing that the command has open stays open here: neither its results, nor the lock of its folder, nor the pipes of
 * other workers. Standard input may be a capture.
 */
static int keep_pipes(int orders, int records)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int high_orders = fcntl(orders, F_DUPFD_CLOEXEC, FIRST_FOREIGN);
    int high_records = fcntl(records, F_DUPFD_CLOEXEC, FIRST_FOREIGN);

    if (nowhere < 0 || high_orders < 0 || high_records < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(high_orders, ORDERS) < 0 || dup2(high_records, RECORDS) < 0)
        return -1;
    if (close_range(FIRST_FOREIGN, ~0U, 0) != 0) /* a kernel before 5.9 */
        for (long foreign = sysconf(_SC_OPEN_MAX) - 1; foreign >= FIRST_FOREIGN; foreign--)
            (void)close((int)foreign);
    return 0;
}

int audit_worker_live(const struct audit_workers_config *config, pid_t parent, int orders, int records)
{
    struct iwarp_sentence error;

    /* Nobody would read what it finds without the parent. */
    if (run_stop_child(parent) != 0 || keep_pipes(orders, records) != 0 ||
        run_confine(NULL, 0, config->capabilities, &error) != 0)
        return 1;
    return work(config);
}
