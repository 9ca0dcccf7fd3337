/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/process/child_end.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

int child_end(pid_t pid, const char *what, int *status, struct iwarp_sentence *error)
{
    int how;

    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return iwarp_sentence_set(error, "the %s is lost: %s", what, strerror(errno));
    if (!WIFEXITED(how))
        return iwarp_sentence_set(error, "the %s was killed by signal %d", what, WTERMSIG(how));
    *status = WEXITSTATUS(how);
    return 0;
}
