/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/progress.h"

#include <stdio.h>

enum { DONE_LEAST = 3, SECONDS_LEAST = 2, SECONDS_MOST = 90, NANOSECONDS = 1000000000 };

const char *progress_left(struct progress *progress, size_t done, size_t total, uint64_t now_ns,
                          char text[PROGRESS_LEFT_OCTETS])
{
    double passed, left;

    text[0] = '\0';
    if (!progress->begun)
        *progress = (struct progress){true, done, now_ns};
    if (done < progress->first || done - progress->first < DONE_LEAST || done >= total || now_ns < progress->since_ns)
        return text;
    passed = (double)(now_ns - progress->since_ns) / NANOSECONDS;
    if (passed < SECONDS_LEAST)
        return text;
    left = passed / (double)(done - progress->first) * (double)(total - done);
    if (left > SECONDS_MOST)
        (void)snprintf(text, PROGRESS_LEFT_OCTETS, "about %.0f min left", left / 60);
    else
        (void)snprintf(text, PROGRESS_LEFT_OCTETS, "about %.0f s left", left);
    return text;
}
