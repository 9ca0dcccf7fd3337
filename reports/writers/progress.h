/* SPDX-License-Identifier: BSD-2-Clause */
/* How long the rest of some work takes, judged by the part that is done. The caller reads the clock. */
#ifndef REPORTS_PROGRESS_H
#define REPORTS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_LEFT_OCTETS = 40 };

/* All zero: nothing was seen yet. */
struct progress {
    bool begun;
    size_t first;      /* how many were done when this was first asked: an earlier run's, whose time is unknown */
    uint64_t since_ns; /* and when */
};

/*
 * "about 40 s left", "about 3 min left" in `text`, which is returned: when at `now_ns` (of a clock that does not go
 * back) `done` of `total` things are done. "" as long as too little is done, or too little time has passed, to say so.
 */
const char *progress_left(struct progress *progress, size_t done, size_t total, uint64_t now_ns,
                          char text[PROGRESS_LEFT_OCTETS]);

#endif
