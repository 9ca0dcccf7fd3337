/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/program/complaint.h"

#include <stdarg.h>

#include "wire/plain_text.h"

/* One octet of a text may become three; what does not fit is left out. */
enum { TEXT_OCTETS = 4096, LINE_OCTETS = 8192 };

__attribute__((format(printf, 3, 0))) static void print(FILE *out, const char *program, const char *format,
                                                        va_list arguments)
{
    char text[TEXT_OCTETS], line[LINE_OCTETS];
    int used = snprintf(text, sizeof(text), "%.200s%s", program, program[0] != '\0' ? ": " : "");

    (void)vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
    (void)plain_text(text, true, line, sizeof(line));
    fprintf(out, "%s\n", line);
}

int complaint(int status, const char *program, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(stderr, program, format, arguments);
    va_end(arguments);
    return status;
}

void print_plain(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(out, "", format, arguments);
    va_end(arguments);
}
