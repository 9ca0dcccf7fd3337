/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memfd_create */
#include "conformance/engine/report/report_bundle.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/engine/capture/capture_magic.h"
#include "conformance/engine/report/bundle_replay.h"
#include "conformance/engine/report/cmd_report.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "reports/folder/digests.h"
#include "reports/results/excerpt.h"
#include "reports/page/html.h"
#include "reports/results/result.h"
#include "reports/file/save.h"
#include "reports/file/whole_file.h"
#include "reports/file/zip.h"
#include "tools/embedded.h"
#include "base/exit_status.h"
#include "base/text_stream.h"

#define TOP "warpcheck-bundle/" /* the folder that the archive unpacks to */

enum { NAME_OCTETS = 300 };

/* A file of any size that a person can send, and a bit more. */
static const size_t FILE_OCTETS_MAX = (size_t)1 << 30;

struct bundle {
    struct zip *zip;
    const char *dir; /* of the run */
    char *const *ids;
    size_t id_count;
    json_t *added;   /* name in the archive -> path that it came from */
    json_t *missing; /* paths that could not be read */
    char *sums, *page;
    size_t sums_size, page_size;
    FILE *sums_out;
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/*
 * ---- files ----------------------------------------------------------------------------------------------------------
 */

static int add(struct bundle *bundle, const char *name, const char *from, const void *octets, size_t count)
{
    char whole[NAME_OCTETS + sizeof(TOP)], digest[DIGEST_TEXT_OCTETS];

    (void)snprintf(whole, sizeof(whole), TOP "%s", name);
    if (zip_add(bundle->zip, whole, octets, count, strcmp(name, "replay.sh") == 0) != 0)
        return -1;
    if (strcmp(name, "results.jsonl") == 0 || strncmp(name, "evidence/", 9) == 0) {
        digest_of_octets(octets, count, digest);
        fprintf(bundle->sums_out, "%s  %s\n", digest, name);
    }
    return json_object_set_new(bundle->added, name, json_string(from));
}

static bool has(const struct bundle *bundle, const char *name)
{
    return json_object_get(bundle->added, name) != NULL;
}

/* Results may be anybody's, and name any file: one that is no capture, or no Lua, stays where it is. */
static bool may_leave(const char *name, const uint8_t *octets, size_t size)
{
    size_t length = strlen(name);

    if (strncmp(name, "scripts/", 8) == 0)
        return length > 4 && strcmp(name + length - 4, ".lua") == 0;
    if (strncmp(name, "captures/", 9) == 0)
        return capture_magic_row(octets, size < CAPTURE_MAGIC_OCTETS ? size : CAPTURE_MAGIC_OCTETS) == FLOW_ROWS;
    return true;
}

/* Adds the file at `path`; one that cannot be read is noted. 1: it is there; 0: it is not; -1: the archive failed. */
static int add_file(struct bundle *bundle, const char *name, const char *path)
{
    uint8_t *octets = NULL;
    size_t size = 0;
    int rc;

    if (has(bundle, name))
        return 1;
    if (whole_file_read(path, FILE_OCTETS_MAX, &octets, &size, NULL) != 0 || octets == NULL ||
        !may_leave(name, octets, size)) {
        free(octets);
        return json_array_append_new(bundle->missing, json_string(path)) == 0 ? 0 : -1;
    }
    rc = add(bundle, name, path, octets, size) == 0 ? 1 : -1;
    free(octets);
    return rc;
}

/* Adds "evidence/X.pcapng" of the run's folder. Only the last part of the path in the results is used. */
static int add_evidence(struct bundle *bundle, const char *evidence)
{
    char name[NAME_OCTETS], *path;
    int rc = -1;

    if (evidence == NULL)
        return 0;
    (void)snprintf(name, sizeof(name), "evidence/%s", last_part(evidence));
    path = malloc(strlen(bundle->dir) + sizeof(name) + 1);
    if (path != NULL) {
        (void)sprintf(path, "%s/%s", bundle->dir, name);
        rc = add_file(bundle, name, path);
    }
    free(path);
    return rc;
}

const char *bundle_name(json_t *added, const char *folder, const char *path, char *name, size_t room)
{
    const char *from;

    for (unsigned i = 0;; i++) { /* two files may have the same name */
        if (i == 0)
            (void)snprintf(name, room, "%s/%s", folder, last_part(path));
        else
            (void)snprintf(name, room, "%s/%u-%s", folder, i, last_part(path));
        from = json_string_value(json_object_get(added, name));
        if (from == NULL || strcmp(from, path) == 0)
            return name;
    }
}

static int add_named(struct bundle *bundle, const char *folder, const char *path)
{
    char name[NAME_OCTETS];

    return add_file(bundle, bundle_name(bundle->added, folder, path, name, sizeof(name)), path);
}

/* The check: one that is built in, or a file. */
static int add_script(struct bundle *bundle, const char *script)
{
    const char *colon = script != NULL ? strrchr(script, ':') : NULL;
    char path[NAME_OCTETS], name[NAME_OCTETS];
    const struct embedded_file *file;

    if (colon == NULL || (size_t)(colon - script) >= sizeof(path))
        return 0;
    (void)snprintf(path, sizeof(path), "%.*s", (int)(colon - script), script);
    file = embedded_find(embedded_scripts, embedded_script_count, path);
    if (file == NULL)
        return add_named(bundle, "scripts", path);
    (void)bundle_name(bundle->added, "scripts", path, name, sizeof(name));
    return has(bundle, name) ? 0 : add(bundle, name, path, file->octets, file->size);
}

/*
 * ---- the profile ----------------------------------------------------------------------------------------------------
 */

static bool wanted(const struct bundle *bundle, const char *id)
{
    for (size_t i = 0; i < bundle->id_count; i++)
        if (id != NULL && fnmatch(bundle->ids[i], id, 0) == 0)
            return true;
    return false;
}

/* Of its known deviations those of these requirements. */
static int add_profile(struct bundle *bundle, const char *path)
{
    json_t *profile, *deviations;
    char *text = NULL;
    int rc;

    if (path == NULL || has(bundle, BUNDLE_PROFILE))
        return 0;
    profile = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(profile)) { /* also "linux-siw", which is no file */
        json_decref(profile);
        return strchr(path, '.') == NULL ? 0 : json_array_append_new(bundle->missing, json_string(path));
    }
    deviations = json_object_get(profile, "known_deviations");
    for (size_t i = json_array_size(deviations); i-- > 0;)
        if (!wanted(bundle, json_string_value(json_object_get(json_array_get(deviations, i), "requirement"))))
            (void)json_array_remove(deviations, i);
    text = json_dumps(profile, JSON_INDENT(4));
    rc = text != NULL ? add(bundle, BUNDLE_PROFILE, path, text, strlen(text)) : -1;
    free(text);
    json_decref(profile);
    return rc;
}

