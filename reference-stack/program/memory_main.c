/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The linker replaces the C library's functions by these in every object of the program warpcheck (--wrap,
 * mk/variant.mk). Each failed allocation is recorded, and the program then cannot end with success, even if the error
 * was handled. The libraries that it is linked with get their own allocators (main.c).
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/out_of_memory.h"

/*
 * Functions that say with NULL, and ENOMEM where there may be other reasons, that they have no memory. With offsets of
 * 64 bits (-D_FILE_OFFSET_BITS=64) the C library has other names for some.
 */
#define WATCH(type, name, parameters, arguments, checked)                                                              \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        type got = __real_##name arguments;                                                                            \
        if (checked)                                                                                                   \
            out_of_memory_note();                                                                                      \
        return got;                                                                                                    \
    }

WATCH(void *, malloc, (size_t octets), (octets), got == NULL)
WATCH(void *, calloc, (size_t count, size_t octets), (count, octets), got == NULL)
WATCH(void *, realloc, (void *old, size_t octets), (old, octets), got == NULL && octets != 0)
WATCH(char *, strdup, (const char *text), (text), got == NULL)
WATCH(char *, strndup, (const char *text, size_t octets), (text, octets), got == NULL)
WATCH(int, vasprintf, (char **text, const char *format, va_list arguments), (text, format, arguments), got < 0)
WATCH(FILE *, fopen, (const char *path, const char *mode), (path, mode), got == NULL && errno == ENOMEM)
WATCH(FILE *, fopen64, (const char *path, const char *mode), (path, mode), got == NULL && errno == ENOMEM)
WATCH(FILE *, fdopen, (int file, const char *mode), (file, mode), got == NULL && errno == ENOMEM)
WATCH(FILE *, tmpfile, (void), (), got == NULL && errno == ENOMEM)
WATCH(FILE *, tmpfile64, (void), (), got == NULL && errno == ENOMEM)
WATCH(DIR *, opendir, (const char *path), (path), got == NULL && errno == ENOMEM)
WATCH(DIR *, fdopendir, (int file), (file), got == NULL && errno == ENOMEM)
WATCH(char *, realpath, (const char *path, char *resolved), (path, resolved), got == NULL && errno == ENOMEM)
WATCH(int, scandir,
      (const char *path, struct dirent ***entries, int (*filter)(const struct dirent *),
       int (*order)(const struct dirent **, const struct dirent **)),
      (path, entries, filter, order), got < 0 && errno == ENOMEM)
WATCH(int, scandir64,
      (const char *path, struct dirent ***entries, int (*filter)(const struct dirent *),
       int (*order)(const struct dirent **, const struct dirent **)),
      (path, entries, filter, order), got < 0 && errno == ENOMEM)

int __wrap_asprintf(char **text, const char *format, ...);

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return count;
}
