/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/confined.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference-stack/program/confine_files.h"

char confined_inside[64], confined_outside[64];
static char path[256];

const char *confined_path(const char *folder, const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void make_file(const char *name)
{
    int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, "x", 1), 1);
    ck_assert_int_eq(close(file), 0);
}

void confined_setup(void)
{
    (void)snprintf(confined_inside, sizeof(confined_inside), "/tmp/confine-in.XXXXXX");
    (void)snprintf(confined_outside, sizeof(confined_outside), "/tmp/confine-out.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(confined_inside));
    ck_assert_ptr_nonnull(mkdtemp(confined_outside));
    ck_assert_int_eq(mkdir(confined_path(confined_inside, "below"), 0777), 0);
    make_file(confined_path(confined_inside, "old"));
    make_file(confined_path(confined_outside, "old"));
    ck_assert_int_eq(symlink(confined_outside, confined_path(confined_inside, "link")), 0);
}

void confined_teardown(void)
{
    char command[256];

    (void)snprintf(command, sizeof(command), "rm -rf %s %s", confined_inside, confined_outside);
    ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): names that mkdtemp() made */
}

int confined(unsigned needs, uint64_t capabilities, int (*body)(void))
{
    const char *writable[] = {confined_inside, "/nowhere/at/all"};
    struct confine_config config = {writable, 2, needs, capabilities};
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct iwarp_sentence error;

        if (confine(&config, &error) != 0)
            _exit(UNCONFINED);
        _exit(body());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

int unconfined(int (*body)(void))
{
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(body());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

unsigned long long confined_status(const char *name, int base)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    unsigned long long value = ~0ULL;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            value = strtoull(line + strlen(name) + 1, NULL, base);
    if (file != NULL)
        (void)fclose(file);
    return value;
}

bool confined_filtered(void)
{
    return !CONFINE_SANITISED && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

bool confined_opens(const char *folder, const char *name, int flags)
{
    int file = open(confined_path(folder, name), flags | O_CLOEXEC, 0666);

    if (file >= 0)
        (void)close(file);
    return file >= 0;
}

bool confined_connects(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t octets = sizeof(name);
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    bool good = server >= 0 && client >= 0 && bind(server, (struct sockaddr *)&name, octets) == 0 &&
                listen(server, 1) == 0 && getsockname(server, (struct sockaddr *)&name, &octets) == 0 &&
                connect(client, (struct sockaddr *)&name, octets) == 0;

    if (server >= 0)
        (void)close(server);
    if (client >= 0)
        (void)close(client);
    return good;
}
