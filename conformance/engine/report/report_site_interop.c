/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_site_interop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/file/whole_file.h"
#include "reports/page/interop_page.h"
#include "reports/results/member.h"

#define EVIDENCE_FOLDER "evidence"

enum { CAPTURE_OCTETS_MAX = 1 << 28 };

int report_site_interop_read(struct interop_results *results, const char *folder, bool *present,
                             struct iwarp_sentence *error)
{
    char path[PATH_MAX];
    struct stat status;

    memset(results, 0, sizeof(*results));
    *present = false;
    if (snprintf(path, sizeof(path), "%s/" SITE_INTEROP "/" INTEROP_FILE, folder) >= (int)sizeof(path))
        return iwarp_sentence_set(error, "%.100s...: the path is too long", folder);
    if (lstat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : iwarp_sentence_set(error, "%.300s: %s", path, strerror(errno));
    *present = true;
    return interop_results_read(results, path, error);
}

static int capture_copy(const char *folder, const char *name, int to, struct iwarp_sentence *error)
{
    struct place place = {to, name, name};
    char path[PATH_MAX];
    bool missing;

    if (snprintf(path, sizeof(path), "%s/" SITE_INTEROP "/" EVIDENCE_FOLDER "/%s", folder, name) >= (int)sizeof(path))
        return iwarp_sentence_set(error, "%.100s...: the path is too long", name);
    if (whole_file_copy(path, CAPTURE_OCTETS_MAX, &place, &missing, error) != 0)
        return -1;
    return missing ? iwarp_sentence_set(error, "%.300s: no such file, or it has more than %d octets", path,
                                        CAPTURE_OCTETS_MAX)
                   : 0;
}

static int captures_copy(const struct interop_results *results, const char *folder, int below,
                         struct iwarp_sentence *error)
{
    size_t count = results->devices * results->devices * results->tests;
    int to, rc = 0;

    if (mkdirat(below, EVIDENCE_FOLDER, 0777) != 0 ||
        (to = openat(below, EVIDENCE_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
        return iwarp_sentence_set(error, SITE_INTEROP "/" EVIDENCE_FOLDER ": %s", strerror(errno));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *name = member_text(results->exchanges[i], "capture");

        if (name != NULL)
            rc = capture_copy(folder, name, to, error);
    }
    (void)close(to);
    return rc;
}

int report_site_interop_write(const struct interop_results *results, const char *folder, const struct folder *output,
                              struct iwarp_sentence *error)
{
    struct place page = {.name = "index.html", .path = SITE_INTEROP "/index.html"};
    int rc;

    page.folder = folder_open_below(output, SITE_INTEROP, error);
    if (page.folder < 0)
        return -1;
    rc = captures_copy(results, folder, page.folder, error);
    if (rc == 0)
        rc = interop_page_write(results, "../index.html", &page, error);
    (void)close(page.folder);
    return rc;
}
