/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exit statuses of all our programs; the numbers are part of the interface. If several hold, the first in this list
 * wins: a FAIL stays a FAIL if other results are undecided, and an undecided result is never reported as conformance.
 *
 *   1 a FAIL; 4 something was not judged; 3 nothing was decided; 4 something was not decided; 5 known deviations and
 *   nothing new; 0
 *
 * A usage error (2) ends a command before it judges anything.
 */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum exit_status {
    EXIT_CONFORMS = 0,
    EXIT_FAILS = 1,            /* at least one FAIL; `prove`: a defect survived */
    EXIT_USAGE = 2,            /* the command line or a file that the user named is wrong */
    EXIT_NOTHING_SELECTED = 3, /* nothing was selected, or all of it was skipped: never a success */
    EXIT_INCONCLUSIVE = 4,     /* something was not decided */
    EXIT_KNOWN = 5,            /* the device deviates as its profile knows, and in nothing else */

    EXIT_DONE = EXIT_CONFORMS,            /* of a command that judges nothing */
    EXIT_ENVIRONMENT = EXIT_INCONCLUSIVE, /* memory, disk, network: the command could not do its work */
};

#ifdef __cplusplus
}
#endif

#endif
