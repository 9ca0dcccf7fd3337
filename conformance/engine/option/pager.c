/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pipe2 */
#include "conformance/engine/option/pager.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A system may have no less. */
static const char default_pager[] = "command -v less >/dev/null 2>&1 && exec less; exec cat";

/* What shows the text; NULL: nothing has to. */
static const char *pager_of(void)
{
    const char *pager = getenv("PAGER"), *term = getenv("TERM");

    if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0 || term == NULL || strcmp(term, "dumb") == 0)
        return NULL;
    if (pager == NULL)
        return default_pager;
    return pager[0] != '\0' && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* The one that the caller of this program waits for: it owns the terminal until the reader is done. */
static void become(const char *pager, int text)
{
    bool ready = dup2(text, STDIN_FILENO) >= 0;

    if (ready && setenv("LESS", "FRX", 0) == 0) /* leave on one screen, keep colours, keep the text on the screen */
        (void)execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
    _exit(127);
}

void pager_begin(void)
{
    const char *pager = pager_of();
    int ends[2];
    pid_t writer;

    if (pager == NULL || access("/bin/sh", X_OK) != 0 || fflush(stdout) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return;
    writer = fork();
    if (writer > 0)
        become(pager, ends[0]);
    if (writer == 0 && dup2(ends[1], STDOUT_FILENO) < 0)
        _exit(127);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
