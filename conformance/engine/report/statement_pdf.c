/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/statement_pdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/sentence.h"
#include "conformance/engine/process/child_end.h"
#include "conformance/engine/process/temporary_folder.h"
#include "reference-stack/program/complaint.h"
#include "reports/file/save.h"
#include "reports/file/whole_file.h"

enum { BROWSER_SECONDS = 120, PATH_OCTETS = TEMPORARY_FOLDER_OCTETS + 64, NOT_THERE = 127, PDF_OCTETS_MAX = 1 << 30 };

/* Those that take Chromium's options, by the names that distributions give them. */
static const char *const browsers[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
                                       "microsoft-edge"};

struct pdf {
    char folder[TEMPORARY_FOLDER_OCTETS], page[PATH_OCTETS], made[PATH_OCTETS];
};

bool statement_is_pdf(const char *output)
{
    size_t size = output == NULL ? 0 : strlen(output);

    return size > 4 && strcasecmp(output + size - 4, ".pdf") == 0;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static int write_page(const struct pdf *pdf, int (*write)(void *user, const char *page), void *user)
{
    struct iwarp_sentence error = {""};
    pid_t child;
    int status;

    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        status = freopen("/dev/null", "w", stdout) != NULL ? write(user, pdf->page) : EXIT_ENVIRONMENT;
        (void)fflush(NULL);
        _exit(status);
    }
    if (child < 0 || child_end(child, "page's process", &status, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "the page could not be written: %s",
                        child < 0 ? strerror(errno) : error.text);
    return status;
}

/* In the child: the alarm ends a browser that does not end. */
static void become_browser(const struct pdf *pdf)
{
    /* As root, Chromium refuses to begin with its own sandbox. */
    const char *root = geteuid() == 0 ? "--no-sandbox" : "--no-first-run";
    char profile[2 * PATH_OCTETS], print[2 * PATH_OCTETS], page[2 * PATH_OCTETS];
    int quiet = open("/dev/null", O_RDWR);

    (void)snprintf(profile, sizeof(profile), "--user-data-dir=%s/browser", pdf->folder);
    (void)snprintf(print, sizeof(print), "--print-to-pdf=%s", pdf->made);
    (void)snprintf(page, sizeof(page), "file://%s", pdf->page);
    if (quiet < 0 || dup2(quiet, STDIN_FILENO) < 0 || dup2(quiet, STDOUT_FILENO) < 0 || dup2(quiet, STDERR_FILENO) < 0)
        return;
    (void)alarm(BROWSER_SECONDS);
    for (size_t i = 0; i < sizeof(browsers) / sizeof(browsers[0]); i++) {
        const char *const arguments[] = {
            browsers[i], "--headless", root, "--disable-gpu", "--no-pdf-header-footer", profile, print, page, NULL};

        (void)execvp(browsers[i], (char *const *)(uintptr_t)arguments);
        if (errno != ENOENT && errno != EACCES)
            return;
    }
    _exit(NOT_THERE);
}

static int print_page(const struct pdf *pdf)
{
    struct iwarp_sentence error = {""};
    pid_t child = fork();
    int status;

    if (child == 0) {
        become_browser(pdf);
        _exit(EXIT_ENVIRONMENT);
    }
    if (child < 0 || child_end(child, "browser", &status, &error) != 0) /* at the latest by the alarm */
        return complain(EXIT_ENVIRONMENT, "the browser made no PDF: %s; the page is had by -o x.html",
                        child < 0 ? strerror(errno) : error.text);
    if (status == NOT_THERE)
        return complain(EXIT_ENVIRONMENT,
                        "a browser makes the PDF, and none is installed (%s, %s, ...): install one, or "
                        "write the page, -o x.html",
                        browsers[0], browsers[2]);
    if (status != 0 || access(pdf->made, R_OK) != 0)
        return complain(EXIT_ENVIRONMENT, "the browser made no PDF; the page is had by -o x.html");
    return EXIT_DONE;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static int keep(const struct pdf *pdf, const char *output)
{
    const struct place place = place_at(output);
    struct iwarp_sentence error = {""};
    uint8_t *octets = NULL;
    size_t size = 0;
    int rc = whole_file_read(pdf->made, PDF_OCTETS_MAX, &octets, &size, &error);

    if (rc == 0 && octets == NULL)
        rc = iwarp_sentence_set(&error, "the browser's PDF cannot be read");
    if (rc == 0)
        rc = save_file(&place, (const char *)octets, size, &error);
    free(octets);
    if (rc != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    print_plain(stdout, "%s", output);
    return EXIT_DONE;
}

int statement_pdf(const char *output, int (*write)(void *user, const char *page), void *user)
{
    struct pdf pdf = {.folder = ""};
    struct iwarp_sentence error = {""};
    int status;

    if (temporary_folder_make(pdf.folder, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    (void)snprintf(pdf.page, sizeof(pdf.page), "%s/page.html", pdf.folder);
    (void)snprintf(pdf.made, sizeof(pdf.made), "%s/page.pdf", pdf.folder);
    status = write_page(&pdf, write, user);
    if (status == EXIT_DONE)
        status = print_page(&pdf);
    if (status == EXIT_DONE)
        status = keep(&pdf, output);
    temporary_folder_remove(pdf.folder);
    return status;
}
