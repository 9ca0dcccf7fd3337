/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/program/complaint.h"

#include <stdarg.h>

#include "tools/standard_streams.h"
#include "base/exit_status.h"
#include "base/plain_text.h"

/* One octet of a text may become three; what does not fit is left out. */
enum { TEXT_OCTETS = 4096, LINE_OCTETS = 8192, NAME_OCTETS = 240 };

/* Of the process, as its standard streams are. */
static char name[NAME_OCTETS];

void complain_as(const char *program, const char *command)
{
    (void)snprintf(name, sizeof(name), "%.200s%s%.30s: ", program, command != NULL ? " " : "",
                   command != NULL ? command : "");
}

__attribute__((format(printf, 3, 0))) static void print(FILE *out, const char *begin, const char *format,
                                                        va_list arguments)
{
    char text[TEXT_OCTETS], line[LINE_OCTETS];
    int used = snprintf(text, sizeof(text), "%s", begin);

    (void)vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
    (void)plain_text(text, true, line, sizeof(line));
    fprintf(out, "%s\n", line);
}

int complain(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(stderr, name, format, arguments);
    va_end(arguments);
    if (status == EXIT_ENVIRONMENT && ferror(stdout))
        standard_output_drop();
    return status;
}

void print_plain(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(out, "", format, arguments);
    va_end(arguments);
}
