/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard input, output and error of a program, for its main() alone: nothing that the program opens ever gets the
 * descriptors 0 to 2, and output that was lost is no success.
 */
#ifndef TOOLS_STANDARD_STREAMS_H
#define TOOLS_STANDARD_STREAMS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * At the start of main(). A standard descriptor that the caller has closed is opened the wrong way round: it is taken,
 * and using it fails as if it were still closed. A file that outgrows the limit of its size (RLIMIT_FSIZE) is an error
 * of write(2) then, and no signal that ends the program. False: a descriptor is closed and cannot be taken.
 */
static inline bool standard_streams_open(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) >= 0)
            continue;
        /* The lowest free descriptor is i itself. A folder can be opened where there is no /dev. */
        if (open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i && open("/", O_RDONLY | O_DIRECTORY) != i)
            return false;
    }
    return true;
}

/*
 * After a failure of standard output has been reported: nothing more is written there, and standard_streams_close()
 * does not report it again. The status has to say it.
 */
static inline void standard_output_drop(void)
{
    (void)!freopen("/dev/null", "w", stdout);
}

/*
 * At the end of main(): the exit status. `lost` instead of `status` when something that was written to standard output
 * or standard error did not arrive there; of standard output one line on standard error says so.
 */
static inline int standard_streams_close(const char *program, int status, int lost)
{
    bool failed = ferror(stdout) != 0;

    errno = 0;
    if (fclose(stdout) != 0)
        failed = true;
    if (failed) {
        fprintf(stderr, "%s: standard output cannot be written%s%s: output is lost\n", program, errno != 0 ? ": " : "",
                errno != 0 ? strerror(errno) : "");
        status = lost;
    }
    return ferror(stderr) != 0 ? lost : status;
}

#endif
