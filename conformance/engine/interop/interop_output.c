/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "conformance/engine/interop/interop_tests.h"
#include "reference-stack/program/complaint.h"
#include "reports/page/interop_page.h"
#include "reports/results/member.h"
#include "reports/writers/terminal.h"

#define EVIDENCE_FOLDER "evidence"

/* ---- the folder -------------------------------------------------------------------------------------------------- */

/* Links, folders and devices under our names are not ours. */
static int remove_ours(int folder, const char *name, struct iwarp_sentence *error)
{
    struct stat status;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : iwarp_sentence_set(error, "%.200s: %s", name, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return iwarp_sentence_set(error, "%.200s: warpcheck did not write this file: remove it yourself", name);
    return unlinkat(folder, name, 0) == 0
               ? 0
               : iwarp_sentence_set(error, "%.200s: cannot be removed: %s", name, strerror(errno));
}

/* "initiator+responder.TEST.pcapng" */
static bool is_capture_name(const char *name)
{
    const char *plus = strchr(name, '+');
    char end[64];

    for (size_t i = 0; plus != NULL && i < interop_test_count; i++) {
        size_t octets = (size_t)snprintf(end, sizeof(end), ".%s.pcapng", interop_tests[i].name), all = strlen(plus);

        if (all > octets && strcmp(plus + all - octets, end) == 0)
            return true;
    }
    return false;
}

static int evidence_clear(const struct place *folder, struct iwarp_sentence *error)
{
    int handle = openat(folder->folder, EVIDENCE_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0;
    DIR *listing = handle >= 0 ? fdopendir(handle) : NULL;
    const struct dirent *entry;

    if (listing == NULL) {
        if (handle >= 0)
            (void)close(handle);
        return errno == ENOENT ? 0 : iwarp_sentence_set(error, EVIDENCE_FOLDER ": %s", strerror(errno));
    }
    while (rc == 0 && (entry = readdir(listing)) != NULL)
        if (is_capture_name(entry->d_name))
            rc = remove_ours(handle, entry->d_name, error);
    (void)closedir(listing);
    if (rc == 0)
        (void)unlinkat(folder->folder, EVIDENCE_FOLDER, AT_REMOVEDIR); /* where nothing else is in it */
    return rc;
}

static int clear(const struct place *folder, struct iwarp_sentence *error)
{
    static const char *const names[] = {INTEROP_FILE, "index.html", "index.html.part"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (remove_ours(folder->folder, names[i], error) != 0)
            return -1;
    return evidence_clear(folder, error);
}

static int lines_open(struct interop_output *output, struct iwarp_sentence *error)
{
    struct place place = folder_place(output->folder, INTEROP_FILE);
    int file = place_open(&place, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);

    output->lines = file >= 0 ? fdopen(file, "a") : NULL;
    if (output->lines != NULL)
        return 0;
    (void)iwarp_sentence_set(error, "%.300s: %s", place.path, strerror(errno));
    if (file >= 0)
        (void)close(file);
    return -1;
}

int interop_output_open(struct interop_output *output, const struct interop_options *options,
                        struct iwarp_sentence *error)
{
    const struct folder_config config = {.path = options->output,
                                         .use = options->force ? FOLDER_FORCE : FOLDER_NEW,
                                         .hint = "--force removes what an earlier run of interop left",
                                         .clear = clear};
    int taken;

    *output = (struct interop_output){.evidence = -1};
    if (options->output == NULL)
        return 0;
    taken = folder_claim(&output->folder, &config, error);
    if (taken != 0)
        return taken == FOLDER_NOT_EMPTY ? EXIT_USAGE : EXIT_ENVIRONMENT;
    if (lines_open(output, error) != 0)
        return EXIT_ENVIRONMENT;
    if (options->keeps != INTEROP_KEEPS_NONE &&
        (output->evidence = folder_open_below(output->folder, EVIDENCE_FOLDER, error)) < 0)
        return EXIT_ENVIRONMENT;
    return 0;
}

int interop_output_line(struct interop_output *output, const json_t *object, struct iwarp_sentence *error)
{
    if (output->lines == NULL)
        return 0;
    if (json_dumpf(object, output->lines, JSON_COMPACT | JSON_PRESERVE_ORDER) == 0 &&
        fputc('\n', output->lines) != EOF && fflush(output->lines) == 0)
        return 0;
    return iwarp_sentence_set(error, INTEROP_FILE ": %s", strerror(errno));
}

int interop_output_capture(struct interop_output *output, const char *name, struct iwarp_sentence *error)
{
    int file = openat(output->evidence, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    return file >= 0 ? file : iwarp_sentence_set(error, EVIDENCE_FOLDER "/%.200s: %s", name, strerror(errno));
}

void interop_output_forget(struct interop_output *output, const char *name)
{
    (void)unlinkat(output->evidence, name, 0);
}

int interop_output_page(struct interop_output *output, const struct interop_results *results,
                        struct iwarp_sentence *error)
{
    struct place place;

    if (output->folder == NULL)
        return 0;
    place = folder_place(output->folder, "index.html");
    return interop_page_write(results, NULL, &place, error);
}

int interop_output_close(struct interop_output *output, struct iwarp_sentence *error)
{
    int rc = 0;

    if (output->lines != NULL && fclose(output->lines) != 0)
        rc = iwarp_sentence_set(error, INTEROP_FILE ": %s", strerror(errno));
    if (output->evidence >= 0)
        (void)close(output->evidence);
    folder_leave(output->folder);
    *output = (struct interop_output){.evidence = -1};
    return rc;
}

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

/* Colours of a terminal, and a sign for those without: nothing, '!', '-' and '?'. */
static const struct {
    const char *colour, *sign;
} shown[VERDICT_COUNT] = {
    [VERDICT_PASS] = {"\033[32m", ""},
    [VERDICT_FAIL] = {"\033[1;31m", "!"},
    [VERDICT_SKIP] = {"\033[2m", "-"},
    [VERDICT_INCONCLUSIVE] = {"\033[35m", "?"},
};

/* Every letter takes as many columns in each cell, so that they stand below each other. */
static void cell(const struct interop_results *results, size_t initiator, size_t responder, bool colour, FILE *out)
{
    for (size_t test = 0; test < results->tests; test++) {
        const json_t *exchange = interop_results_exchange(results, initiator, responder, test);
        const char *letters = interop_results_test(results, test, "letters");
        enum verdict verdict = exchange != NULL ? interop_results_verdict(exchange) : VERDICT_SKIP;
        const char *sign = exchange != NULL ? shown[verdict].sign : ".";

        fprintf(out, "%s%s%s%s%*s", colour ? shown[verdict].colour : "", letters, sign, colour ? "\033[0m" : "",
                *sign != '\0' ? 1 : 2, "");
    }
}

static void exchange_text(const struct interop_results *results, const json_t *exchange, FILE *out)
{
    enum verdict verdict = interop_results_verdict(exchange);
    const char *test = member_text(exchange, "test"), *expected = member_text(exchange, "expected"), *title = "";

    if (verdict == VERDICT_PASS || verdict == VERDICT_SKIP || member_text(exchange, "lost") != NULL)
        return;
    for (size_t i = 0; i < results->tests; i++)
        if (strcmp(interop_results_test(results, i, "name"), test) == 0)
            title = interop_results_test(results, i, "title");
    print_plain(out, "%s  %s to %s: %s: %s", verdict_name(verdict), member_text(exchange, "initiator"),
                member_text(exchange, "responder"), test, title);
    if (expected != NULL && *expected != '\0')
        print_plain(out, "      expected  %s", expected);
    print_plain(out, "      seen      %s", member_text(exchange, "actual"));
}

/* What a lost device left undecided is one line. */
static void lost_text(const struct interop_results *results, size_t device, FILE *out)
{
    const char *name = interop_results_device(results, device, "name"), *why = "";
    size_t all = results->devices * results->devices * results->tests, count = 0;

    for (size_t i = 0; i < all; i++) {
        const char *lost = member_text(results->exchanges[i], "lost");

        if (lost != NULL && strcmp(lost, name) == 0 && count++ == 0)
            why = member_text(results->exchanges[i], "actual");
    }
    if (count != 0)
        print_plain(out, "INCONCLUSIVE  %zu exchange%s of %s after that: %s", count, count == 1 ? "" : "s", name, why);
}

static void not_passed(const struct interop_results *results, FILE *out)
{
    for (size_t i = 0; i < results->devices * results->devices * results->tests; i++)
        if (results->exchanges[i] != NULL)
            exchange_text(results, results->exchanges[i], out);
    for (size_t i = 0; i < results->devices; i++)
        lost_text(results, i, out);
}

void interop_output_grid(const struct interop_results *results, bool quiet, FILE *out)
{
    struct terminal terminal;
    size_t counts[VERDICT_COUNT];
    int width = 11;

    terminal_init(&terminal, out);
    for (size_t i = 0; i < results->devices; i++)
        if ((int)strlen(interop_results_device(results, i, "name")) > width)
            width = (int)strlen(interop_results_device(results, i, "name"));
    fprintf(out, "%-*s  %-*s  (a letter is a test case: interop --list; ! failed, - not supported, ? not decided)\n",
            width, "initiator", width, "responder");
    for (size_t i = 0; i < results->devices; i++)
        for (size_t k = 0; k < results->devices; k++) {
            fprintf(out, "%-*s  %-*s  ", width, interop_results_device(results, i, "name"), width,
                    interop_results_device(results, k, "name"));
            cell(results, i, k, terminal.colour, out);
            fputc('\n', out);
        }
    if (!quiet)
        not_passed(results, out);
    interop_results_count(results, counts);
    fprintf(out, "%zu passed, %zu failed, %zu not supported, %zu not decided\n", counts[VERDICT_PASS],
            counts[VERDICT_FAIL], counts[VERDICT_SKIP], counts[VERDICT_INCONCLUSIVE]);
    terminal_free(&terminal);
}
