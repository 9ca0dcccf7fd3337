/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/audit_expect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/audit/audit_expect_internal.h"
#include "base/digest.h"
#include "wire/crc32c.h"

enum { READ_OCTETS = 256 << 10 };

/*
 * --- What is kept ----------------------------------------------------------------------------------------------------
 */

struct expected_capture *expected_capture_of(struct audit_expect *expect, const char *name)
{
    struct expected_capture *capture;

    HASH_FIND_STR(expect->captures, name, capture);
    if (capture != NULL)
        return capture;
    capture = calloc(1, sizeof(*capture) + strlen(name) + 1);
    if (capture == NULL)
        return NULL;
    memcpy(capture->name, name, strlen(name) + 1);
    HASH_ADD_STR(expect->captures, name, capture);
    if (hash_lost(capture)) {
        free(capture);
        return NULL;
    }
    return capture;
}

static size_t key_make(char *key, const char *id, const char *role, const char *flow)
{
    size_t used = strlen(id) + 1;

    memcpy(key, id, used);
    memcpy(key + used, role, strlen(role) + 1);
    used += strlen(role) + 1;
    memcpy(key + used, flow, strlen(flow) + 1);
    return used + strlen(flow) + 1;
}

struct expectation *expectation_find(const struct expected_capture *capture, const char *id, const char *role,
                                     const char *flow)
{
    char key[512];
    struct expectation *found = NULL;

    if (strlen(id) + strlen(role) + strlen(flow) + 3 <= sizeof(key))
        HASH_FIND(hh, capture->all, key, (unsigned)key_make(key, id, role, flow), found);
    return found;
}

static void expectation_free(struct expectation *entry)
{
    free(entry->outcome);
    free(entry->review_by);
    free(entry->digest);
    free(entry->note);
    free(entry->text);
    free(entry->allowed);
    free(entry->first_flow);
    json_decref(entry->held);
    free(entry);
}

struct expectation *expectation_of(struct expected_capture *capture, const char *id, const char *role, const char *flow)
{
    struct expectation *entry = expectation_find(capture, id, role, flow);
    size_t octets = strlen(id) + strlen(role) + strlen(flow) + 3;

    if (entry != NULL)
        return entry;
    entry = calloc(1, sizeof(*entry) + octets);
    if (entry == NULL)
        return NULL;
    entry->key_octets = key_make(entry->key, id, role, flow);
    entry->id = entry->key;
    entry->role = entry->id + strlen(id) + 1;
    entry->flow = entry->role + strlen(role) + 1;
    HASH_ADD_KEYPTR(hh, capture->all, entry->key, (unsigned)entry->key_octets, entry);
    if (hash_lost(entry)) {
        expectation_free(entry);
        return NULL;
    }
    return entry;
}

static void captures_free(struct expected_capture *capture)
{
    while (capture != NULL) {
        struct expected_capture *next = capture->hh.next;
        struct expectation *entry = capture->all;

        HASH_CLEAR(hh, capture->all); /* the table goes, the list of its entries stays */
        while (entry != NULL) {
            struct expectation *after = entry->hh.next;

            expectation_free(entry);
            entry = after;
        }
        free(capture->file);
        free(capture);
        capture = next;
    }
}

/*
 * --- Names of captures -----------------------------------------------------------------------------------------------
 */

/* The capture of that file, by its name from the folder of the expectations; NULL without memory. */
static struct expected_capture *capture_of(struct audit_expect *expect, const char *file)
{
    char real[PATH_MAX];
    const char *name = file;
    size_t octets = strlen(expect->folder);

    if (expect->last_file != NULL && strcmp(expect->last_file, file) == 0)
        return expect->last;
    if (octets != 0 && realpath(file, real) != NULL && strncmp(real, expect->folder, octets) == 0)
        name = real + octets;
    free(expect->last_file);
    expect->last_file = strdup(file);
    expect->last = expect->last_file != NULL ? expected_capture_of(expect, name) : NULL;
    if (expect->last == NULL) {
        free(expect->last_file);
        expect->last_file = NULL;
    }
    return expect->last;
}

static void find_folder(struct audit_expect *expect, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX], real[PATH_MAX];

    if (slash == NULL)
        (void)snprintf(folder, sizeof(folder), ".");
    else
        (void)snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (realpath(folder, real) == NULL || strlen(real) + 2 > sizeof(expect->folder))
        return;
    (void)snprintf(expect->folder, sizeof(expect->folder), "%s%s", real, strcmp(real, "/") == 0 ? "" : "/");
}

/* CRC32C and number of octets: this identifies a capture within a corpus, and costs no more than reading the file. */
static void file_digest(const char *path, char digest[DIGEST_OCTETS])
{
    FILE *file = fopen(path, "re");
    char *octets = malloc(READ_OCTETS);
    uint32_t state = CRC32C_START;
    uint64_t count = 0;
    struct stat status;
    size_t got;

    digest[0] = '\0';
    if (file != NULL && octets != NULL && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)) {
        while ((got = fread(octets, 1, READ_OCTETS, file)) != 0) {
            state = crc32c_update(state, (const uint8_t *)octets, got);
            count += got;
        }
        if (!ferror(file))
            (void)snprintf(digest, DIGEST_OCTETS, "%08" PRIx32 "-%" PRIu64, crc32c_value(state), count);
    }
    free(octets);
    if (file != NULL)
        (void)fclose(file);
}

