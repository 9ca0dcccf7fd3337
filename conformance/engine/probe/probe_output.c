/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/probe/probe_text.h"
#include "reference-stack/program/complaint.h"

#define PROFILE_FLAGS (JSON_INDENT(2) | JSON_PRESERVE_ORDER)

int probe_output_check(const char *path, bool force, struct iwarp_sentence *error)
{
    struct stat there;

    if (!force && lstat(path, &there) == 0)
        return iwarp_sentence_set(error, "%s is there already; --force replaces it", path);
    return 0;
}

/* A profile that is not whole does not stay. */
static int write_file(const char *path, bool force, const json_t *profile, struct iwarp_sentence *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool whole;

    if (file == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return iwarp_sentence_set(error, "%s: cannot write the profile: %s", path, strerror(errno));
    }
    whole = json_dumpf(profile, file, PROFILE_FLAGS) == 0 && fputc('\n', file) != EOF;
    if (fclose(file) == 0 && whole)
        return 0;
    (void)iwarp_sentence_set(error, "%s: cannot write the profile: %s", path, strerror(errno));
    (void)unlink(path);
    return -1;
}

static void write_jsonl(const json_t *found)
{
    const json_t *line;
    size_t i;

    json_array_foreach(found, i, line)
    {
        (void)json_dumpf(line, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
        fputc('\n', stdout);
    }
}

int probe_output_write(const struct probe_options *options, const json_t *found, const json_t *profile,
                       struct iwarp_sentence *error)
{
    if (options->jsonl)
        write_jsonl(found);
    else
        probe_text_write(found, stdout);
    if (json_is_null(profile)) {
        if (!options->jsonl)
            fputs("no profile is written: nothing was measured\n", stdout);
        return 0;
    }
    if (options->output == NULL && !options->jsonl) {
        fputs("\nprofile:\n", stdout);
        (void)json_dumpf(profile, stdout, PROFILE_FLAGS);
        fputc('\n', stdout);
    }
    if (options->output == NULL)
        return 0;
    if (write_file(options->output, options->force, profile, error) != 0)
        return -1;
    if (!options->jsonl)
        print_plain(stdout, "profile written to %s", options->output);
    return 0;
}
