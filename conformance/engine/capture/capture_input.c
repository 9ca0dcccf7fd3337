/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 18 };

struct capture_input {
    FILE *file;
    bool regular;
    bool ended;
    int error;
    uint64_t read; /* octets of the file that were read */
    uint8_t *octets;
    size_t room;
    size_t begin, end; /* of those that were read and not asked for yet */
};

struct capture_input *capture_input_new(FILE *file, bool regular, uint64_t at)
{
    struct capture_input *input = calloc(1, sizeof(*input));

    if (input == NULL)
        return NULL;
    *input = (struct capture_input){.file = file, .regular = regular, .read = at, .room = BLOCK};
    input->octets = malloc(BLOCK);
    if (input->octets != NULL)
        return input;
    free(input);
    return NULL;
}

/* Room for so many octets from `begin` on. */
static bool make_room(struct capture_input *input, size_t count)
{
    size_t left = input->end - input->begin;
    uint8_t *grown;

    if (count <= input->room - input->begin && left != 0)
        return true;
    if (left != 0)
        memmove(input->octets, input->octets + input->begin, left);
    input->begin = 0;
    input->end = left;
    if (count <= input->room)
        return true;
    grown = realloc(input->octets, count + count / 2);
    if (grown == NULL) {
        input->error = ENOMEM;
        return false;
    }
    input->octets = grown;
    input->room = count + count / 2;
    return true;
}

/* Appends some octets: up to a whole block of a file on disk, `missing` of anything else. False: there is none. */
static bool append(struct capture_input *input, size_t missing)
{
    uint8_t *at = input->octets + input->end;
    ssize_t count;

    if (input->regular) {
        do
            count = pread(fileno(input->file), at, input->room - input->end, (off_t)input->read);
        while (count < 0 && errno == EINTR);
        if (count < 0)
            input->error = errno;
    } else {
        errno = 0;
        count = (ssize_t)fread(at, 1, missing, input->file);
        if (count == 0 && ferror(input->file))
            input->error = errno != 0 ? errno : EIO;
    }
    if (count <= 0) {
        input->ended = true;
        return false;
    }
    input->end += (size_t)count;
    input->read += (uint64_t)count;
    return true;
}

static bool fill(struct capture_input *input, size_t count)
{
    if (input->ended || !make_room(input, count))
        return false;
    while (input->end - input->begin < count)
        if (!append(input, count - (input->end - input->begin)))
            return false;
    return true;
}

const uint8_t *capture_input_next(struct capture_input *input, size_t count, size_t *have)
{
    const uint8_t *octets;

    if (input->end - input->begin < count && !fill(input, count)) {
        *have = input->end - input->begin;
        input->begin = input->end;
        return NULL;
    }
    octets = input->octets + input->begin;
    input->begin += count;
    return octets;
}

uint64_t capture_input_place(const struct capture_input *input)
{
    return input->read - (input->end - input->begin);
}

int capture_input_error(const struct capture_input *input)
{
    return input->error;
}

void capture_input_free(struct capture_input *input)
{
    if (input == NULL)
        return;
    free(input->octets);
    free(input);
}
