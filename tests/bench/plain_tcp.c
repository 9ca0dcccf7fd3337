/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "tests/bench/plain_tcp.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 64 };

double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct usage usage_now(void)
{
    struct usage all = {0};

    for (int i = 0; i < 2; i++) {
        struct rusage usage;

        (void)getrusage(i == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &usage);
        all.user += (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
        all.system += (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
        all.switches += (double)(usage.ru_nvcsw + usage.ru_nivcsw);
    }
    return all;
}

struct usage usage_each(const struct usage *before, double done)
{
    struct usage now = usage_now();

    return (struct usage){(now.user - before->user) / done, (now.system - before->system) / done,
                          (now.switches - before->switches) / done};
}

void pin_process(unsigned which)
{
    static cpu_set_t all;
    cpu_set_t one;

    if (CPU_COUNT(&all) == 0 && sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    for (int processor = 0; CPU_COUNT(&all) > 1 && processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &all) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            (void)sched_setaffinity(0, sizeof(one), &one);
            return;
        }
}

_Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static void write_all(int fd, const uint8_t *octets, size_t count)
{
    while (count != 0) {
        ssize_t done = write(fd, octets, count);

        if (done <= 0)
            die("plain TCP: write failed");
        octets += done;
        count -= (size_t)done;
    }
}

static void read_all(int fd, uint8_t *octets, size_t count)
{
    while (count != 0) {
        ssize_t done = read(fd, octets, count);

        if (done <= 0)
            die("plain TCP: read failed");
        octets += done;
        count -= (size_t)done;
    }
}

static int loopback(struct sockaddr_in *name)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(name, 0, sizeof(*name));
    name->sin_family = AF_INET;
    name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return fd;
}

static void plain_responder(int server, bool ping)
{
    static uint8_t buffer[131072];
    int fd = accept(server, NULL, NULL);
    int one = 1;

    pin_process(1);
    ssize_t count;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (ping) {
        while (read(fd, buffer, SMALL) == SMALL)
            write_all(fd, buffer, SMALL);
        exit(0);
    }
    /* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): only the sign counts */
    while ((count = read(fd, buffer, sizeof(buffer))) > 0) {
    }
    write_all(fd, buffer, 1);
    exit(0);
}

struct result plain_tcp(bool ping, size_t size, double limit)
{
    static uint8_t buffer[1 << 20];
    struct sockaddr_in name;
    socklen_t octets = sizeof(name);
    int server = loopback(&name);

    int one = 1;
    struct usage before = usage_now();
    double began, done = 0;
    double ended;
    pid_t child;
    int fd;

    if (bind(server, (struct sockaddr *)&name, sizeof(name)) != 0 || listen(server, 1) != 0 ||
        getsockname(server, (struct sockaddr *)&name, &octets) != 0)
        die("plain TCP: no listener");
    memset(buffer, 2, sizeof(buffer));
    child = fork();
    if (child == 0)
        plain_responder(server, ping);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0)
        die("plain TCP: no connection");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    began = seconds_now();
    do {
        /* NOLINTNEXTLINE(cert-flp30-c): rounds are counted as the ratio wants them */
        for (size_t i = 0; i < (ping ? 100 : 1 + 65536 / size); i++, done += ping ? 1 : (double)size) {
            write_all(fd, buffer, size);
            if (ping)
                read_all(fd, buffer, size);
        }
    } while (seconds_now() - began < limit);
    if (!ping) {
        (void)shutdown(fd, SHUT_WR);
        read_all(fd, buffer, 1);
    }
    ended = seconds_now();
    close(fd);
    close(server);
    (void)waitpid(child, NULL, 0);
    return (struct result){done / (ended - began), usage_each(&before, done)};
}
