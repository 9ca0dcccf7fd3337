/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_conditions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/shard.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

static void write_all(FILE *out, const char *before, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s%s", before[0] != '\0' || i != 0 ? " " : "", before, texts[i]);
}

/* The names of the bits that are set, each after the option's name. */
static void write_mask(FILE *out, const char *option, unsigned mask, unsigned count, const char *(*name)(unsigned))
{
    for (unsigned i = 0; i < count; i++)
        if ((mask >> i & 1) != 0)
            fprintf(out, " %s %s", option, name(i));
}

static const char *layer_name(unsigned i)
{
    return requirement_layer_name((enum requirement_layer)i);
}

static const char *level_name(unsigned i)
{
    return requirement_level_name((enum requirement_level)i);
}

static const char *observability_name(unsigned i)
{
    return requirement_observability_name((enum requirement_observability)i);
}

static void write_selection(FILE *out, const struct run_options *options)
{
    const struct selection *selection = &options->selection;

    write_all(out, "", selection->pattern, selection->pattern_count);
    write_all(out, "--section ", selection->section, selection->section_count);
    write_all(out, "--role ", selection->subject, selection->subject_count);
    write_mask(out, "--layer", selection->layers, REQUIREMENT_LAYERS, layer_name);
    write_mask(out, "--level", selection->levels, REQUIREMENT_LEVELS, level_name);
    write_mask(out, "--observability", selection->observabilities, REQUIREMENT_OBSERVABILITIES, observability_name);
}

static void write_option(void *user, const char *name, const char *value)
{
    fprintf(user, " %s%s%s", name, value != NULL ? " " : "", value != NULL ? value : "");
}

static void write_options(FILE *out, const struct run_options *options)
{
    option_table_repeat(&run_option_table, options, OPTION_CONDITIONS, write_option, out);
}

static int set_text(json_t *conditions, const char *name, void (*write)(FILE *, const struct run_options *),
                    const struct run_options *options)
{
    char *text = NULL, *clean = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    int rc = -1;

    if (out == NULL)
        return -1;
    write(out, options);
    if (text_stream_close(out, &text)) /* the text begins with the blank before its first word */
        clean = text_clean(text + (text[0] == ' '));
    if (clean != NULL)
        rc = json_object_set_new(conditions, name, json_string(clean));
    free(clean);
    free(text);
    return rc;
}

static int set_digest(json_t *conditions, const char *name, uint64_t digest)
{
    char text[SHARD_DIGEST_OCTETS];

    shard_digest_show(digest, text);
    return json_object_set_new(conditions, name, json_string(text));
}

static int profile_digest(const char *path, uint64_t *digest, struct iwarp_sentence *error)
{
    FILE *file = fopen(path, "re");
    char octets[4096];
    size_t count;
    int failed;

    if (file == NULL)
        return iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    *digest = DIGEST_START;
    while ((count = fread(octets, 1, sizeof(octets), file)) != 0)
        *digest = digest_octets(*digest, octets, count);
    failed = ferror(file);
    (void)fclose(file);
    return failed == 0 ? 0 : iwarp_sentence_set(error, "%s: cannot be read", path);
}

json_t *run_conditions(const struct run_options *options, const struct script_host *host, struct iwarp_sentence *error)
{
    json_t *conditions = json_object();
    uint64_t profile = 0;
    int rc = 0;

    if (options->profile != NULL && profile_digest(options->profile, &profile, error) != 0) {
        json_decref(conditions);
        return NULL;
    }
    rc |= set_text(conditions, "selection", write_selection, options);
    rc |= set_text(conditions, "options", write_options, options);
    rc |= set_digest(conditions, "scripts", script_digest(host));
    if (options->profile != NULL)
        rc |= set_digest(conditions, "profile", profile);
    if (rc == 0)
        return conditions;
    json_decref(conditions);
    (void)iwarp_sentence_set(error, "out of memory");
    return NULL;
}
