/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The coverage build's _exit(): child processes that leave by it (audit's and prove's workers) count as well. Linked
 * with -Wl,--wrap=_exit.
 */
#include <unistd.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
