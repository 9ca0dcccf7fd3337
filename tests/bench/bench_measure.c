/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_measure OUT COMMAND...: runs a command and writes "wall user system maxrss status" to OUT: seconds, KiB and the
 * exit status (128 and more: killed by a signal). Exits with 0 if the command could be run at all.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct timespec began, ended;
    struct rusage usage;
    int status;

    if (argc < 3) {
        (void)fprintf(stderr, "usage: bench_measure OUT COMMAND...\n");
        return 2;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    pid_t child = fork();

    if (child == 0) {
        (void)execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("bench_measure");
        return EXIT_FAILURE;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);

    FILE *out = fopen(argv[1], "w");

    if (out == NULL) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    (void)fprintf(out, "%.3f %.3f %.3f %ld %d\n",
                  (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9,
                  seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), usage.ru_maxrss,
                  WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