/*
 * ---- all of it ------------------------------------------------------------------------------------------------------
 */

static int add_result(struct bundle *bundle, const struct result *result)
{
    char dut[BUNDLE_WORD_OCTETS], script[BUNDLE_WORD_OCTETS];

    bundle_replay_files(result->replay, dut, script);
    if (add_evidence(bundle, result->evidence) < 0 || add_script(bundle, result->script) < 0 ||
        add_profile(bundle, dut[0] != '\0' ? dut : NULL) < 0)
        return -1;
    if (script[0] != '\0' && add_named(bundle, "scripts", script) < 0)
        return -1;
    if (result->evidence == NULL && result->file != NULL && add_named(bundle, "captures", result->file) < 0)
        return -1;
    return 0;
}

/* The text that `put` writes, as the file `name`. */
static int add_text(struct bundle *bundle, const char *name, const struct excerpt *excerpt,
                    void (*write)(FILE *, const struct excerpt *, json_t *, const json_t *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    int rc = -1;

    if (out == NULL)
        return -1;
    write(out, excerpt, bundle->added, bundle->missing);
    if (text_stream_close(out, &text))
        rc = add(bundle, name, "", text, size);
    free(text);
    return rc;
}

static int add_all(struct bundle *bundle, const struct excerpt *excerpt)
{
    struct result result;
    json_t *object;
    size_t i;

    if (add(bundle, "index.html", "", bundle->page, bundle->page_size) != 0 ||
        add(bundle, "results.jsonl", "", excerpt->text, excerpt->size) != 0)
        return -1;
    json_array_foreach(excerpt->results, i, object)
    {
        if (result_from_json(object, &result) != 0 || add_result(bundle, &result) != 0)
            return -1;
    }
    if (add_text(bundle, "replay.sh", excerpt, bundle_write_replay) != 0 ||
        add_text(bundle, "README.txt", excerpt, bundle_write_readme) != 0)
        return -1;
    if (!text_stream_close(bundle->sums_out, &bundle->sums)) {
        bundle->sums_out = NULL;
        return -1;
    }
    bundle->sums_out = NULL;
    return add(bundle, DIGESTS_FILE, "", bundle->sums, bundle->sums_size);
}

/* An open file in memory that holds these octets; -1 with the sentence set. */
static int in_memory(const char *octets, size_t size, struct iwarp_sentence *error)
{
    int fd = memfd_create("warpcheck", MFD_CLOEXEC);
    struct place place = {.folder = fd, .name = "", .path = "memory"};

    if (fd < 0)
        return iwarp_sentence_set(error, "memory for the excerpt: %s", strerror(errno));
    if (save_file(&place, octets, size, error) == 0)
        return fd;
    close(fd);
    return -1;
}

/* All that is in that file, malloc'd. -1 with the sentence set. */
static int octets_of(int fd, char **octets, size_t *size, struct iwarp_sentence *error)
{
    off_t end = lseek(fd, 0, SEEK_END);
    size_t done = 0;
    ssize_t count = 1;

    *octets = end >= 0 ? malloc((size_t)end + 1) : NULL;
    while (*octets != NULL && done < (size_t)end && count > 0) {
        count = pread(fd, *octets + done, (size_t)end - done, (off_t)done);
        done += count > 0 ? (size_t)count : 0;
    }
    *size = done;
    return *octets != NULL && count > 0 ? 0 : iwarp_sentence_set(error, "the page: out of memory");
}

/* The page of the excerpt. */
static int make_page(struct bundle *bundle, const struct excerpt *excerpt, const struct catalogue *catalogue,
                     const struct report_coverage *coverage, struct iwarp_sentence *error)
{
    int results = in_memory(excerpt->text, excerpt->size, error), page = results >= 0 ? in_memory("", 0, error) : -1;
    struct place from = {.folder = results, .name = "", .path = "results.jsonl"};
    struct place to = {.folder = page, .name = "", .path = "index.html"};
    struct report report;
    int rc = -1;

    if (page >= 0 && report_load_place(&report, &from, catalogue, error) == 0) {
        rc = html_write(&report, coverage, &to, error);
        report_free(&report);
    }
    if (rc == 0)
        rc = octets_of(page, &bundle->page, &bundle->page_size, error);
    if (results >= 0)
        close(results);
    if (page >= 0)
        close(page);
    return rc;
}

static int write_bundle(struct bundle *bundle, const struct excerpt *excerpt, const char *output,
                        struct iwarp_sentence *error)
{
    struct place to = place_at(output);
    int rc = 0, ended;

    bundle->added = json_object();
    bundle->missing = json_array();
    bundle->sums_out = text_stream_open(&bundle->sums, &bundle->sums_size);
    if (bundle->added == NULL || bundle->missing == NULL || bundle->sums_out == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", output);
    bundle->zip = zip_begin(&to, error);
    if (bundle->zip == NULL)
        return -1;
    if (add_all(bundle, excerpt) != 0)
        rc = iwarp_sentence_set(error, "%s: out of memory", output);
    ended = zip_end(bundle->zip, rc == 0, rc == 0 ? error : NULL);
    return rc == 0 ? ended : rc;
}

static void bundle_end(struct bundle *bundle)
{
    if (bundle->sums_out != NULL)
        (void)text_stream_close(bundle->sums_out, &bundle->sums);
    json_decref(bundle->added);
    json_decref(bundle->missing);
    free(bundle->sums);
    free(bundle->page);
}

/* The exit status. */
static int make(struct bundle *bundle, const struct place *results, const struct report_coverage *coverage,
                const char *output)
{
    struct catalogue *catalogue = NULL;
    struct excerpt excerpt;
    struct iwarp_sentence error;
    int status = EXIT_DONE, rc = excerpt_make(&excerpt, results, bundle->ids, bundle->id_count, &error);

    if (rc != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else if (catalogue_load(&catalogue, &error) != 0 || make_page(bundle, &excerpt, catalogue, coverage, &error) != 0 ||
             write_bundle(bundle, &excerpt, output, &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    for (size_t i = 0; status == EXIT_DONE && i < json_array_size(bundle->missing); i++)
        (void)complain(0, "%.300s: cannot be read, or is no file of that kind: it is not in the archive",
                       json_string_value(json_array_get(bundle->missing, i)));
    if (status == EXIT_DONE)
        print_plain(stdout, "%s", output);
    catalogue_free(catalogue);
    excerpt_free(&excerpt);
    return status;
}

int report_bundle(const char *input, char *const *ids, size_t id_count, const struct report_coverage *coverage,
                  const char *output)
{
    struct bundle bundle = {.ids = ids, .id_count = id_count};
    char *results = NULL, *dir = NULL;
    int status;

    if (results_paths(input, &results, &dir) != 0) {
        status = complain(EXIT_ENVIRONMENT, "out of memory");
    } else {
        struct place place = place_at(results);

        bundle.dir = dir;
        status = make(&bundle, &place, coverage, output);
    }
    bundle_end(&bundle);
    free(results);
    free(dir);
    return status;
}
