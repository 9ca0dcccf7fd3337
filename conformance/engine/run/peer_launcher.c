/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/peer_launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct peer {
    const char *name;
    const char *script;
    const char *options[2];
} peers[] = {
    {"linux-siw", "linux/run.sh", {NULL, NULL}},
    {"linux-siw-6.1", "linux/run.sh", {"--series", "6.1"}},
    {"linux-siw-6.12", "linux/run.sh", {"--series", "6.12"}},
};

const char *peer_name(size_t index)
{
    return index < sizeof(peers) / sizeof(peers[0]) ? peers[index].name : NULL;
}

static const struct peer *find(const char *dut)
{
    if (access(dut, F_OK) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
        if (strcmp(peers[i].name, dut) == 0)
            return &peers[i];
    return NULL;
}

static bool try_folder(const char *folder, const char *below, const char *script, char path[PATH_MAX])
{
    return folder != NULL && snprintf(path, PATH_MAX, "%s%s/%s", folder, below, script) < PATH_MAX &&
           access(path, X_OK) == 0;
}

/* Path of the program, and of the script to start. */
static int locate(const struct peer *peer, char program[PATH_MAX], char path[PATH_MAX], struct sentence *error)
{
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    char folder[PATH_MAX];
    char *slash;

    if (length < 0)
        return sentence_set(error, "/proc/self/exe: %s", strerror(errno));
    program[length] = '\0';
    (void)snprintf(folder, sizeof(folder), "%s", program);
    slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    if (try_folder(getenv("WARPCHECK_PEERS"), "", peer->script, path) ||
        try_folder(folder, "/../conformance/peers", peer->script, path) ||
        try_folder(folder, "/../share/warpcheck/peers", peer->script, path))
        return 0;
    return sentence_set(error,
                        "--dut %s: its script %s is neither in $WARPCHECK_PEERS nor in the tree that %s was built in",
                        peer->name, peer->script, program);
}

int peer_launch(const char *dut, int argc, char **argv, struct sentence *error)
{
    const struct peer *peer = find(dut);
    char program[PATH_MAX], path[PATH_MAX];
    const char **arguments;
    size_t count = 0;

    if (peer == NULL)
        return 0;
    if (locate(peer, program, path, error) != 0)
        return -1;
    arguments = calloc((size_t)argc + 4, sizeof(*arguments));
    if (arguments == NULL)
        return sentence_set(error, "out of memory");
    arguments[count++] = path;
    for (size_t i = 0; i < 2 && peer->options[i] != NULL; i++)
        arguments[count++] = peer->options[i];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--dut") == 0)
            i++;
        else
            arguments[count++] = argv[i];
    }
    (void)setenv("WARPCHECK", program, 1);
    (void)execv(path, (char *const *)arguments);
    (void)sentence_set(error, "%s: %s", path, strerror(errno));
    free(arguments);
    return -1;
}
