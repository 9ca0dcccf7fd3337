/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/lab_launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct lab {
    const char *name;
    const char *script;
    const char *options[2];
} known_labs[] = {
    {"linux-siw", "linux/run.sh", {NULL, NULL}},
    {"linux-siw-6.1", "linux/run.sh", {"--series", "6.1"}},
    {"linux-siw-6.12", "linux/run.sh", {"--series", "6.12"}},
    {"linux-rxe", "linux/run-rxe.sh", {NULL, NULL}},
    {"linux-rxe-6.1", "linux/run-rxe.sh", {"--series", "6.1"}},
    {"linux-rxe-6.12", "linux/run-rxe.sh", {"--series", "6.12"}},
    {"linux-sctp", "linux/run-sctp.sh", {NULL, NULL}},
    {"linux-sctp-6.1", "linux/run-sctp.sh", {"--series", "6.1"}},
    {"linux-sctp-6.12", "linux/run-sctp.sh", {"--series", "6.12"}},
};

const char *lab_name(size_t index)
{
    return index < sizeof(known_labs) / sizeof(known_labs[0]) ? known_labs[index].name : NULL;
}

static const struct lab *find(const char *dut)
{
    if (access(dut, F_OK) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof(known_labs) / sizeof(known_labs[0]); i++)
        if (strcmp(known_labs[i].name, dut) == 0)
            return &known_labs[i];
    return NULL;
}

bool lab_is(const char *dut)
{
    return find(dut) != NULL;
}

static const char *name_at(const void *names, size_t index)
{
    const struct lab *labs = names;

    return labs[index].name;
}

const char *lab_hint(const char *dut, char hint[NEAREST_HINT_OCTETS])
{
    size_t count = access(dut, F_OK) == 0 ? 0 : sizeof(known_labs) / sizeof(known_labs[0]);

    return nearest_hint(nearest_name(dut, name_at, known_labs, count), hint);
}

static bool try_folder(const char *folder, const char *below, const char *script, char path[PATH_MAX])
{
    return folder != NULL && snprintf(path, PATH_MAX, "%s%s/%s", folder, below, script) < PATH_MAX &&
           access(path, X_OK) == 0;
}

/* Path of the program, and of the script to start. */
static int locate(const struct lab *lab, char program[PATH_MAX], char path[PATH_MAX], struct iwarp_sentence *error)
{
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    char folder[PATH_MAX];
    char *slash;

    if (length < 0)
        return iwarp_sentence_set(error, "/proc/self/exe: %s", strerror(errno));
    program[length] = '\0';
    (void)snprintf(folder, sizeof(folder), "%s", program);
    slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    if (try_folder(getenv("WARPCHECK_LABS"), "", lab->script, path) ||
        try_folder(folder, "/../conformance/labs", lab->script, path) ||
        try_folder(folder, "/../share/warpcheck/labs", lab->script, path))
        return 0;
    return iwarp_sentence_set(
        error, "--dut %s: its script %s is neither in $WARPCHECK_LABS nor in the tree that %s was built in", lab->name,
        lab->script, program);
}

int lab_launch(const char *dut, int argc, char **argv, struct iwarp_sentence *error)
{
    const struct lab *lab = find(dut);
    char program[PATH_MAX], path[PATH_MAX];
    const char **arguments;
    size_t count = 0;

    if (lab == NULL)
        return 0;
    if (locate(lab, program, path, error) != 0)
        return -1;
    arguments = calloc((size_t)argc + 4, sizeof(*arguments));
    if (arguments == NULL)
        return iwarp_sentence_set(error, "out of memory");
    arguments[count++] = path;
    for (size_t i = 0; i < 2 && lab->options[i] != NULL; i++)
        arguments[count++] = lab->options[i];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--dut") == 0)
            i++;
        else if (strncmp(argv[i], "--dut=", sizeof("--dut=") - 1) != 0)
            arguments[count++] = argv[i];
    }
    (void)setenv("WARPCHECK", program, 1);
    (void)execv(path, (char *const *)arguments);
    (void)iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    free(arguments);
    return -1;
}
