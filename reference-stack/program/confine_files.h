/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of confine() that is about files: Landlock (landlock(7)). */
#ifndef REFERENCE_STACK_CONFINE_FILES_H
#define REFERENCE_STACK_CONFINE_FILES_H

#include <stdbool.h>

#include "reference-stack/program/confine.h"

/*
 * AddressSanitizer's leak check stops the process by ptrace(), and it runs a program to name the places that it
 * reports. A sanitised build has no filter of system calls, and may execute programs. confine_files.c says what
 * coverage needs.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINE_SANITISED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CONFINE_SANITISED 1
#endif
#endif
#ifndef CONFINE_SANITISED
#define CONFINE_SANITISED 0
#endif

/* valgrind knows neither seccomp() nor Landlock's calls, and says so at length: both are left out under it. */
bool confine_under_valgrind(void);

/* The version that is used; 0: the kernel has none, or the build leaves it out. */
int confine_files_abi(void);

/* 0, or -1: nothing has changed. */
int confine_files(const struct confine_config *config);

/* The same as on a kernel with that version, which may be older than this kernel, or one that nobody knows yet. */
int confine_files_as(const struct confine_config *config, int version);

#endif