const char *expected_capture_digest(struct expected_capture *capture)
{
    if (!capture->digested && capture->file != NULL)
        file_digest(capture->file, capture->digest);
    capture->digested = true;
    return capture->digest;
}

const char *expected_capture_digest_now(const struct audit_expect *expect, struct expected_capture *capture)
{
    char path[PATH_MAX];

    if (capture->file != NULL)
        return expected_capture_digest(capture);
    if (!capture->digested && snprintf(path, sizeof(path), "%s%s", expect->folder, capture->name) < (int)sizeof(path))
        file_digest(path, capture->digest);
    capture->digested = true;
    return capture->digest;
}

/*
 * --- Life ------------------------------------------------------------------------------------------------------------
 */

struct audit_expect *audit_expect_new(const struct audit_expect_config *config, struct iwarp_sentence *error)
{
    struct audit_expect *expect = calloc(1, sizeof(*expect));

    if (expect == NULL) {
        (void)iwarp_sentence_set(error, "out of memory");
        return NULL;
    }
    expect->config = *config;
    find_folder(expect, config->path);
    if (config->read) {
        file_digest(config->path, expect->digest);
        if (audit_expect_read(expect, error) != 0) {
            audit_expect_free(expect);
            return NULL;
        }
    }
    return expect;
}

void audit_expect_free(struct audit_expect *expect)
{
    struct expected_capture *captures;

    if (expect == NULL)
        return;
    captures = expect->captures;
    HASH_CLEAR(hh, expect->captures);
    captures_free(captures);
    free(expect->last_file);
    free(expect);
}

int audit_expect_share(struct audit_expect *expect, const char *file, bool own)
{
    struct expected_capture *capture = capture_of(expect, file);

    if (capture == NULL)
        return -1;
    capture->audited |= own;
    capture->elsewhere |= !own;
    return 0;
}

/*
 * --- What was found --------------------------------------------------------------------------------------------------
 */

static uint64_t digest_of(const char *text)
{
    return digest_octets(DIGEST_START, text, strlen(text));
}

static const char *outcome_of(const struct result *result)
{
    return result->actual != NULL ? result->actual : result->message != NULL ? result->message : "";
}

char *expectation_outcome(const struct expectation *found)
{
    char text[64];

    if (!found->various)
        return strdup(found->text);
    (void)snprintf(text, sizeof(text), "%" PRIu64 " outcomes, %016" PRIx64, found->results, found->outcomes);
    return strdup(text);
}

/* The entry that a finding belongs to: its flow's, else that of all flows, else a new one. NULL without memory. */
static struct expectation *entry_of(struct expected_capture *capture, const struct result *result)
{
    const char *role = result->role != NULL ? result->role : "-", *flow = result->flow != NULL ? result->flow : "-";
    struct expectation *entry = expectation_find(capture, result->id, role, flow);

    if (entry == NULL || entry->line == 0) {
        struct expectation *all = expectation_find(capture, result->id, role, ALL_FLOWS);

        if (all != NULL && all->line != 0 && !all->old)
            return all;
    }
    return entry != NULL ? entry : expectation_of(capture, result->id, role, flow);
}

/* The first result of an entry. -1: no memory. */
static int first_note(struct expectation *entry, const struct result *result)
{
    entry->worst = result->verdict;
    entry->frame = result->frame;
    entry->text = strdup(outcome_of(result));
    entry->allowed = result->expected != NULL ? strdup(result->expected) : NULL;
    entry->first_flow = result->flow != NULL ? strdup(result->flow) : NULL;
    return entry->text == NULL || (result->expected != NULL && entry->allowed == NULL) ||
                   (result->flow != NULL && entry->first_flow == NULL)
               ? -1
               : 0;
}

static int hold(struct expected_capture *capture, struct expectation *entry, const struct result *result)
{
    json_t *object = result_to_json(result);

    if (entry->held == NULL)
        entry->held = json_array();
    capture->waits = true;
    return json_array_append_new(entry->held, object);
}

int audit_expect_meet(struct audit_expect *expect, const struct result *result, bool *held)
{
    struct expected_capture *capture;
    struct expectation *entry;

    *held = false;
    if (result->verdict != VERDICT_FAIL && result->verdict != VERDICT_WARN)
        return 0;
    capture = capture_of(expect, result->file != NULL ? result->file : "-");
    entry = capture != NULL ? entry_of(capture, result) : NULL;
    if (entry == NULL)
        return -1;
    if (capture->file == NULL && result->file != NULL && (capture->file = strdup(result->file)) == NULL)
        return -1;
    if (entry->results++ == 0 && first_note(entry, result) != 0)
        return -1;
    entry->count += result->count != 0 ? result->count : 1;
    entry->worst = verdict_worse(entry->worst, result->verdict);
    entry->outcomes += digest_of(outcome_of(result));
    entry->various |= strcmp(entry->text, outcome_of(result)) != 0;
    /* More than are expected are not what was expected: then nothing needs to wait, however many come. */
    entry->reported |= entry->line == 0 || entry->old || entry->count > entry->wanted_count;
    if (entry->reported)
        return 0;
    *held = true;
    return hold(capture, entry, result);
}
