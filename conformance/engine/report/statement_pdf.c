/* SPDX-License-Identifier: BSD-2-Clause */
#define _XOPEN_SOURCE   700 /* nftw() */
#define _DEFAULT_SOURCE 1   /* mkdtemp(), strcasecmp() */
#include "conformance/engine/report/statement_pdf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/sentence.h"
#include "reference-stack/program/complaint.h"
#include "reports/file/save.h"

enum { BROWSER_SECONDS = 120, PATH_OCTETS = 4096, FOLDERS_OPEN = 16, NOT_THERE = 127 };

/* Those that take Chromium's options, by the names that distributions give them. */
static const char *const browsers[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
                                       "microsoft-edge"};

struct pdf {
    char folder[PATH_OCTETS], page[PATH_OCTETS + 32], made[PATH_OCTETS + 32];
};

bool statement_is_pdf(const char *output)
{
    size_t size = output == NULL ? 0 : strlen(output);

    return size > 4 && strcasecmp(output + size - 4, ".pdf") == 0;
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static int make_folder(struct pdf *pdf)
{
    const char *below = getenv("TMPDIR");

    if (below == NULL || below[0] != '/')
        below = "/tmp";
    if (snprintf(pdf->folder, sizeof(pdf->folder), "%s/warpcheck-XXXXXX", below) >= (int)sizeof(pdf->folder) ||
        mkdtemp(pdf->folder) == NULL)
        return complain(EXIT_ENVIRONMENT, "no folder below %.200s: %s", below, strerror(errno));
    (void)snprintf(pdf->page, sizeof(pdf->page), "%s/page.html", pdf->folder);
    (void)snprintf(pdf->made, sizeof(pdf->made), "%s/page.pdf", pdf->folder);
    return EXIT_DONE;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    (void)remove(path);
    return 0;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* The child's exit status; -1: a signal ended it. */
static int wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int write_page(const struct pdf *pdf, int (*write)(void *user, const char *page), void *user)
{
    pid_t child;
    int status;

    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        status = freopen("/dev/null", "w", stdout) != NULL ? write(user, pdf->page) : EXIT_ENVIRONMENT;
        (void)fflush(NULL);
        _exit(status);
    }
    status = child < 0 ? -1 : wait_for(child);
    return status >= 0 ? status : complain(EXIT_ENVIRONMENT, "the page could not be written");
}

/* In the child: the alarm ends a browser that does not end. */
static void become_browser(const struct pdf *pdf)
{
    char profile[PATH_OCTETS + 64], print[PATH_OCTETS + 64], page[PATH_OCTETS + 64];
    int quiet = open("/dev/null", O_RDWR);

    (void)snprintf(profile, sizeof(profile), "--user-data-dir=%s/browser", pdf->folder);
    (void)snprintf(print, sizeof(print), "--print-to-pdf=%s", pdf->made);
    (void)snprintf(page, sizeof(page), "file://%s", pdf->page);
    if (quiet < 0 || dup2(quiet, STDIN_FILENO) < 0 || dup2(quiet, STDOUT_FILENO) < 0 || dup2(quiet, STDERR_FILENO) < 0)
        return;
    (void)alarm(BROWSER_SECONDS);
    for (size_t i = 0; i < sizeof(browsers) / sizeof(browsers[0]); i++) {
        /* As root, Chromium refuses to begin with its own sandbox. */
        const char *root = geteuid() == 0 ? "--no-sandbox" : "--no-first-run";
        const char *const arguments[] = {browsers[i], "--headless", "--disable-gpu", "--no-pdf-header-footer",

                                         root,        profile,      print,           page,
                                         NULL};

        (void)execvp(browsers[i], (char *const *)(uintptr_t)arguments);
        if (errno != ENOENT && errno != EACCES)
            return;
    }
    _exit(NOT_THERE);
}

static int print_page(const struct pdf *pdf)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        become_browser(pdf);
        _exit(EXIT_ENVIRONMENT);
    }
    status = child < 0 ? EXIT_ENVIRONMENT : wait_for(child);
    if (status == NOT_THERE)
        return complain(EXIT_ENVIRONMENT,
                        "a browser makes the PDF, and none is installed (%s, %s, ...): install one, or "
                        "write the page, -o x.html",
                        browsers[0], browsers[2]);
    if (status != 0 || access(pdf->made, R_OK) != 0)
        return complain(EXIT_ENVIRONMENT, "the browser made no PDF%s; the page is had by -o x.html",
                        status < 0 ? ": it was ended, at the latest after two minutes" : "");
    return EXIT_DONE;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static int keep(const struct pdf *pdf, const char *output)
{
    const struct place place = place_at(output);
    struct iwarp_sentence error;
    FILE *in = fopen(pdf->made, "rb");
    struct stat status;
    char *octets = NULL;
    int rc = -1;

    if (in != NULL && fstat(fileno(in), &status) == 0)
        octets = malloc((size_t)status.st_size + 1);
    if (octets == NULL || fread(octets, 1, (size_t)status.st_size, in) != (size_t)status.st_size)
        (void)iwarp_sentence_set(&error, "the browser's PDF cannot be read");
    else
        rc = save_file(&place, octets, (size_t)status.st_size, &error);
    free(octets);
    if (in != NULL)
        (void)fclose(in);
    if (rc != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    print_plain(stdout, "%s", output);
    return EXIT_DONE;
}

int statement_pdf(const char *output, int (*write)(void *user, const char *page), void *user)
{
    struct pdf pdf = {.folder = ""};
    int status = make_folder(&pdf);

    if (status != EXIT_DONE)
        return status;
    status = write_page(&pdf, write, user);
    if (status == EXIT_DONE)
        status = print_page(&pdf);
    if (status == EXIT_DONE)
        status = keep(&pdf, output);
    (void)nftw(pdf.folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    return status;
}
