/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* fopencookie */
#include "base/text_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/out_of_memory.h"

enum { ROOM_LEAST = 1024 };

struct text_stream {
    char **text;
    size_t *octets;
    size_t room;
};

/* 0 is an error to stdio. */
static ssize_t write_octets(void *cookie, const char *octets, size_t count)
{
    struct text_stream *stream = cookie;
    size_t wanted = *stream->octets + count + 1, room = stream->room;

    while (room < wanted)
        room *= 2;
    if (room != stream->room) {
        char *grown = realloc(*stream->text, room);

        if (grown == NULL)
            return 0;
        *stream->text = grown;
        stream->room = room;
    }
    memcpy(*stream->text + *stream->octets, octets, count);
    *stream->octets += count;
    (*stream->text)[*stream->octets] = '\0';
    return (ssize_t)count;
}

static int close_stream(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *text_stream_open(char **text, size_t *octets)
{
    static const cookie_io_functions_t functions = {.write = write_octets, .close = close_stream};
    struct text_stream *stream = malloc(sizeof(*stream));
    FILE *file = NULL;

    *octets = 0;
    *text = malloc(ROOM_LEAST);
    if (stream != NULL && *text != NULL) {
        **text = '\0';
        *stream = (struct text_stream){text, octets, ROOM_LEAST};
        file = fopencookie(stream, "w", functions);
    }
    if (file == NULL) {
        free(stream);
        free(*text);
        *text = NULL;
        out_of_memory_note();
    }
    return file;
}

bool text_stream_close(FILE *stream, char **text)
{
    bool failed = ferror(stream) != 0;

    if (fclose(stream) == 0 && !failed)
        return true;
    free(*text);
    *text = NULL;
    out_of_memory_note();
    return false;
}
