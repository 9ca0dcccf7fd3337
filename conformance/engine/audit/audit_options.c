/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/audit_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/option/selected_options.h"
#include "conformance/requirements/named.h"
#include "reference-stack/program/amount.h"
#include "reports/results/result.h"

enum { PROCESSES_MAX = 1024, SPREAD_WEEKS_MAX = 51 };

static int parse_shard(void *user, const char *value, struct iwarp_sentence *error)
{
    return shard_parse(&((struct audit_options *)user)->shard, value, error);
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return format_option_parse(&((struct audit_options *)user)->format, value, error);
}

#define MEMBER(name) offsetof(struct audit_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --filter EXPR      judges the frames that EXPR wants, an expression as tcpdump has it (pcap-filter(7)): 'port 5445'; the\n"
     "                     others are counted\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(filter_expression)},
    {"  --no-rings         judges each file of a ring by itself\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(no_rings)},
    {"  --reasons          lists the reasons for which frames and octets are not judged, and the limits, and stops\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
    {"  --allow-gaps       exits with 0 even if a part that is or may be iWARP was not judged; the part is still reported\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(allow_gaps)},
    {"  -j N               judges up to N files at once (1)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(processes), .least = 1, .most = PROCESSES_MAX},
    {"  --memory SIZE      memory for what is open at once in each capture, as 512M (the default) or 4G: how many connections\n"
     "                     are followed comes from it (--reasons)\n",
     OPTION_JUDGES, OPTION_OCTETS, .member = MEMBER(memory), .least = FLOW_MEMORY_MIN, .most = AMOUNT_MEMORY_MOST, .unit = "512M or 4G"},
    /* A replay names one file. */
    {"  --shard I/N        judges part I of N of the files; every machine computes the same parts; report --merge joins the\n"
     "                     results\n",
     OPTION_APART, OPTION_OWN, .parse = parse_shard},
    {"  -o DIR             writes results.jsonl and the reports there: %s;\n"
     "                     the folder must be empty, and no other command may write there at the same time\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output), .joined = true, .names = report_format_files},
    {"  --force            removes the files that an earlier command wrote to -o DIR\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --format F         %s: the format of the standard output\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format, .names = format_option_names},
    {"  --expect FILE      compares the findings with those that FILE expects: exit status 0 if they are the same, 1 if\n"
     "                     one is new, missing or of another verdict, count or outcome, or if its review is due\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(expect)},
    {"  --write-expect FILE  writes the findings as a file for --expect; lines that are there keep note and review date\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(write_expect)},
    {"  --review-spread N  with --write-expect: new lines are due in a year, or up to N weeks earlier, by capture\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(spread), .least = 1, .most = SPREAD_WEEKS_MAX, .unit = "weeks"},
    /* cmd_audit() has loaded them before: the catalogue has to know them. */
    {"  --rules FILE.lua   judges by these rules, too (docs/writing-rules.md); repeat it for several files\n",
     OPTION_REPEATED, OPTION_LIST, .member = MEMBER(rule_files), .count = MEMBER(rule_file_count), .most = AUDIT_RULE_FILES_MAX},
    {"  --rules-meta       lists what a rule can ask of events, as definitions for the Lua language server, and stops\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
    {"  --findings-only    writes what passed as one line for each requirement and role: results and JUnit stay small\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(findings_only)},
    {"  --all              also shows passes\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(all)},
    {"  --quiet            shows no results and no progress, only the closing lines\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

const struct option_table audit_option_table = {
    .command = "audit",
    .head = "usage: warpcheck audit [SELECT...] [OPTION...] FILE|DIR...\n"
            "  Judges captures (pcap, pcapng; also compressed by gzip, zstd or lz4; \"-\" is standard input) and "
            "folders of captures.\n"
            "  Every rule that applies to the traffic is used. Every file,\n"
            "  frame and octet is counted as judged, as foreign, or as not judged with a reason.\n"
            "  Exit status: 0 conforms, 1 fails, 2 usage or no capture, 3 nothing was exercised, 4 inconclusive: a "
            "part that is or\n"
            "  may be iWARP was not judged (--allow-gaps accepts that).\n"
            "  Files of a ring (tcpdump -C: dump.pcap, dump.pcap1; dumpcap -b: name_00001_20260101120000.pcapng) are "
            "one capture.\n",
    .more = selection_usage,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

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
    if (options->named_count++ == 0)
        options->named = path;
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
        taken = option_table_parse(&audit_option_table, options, argc, argv, index, error);
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
    uint64_t digest = DIGEST_START;

    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        if (selection_matches(&options->selection, catalogue_at(catalogue, i)))
            digest = digest_text(digest, catalogue_at(catalogue, i)->id);
    for (size_t i = 0; i < options->files.count; i++)
        digest = digest_number(digest_text(digest, options->files.paths[i]), octets_at(&options->files, i));
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

/* What is audited, as a subject in the singular: reports go on with "conforms" or "is not as expected". */
static void name_target(struct audit_options *options)
{
    const struct capture_list *files = &options->files;

    if (files->count < 2)
        snprintf(options->target, sizeof(options->target), "%s",
                 files->count == 1 ? files->paths[0] : files->skipped[0].path);
    else if (options->named_count == 1)
        snprintf(options->target, sizeof(options->target), "%.400s (%zu captures)", options->named, files->count);
    else
        snprintf(options->target, sizeof(options->target), "a set of %zu captures (from %.400s on)", files->count,
                 options->named);
}

int audit_options_parse(struct audit_options *options, const struct catalogue *catalogue, int argc, char **argv,
                        struct iwarp_sentence *error)
{
    options->processes = 1;
    options->word_count = argc;
    options->words = argv;
    for (int i = 1; i < argc;) {
        int status = argument_parse(options, catalogue, argc, argv, &i, error);

        if (status != 0)
            return status;
    }
    if (options->files.count + options->files.skipped_count == 0) {
        (void)iwarp_sentence_set(error, "no captures are named: name files or folders");
        return EXIT_USAGE;
    }
    if (options->filter_expression != NULL) {
        options->filter = capture_filter_new(options->filter_expression, error);
        if (options->filter == NULL)
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
    if (selected_options_check(&options->selection, catalogue, error) != 0)
        return EXIT_NOTHING_SELECTED;
    if (!options->no_rings && capture_list_rings(&options->files, error) != 0)
        return EXIT_INCONCLUSIVE;
    name_target(options);
    return options->shard.of == 0 || keep_own(options, catalogue, error) == 0 ? 0 : EXIT_INCONCLUSIVE;
}

void audit_options_free(struct audit_options *options)
{
    for (size_t i = 0; i < options->elsewhere_count; i++)
        free(options->elsewhere[i]);
    free(options->elsewhere);
    capture_filter_free(options->filter);
    capture_list_free(&options->files);
}
