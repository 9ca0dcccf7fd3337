/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/audit_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/option/option_unknown.h"
#include "conformance/requirements/named.h"
#include "reports/results/result.h"

enum { PROCESSES_MAX = 1024, SPREAD_WEEKS_MAX = 51 };

static const unsigned long long memory_max = 1ull << 40;

/* An option with a value: "-o DIR", "--format=F". *value is NULL when this is another option. */
static int option_value(const char *name, int argc, char **argv, int *index, const char **value,
                        struct iwarp_sentence *error)
{
    size_t length = strlen(name);

    *value = NULL;
    if (strcmp(argv[*index], name) == 0) {
        if (*index + 1 >= argc)
            return iwarp_sentence_set(error, "%s needs a value", name);
        *value = argv[*index + 1];
        *index += 2;
    } else if (length > 2 && strncmp(argv[*index], name, length) == 0 && argv[*index][length] == '=') {
        *value = argv[*index] + length + 1;
        *index += 1;
    } else if (length == 2 && strncmp(argv[*index], name, length) == 0) {
        *value = argv[*index] + length; /* "-j4" */
        *index += 1;
    }
    return 0;
}

static int processes_parse(struct audit_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;
    long number = strtol(value, &end, 10);

    if (end == value || *end != '\0' || number < 1 || number > PROCESSES_MAX)
        return iwarp_sentence_set(error, "-j \"%.40s\": a number from 1 to %d was expected", value, PROCESSES_MAX);
    options->processes = (unsigned)number;
    return 0;
}

static int spread_parse(struct audit_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;
    long number = strtol(value, &end, 10);

    if (end == value || *end != '\0' || number < 1 || number > SPREAD_WEEKS_MAX)
        return iwarp_sentence_set(error, "--review-spread \"%.40s\": a number of weeks from 1 to %d was expected",
                                  value, SPREAD_WEEKS_MAX);
    options->spread = (unsigned)number;
    return 0;
}

/* "2G": octets, with K, M or G for 2^10, 2^20 or 2^30 of them. */
static int memory_parse(struct audit_options *options, const char *value, struct iwarp_sentence *error)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    unsigned shift = unit != NULL ? (unsigned)(unit - units + 1) * 10 : 0;

    if (*value < '0' || *value > '9' || (unit != NULL ? end[1] != '\0' : *end != '\0') ||
        number > memory_max >> shift || number << shift < FLOW_MEMORY_MIN)
        return iwarp_sentence_set(
            error, "--memory \"%.40s\": octets from 1M to 1024G were expected, such as 512M or 4G", value);
    options->memory = (size_t)(number << shift);
    return 0;
}

/* An option without a value. */
static int flag_parse(struct audit_options *options, char **argv, int *index, struct iwarp_sentence *error)
{
    if (strcmp(argv[*index], "--all") == 0)
        options->all = true;
    else if (strcmp(argv[*index], "--quiet") == 0)
        options->quiet = true;
    else if (strcmp(argv[*index], "--allow-gaps") == 0)
        options->allow_gaps = true;
    else if (strcmp(argv[*index], "--findings-only") == 0)
        options->findings_only = true;
    else if (strcmp(argv[*index], "--no-rings") == 0)
        options->no_rings = true;
    else if (strcmp(argv[*index], "--force") == 0)
        options->force = true;
    else
        return option_unknown("audit", argv[*index], NULL, NULL, error);
    ++*index;
    return 0;
}

