/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/show/wrap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   40
#define WIDTH_MOST    400

void wrap_print(FILE *out, const char *text, unsigned width, unsigned column, unsigned indent)
{
    bool line_empty = true;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");

        if (!line_empty && column + 1 + word > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            line_empty = true;
        }
        if (!line_empty) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += (unsigned)word;
        line_empty = false;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

unsigned wrap_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns != NULL ? strtoul(columns, NULL, 10) : 0;
    struct winsize size;

    if (width == 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0)
        width = WIDTH_DEFAULT;
    if (width < WIDTH_LEAST)
        width = WIDTH_LEAST;
    return width > WIDTH_MOST ? WIDTH_MOST : (unsigned)width;
}

bool wrap_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");

    return isatty(fd) && (no_colour == NULL || no_colour[0] == '\0');
}
