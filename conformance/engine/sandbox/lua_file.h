/* SPDX-License-Identifier: BSD-2-Clause */
/* A script from a file. */
#ifndef CONFORMANCE_ENGINE_LUA_FILE_H
#define CONFORMANCE_ENGINE_LUA_FILE_H

#include <stddef.h>

#include "base/sentence.h"

/*
 * The whole of a script, which has at most 1 MiB, malloc'd; "-" is standard input. NULL with the sentence set and
 * errno, which is ENOMEM where memory is short.
 */
char *lua_file_read(const char *path, size_t *count, struct iwarp_sentence *error);

#endif
