/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static struct file {
    int descriptor; /* 0: not made */
    char path[32];
} files[FUZZ_FILES];

const char *fuzz_file(unsigned slot, const void *octets, size_t count)
{
    struct file *file = &files[slot];

    if (file->descriptor == 0) {
        file->descriptor = memfd_create("fuzz", MFD_CLOEXEC);
        (void)snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->descriptor);
    }
    FUZZ_HOLDS(file->descriptor > 0 && ftruncate(file->descriptor, 0) == 0);
    FUZZ_HOLDS(pwrite(file->descriptor, octets, count, 0) == (ssize_t)count);
    return file->path;
}

const char *fuzz_path(unsigned slot)
{
    return files[slot].path;
}

size_t fuzz_parts(const uint8_t *data, size_t size, const char **paths, size_t most)
{
    size_t count = 0, begin = 0;

    for (size_t i = 0; i <= size && count < most; i++) {
        bool boundary = i == size || (data[i] == '=' && (i == 0 || data[i - 1] == '\n'));

        if (!boundary)
            continue;
        if (i > begin) {
            paths[count] = fuzz_file((unsigned)count, data + begin, i - begin);
            count++;
        }
        while (i < size && data[i] != '\n')
            i++;
        begin = i + 1;
    }
    return count;
}

char *fuzz_file_read(unsigned slot, size_t *count)
{
    struct stat status;

    FUZZ_HOLDS(fstat(files[slot].descriptor, &status) == 0);
    size_t size = (size_t)status.st_size;
    char *text = malloc(size + 1);

    FUZZ_HOLDS(text != NULL && pread(files[slot].descriptor, text, size, 0) == (ssize_t)size);
    text[size] = '\0';
    if (count != NULL)
        *count = size;
    return text;
}
