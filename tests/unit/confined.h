/* SPDX-License-Identifier: BSD-2-Clause */
/* A confined process that tries things, for the suites of confine(): a child, which nothing can set free. */
#ifndef TESTS_UNIT_CONFINED_H
#define TESTS_UNIT_CONFINED_H

#include <stdbool.h>
#include <stdint.h>

/* What a child has found, its exit status. */
enum { HELD = 0, WRONG = 1, UNCONFINED = 3 };

/* Two folders, each with a file "old"; in the first one "below" is a folder, and "link" leads to the second. */
extern char confined_inside[64], confined_outside[64];

/* A fixture: makes and removes the folders. */
void confined_setup(void);
void confined_teardown(void);

/* What body() finds in a child that is confined with confined_inside to write in. */
int confined(unsigned needs, uint64_t capabilities, int (*body)(void));

/* What body() finds in a child that is not. */
int unconfined(int (*body)(void));

/* FOLDER/NAME, until the next call. */
const char *confined_path(const char *folder, const char *name);

/* FOLDER/NAME can be opened. */
bool confined_opens(const char *folder, const char *name, int flags);

/* A TCP connection over loopback comes about. */
bool confined_connects(void);

/* A number of /proc/self/status. */
unsigned long long confined_status(const char *name, int base);

/* Calls are filtered, in this build and by this kernel. */
bool confined_filtered(void);

#endif