static int option_parse(struct audit_options *options, int argc, char **argv, int *index, struct iwarp_sentence *error)
{
    const char *value;

    if (option_value("-o", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL) {
        options->output = value;
        return 0;
    }
    if (option_value("-j", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL)
        return processes_parse(options, value, error);
    if (option_value("--memory", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL)
        return memory_parse(options, value, error);
    if (option_value("--shard", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL)
        return shard_parse(&options->shard, value, error);
    if (option_value("--format", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL)
        return format_option_parse(&options->format, value, error);
    if (option_value("--rules", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL)
        return 0; /* cmd_audit() has loaded them: the catalogue has to know them */
    if (option_value("--expect", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL) {
        options->expect = value;
        return 0;
    }
    if (option_value("--write-expect", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL) {
        options->write_expect = value;
        return 0;
    }
    if (option_value("--review-spread", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL)
        return spread_parse(options, value, error);
    return flag_parse(options, argv, index, error);
}

/* Whether who typed this meant requirements: their ids begin like it ("MPA-"), or it is a glob and no path. */
static bool is_pattern(const char *argument, const struct catalogue *catalogue)
{
    const char *dash = strchr(argument, '-');

    if (strchr(argument, '/') != NULL || capture_name(argument))
        return false;
    if (strpbrk(argument, "*?[") != NULL)
        return true;
    for (size_t i = 0; dash != NULL && i < catalogue_count(catalogue); i++)
        if (strncasecmp(catalogue_at(catalogue, i)->id, argument, (size_t)(dash - argument) + 1) == 0)
            return true;
    return false;
}

static int file_add(struct audit_options *options, const char *path, struct iwarp_sentence *error)
{
    size_t before = options->files.count + options->files.skipped_count;

    if (capture_list_add(&options->files, path, error) != 0)
        return EXIT_USAGE;
    if (options->files.count + options->files.skipped_count != before)
        return 0;
    (void)iwarp_sentence_set(error, "nothing selected: %.300s holds no captures", path);
    return EXIT_NOTHING_SELECTED;
}

static int pattern_check(const struct audit_options *options, const struct catalogue *catalogue, const char *argument,
                         struct iwarp_sentence *error)
{
    if (selection_unmatched(&options->selection, catalogue) == NULL)
        return 0;
    if (is_pattern(argument, catalogue)) {
        (void)requirement_unmatched(catalogue, argument, error);
        return EXIT_NOTHING_SELECTED;
    }
    (void)iwarp_sentence_set(error, "%.300s: no such file or folder", argument);
    return EXIT_USAGE;
}

static int argument_parse(struct audit_options *options, const struct catalogue *catalogue, int argc, char **argv,
                          int *index, struct iwarp_sentence *error)
{
    const char *argument = argv[*index];
    struct stat status;
    int taken;

    if (strcmp(argument, CAPTURE_INPUT) == 0 || (argument[0] != '-' && stat(argument, &status) == 0)) {
        ++*index;
        return file_add(options, argument, error);
    }
    taken = selection_option(&options->selection, argc, argv, index, error);
    if (taken == 0)
        taken = option_parse(options, argc, argv, index, error);
    if (taken < 0)
        return EXIT_USAGE;
    return argument[0] != '-' ? pattern_check(options, catalogue, argument, error) : 0;
}

/* Files are judged at so many octets a time, and opening one costs about as much as so many octets. */
enum { OPENING_OCTETS = 65536 };

static uint64_t octets_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
}

/* A file's octets; of a ring those of all its files. */
static uint64_t octets_at(const struct capture_list *files, size_t index)
{
    const struct capture_ring *ring = capture_list_ring(files, index);
    uint64_t octets = ring == NULL ? octets_of(files->paths[index]) : 0;

    for (size_t i = 0; ring != NULL && i < ring->count; i++)
        octets += OPENING_OCTETS + octets_of(ring->files[i]);
    return octets;
}

/* What is shared out: these files of these sizes, by these requirements. */
static uint64_t digest_of(const struct audit_options *options, const struct catalogue *catalogue)
{
    uint64_t digest = SHARD_DIGEST_START;

    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        if (selection_matches(&options->selection, catalogue_at(catalogue, i)))
            digest = shard_digest_text(digest, catalogue_at(catalogue, i)->id);
    for (size_t i = 0; i < options->files.count; i++)
        digest = shard_digest_number(shard_digest_text(digest, options->files.paths[i]), octets_at(&options->files, i));
    return digest;
}

/* What is not this shard's is another's: their expectations are not missing here. */
static int elsewhere_note(struct audit_options *options, const bool *own, struct iwarp_sentence *error)
{
    const struct capture_list *files = &options->files;
    size_t room = 1;

    for (size_t i = 0; i < files->count; i++)
        room += capture_list_ring(files, i) != NULL ? capture_list_ring(files, i)->count : 1;
    options->elsewhere = calloc(room, sizeof(char *));
    for (size_t i = 0; options->elsewhere != NULL && i < files->count; i++) {
        const struct capture_ring *ring = capture_list_ring(files, i);

        for (size_t k = 0; !own[i] && k < (ring != NULL ? ring->count : 1); k++) {
            char *copy = strdup(ring != NULL ? ring->files[k] : files->paths[i]);

            if (copy == NULL)
                return iwarp_sentence_set(error, "out of memory");
            options->elsewhere[options->elsewhere_count++] = copy;
        }
    }
    return options->elsewhere != NULL ? 0 : iwarp_sentence_set(error, "out of memory");
}

/* Leaves this shard's files, in their order: all shards have about as many octets. */
static int keep_own(struct audit_options *options, const struct catalogue *catalogue, struct iwarp_sentence *error)
{
    struct capture_list *files = &options->files;
    uint64_t *weights = calloc(files->count + 1, sizeof(*weights));
    unsigned *owner = calloc(files->count + 1, sizeof(*owner));
    bool *own = calloc(files->count + 1, sizeof(*own));
    int rc = -1;

    shard_digest_show(digest_of(options, catalogue), options->plan);
    for (size_t i = 0; weights != NULL && i < files->count; i++)
        weights[i] = OPENING_OCTETS + octets_at(files, i);
    if (weights == NULL || owner == NULL || own == NULL)
        (void)iwarp_sentence_set(error, "out of memory");
    else
        rc = shard_assign(weights, files->count, options->shard.of, owner, error);
    for (size_t i = 0; rc == 0 && i < files->count; i++)
        own[i] = owner[i] == options->shard.index;
    if (rc == 0 && options->expect != NULL)
        rc = elsewhere_note(options, own, error);
    if (rc == 0)
        capture_list_keep(files, own);
    if (options->shard.index != 1) { /* what is not read is accounted for once */
        for (size_t i = 0; i < files->skipped_count; i++)
            free(files->skipped[i].path);
        files->skipped_count = 0;
        files->account = (struct flow_account){0};
    }
    free(weights);
    free(owner);
    free(own);
    return rc;
}

int audit_options_parse(struct audit_options *options, const struct catalogue *catalogue, int argc, char **argv,
                        struct iwarp_sentence *error)
{
    options->processes = 1;
    for (int i = 1; i < argc;) {
        int status = argument_parse(options, catalogue, argc, argv, &i, error);

        if (status != 0)
            return status;
    }
    if (options->files.count + options->files.skipped_count == 0) {
        (void)iwarp_sentence_set(error, "no captures are named: name files or folders");
        return EXIT_USAGE;
    }
    if (options->findings_only && options->all) {
        (void)iwarp_sentence_set(error, "--findings-only excludes --all, which shows what passed");
        return EXIT_USAGE;
    }
    if (options->quiet && options->all) {
        (void)iwarp_sentence_set(error, "--quiet excludes --all");
        return EXIT_USAGE;
    }
    if (options->shard.of != 0 && options->write_expect != NULL) {
        (void)iwarp_sentence_set(error, "--shard excludes --write-expect: a part does not have all findings");
        return EXIT_USAGE;
    }
    if (options->spread != 0 && options->write_expect == NULL) {
        (void)iwarp_sentence_set(error, "--review-spread is for --write-expect");
        return EXIT_USAGE;
    }
    if (selection_count(&options->selection, catalogue) == 0) {
        (void)iwarp_sentence_set(error, "nothing selected: no requirement fits all options");
        return EXIT_NOTHING_SELECTED;
    }
    if (!options->no_rings && capture_list_rings(&options->files, error) != 0)
        return EXIT_INCONCLUSIVE;
    if (options->files.count < 2)
        snprintf(options->target, sizeof(options->target), "%s",
                 options->files.count == 1 ? options->files.paths[0] : options->files.skipped[0].path);
    else
        snprintf(options->target, sizeof(options->target), "%.400s and %zu more captures", options->files.paths[0],
                 options->files.count - 1);
    return options->shard.of == 0 || keep_own(options, catalogue, error) == 0 ? 0 : EXIT_INCONCLUSIVE;
}

void audit_options_free(struct audit_options *options)
{
    for (size_t i = 0; i < options->elsewhere_count; i++)
        free(options->elsewhere[i]);
    free(options->elsewhere);
    capture_list_free(&options->files);
}
