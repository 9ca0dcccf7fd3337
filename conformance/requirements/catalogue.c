/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/requirements/catalogue.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/embedded.h"
#include "base/cells.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "base/sentence.h"

struct entry {
    struct requirement requirement;
    UT_hash_handle hh;
};

struct catalogue {
    char *arena; /* the octets of all files, cut into cells in place */
    struct entry *entries;
    size_t count;
    struct entry *by_id;
    char digest[17];
};

/* The families in the order in which they are listed. pics.tsv lies in the same folder and is no part of them. */
static const char *const family_files[] = {"mpa.tsv", "empa.tsv", "ddp.tsv",     "rdmap.tsv", "atom.tsv",  "sctp.tsv",
                                           "a11.tsv", "smbd.tsv", "rpcrdma.tsv", "iser.tsv",  "nvmeof.tsv"};
#define FAMILY_COUNT (sizeof(family_files) / sizeof(family_files[0]))

static const char *const column_names[REQUIREMENT_COLUMNS] = {
    "id",   "source",   "section",  "level",      "subject", "layer",    "observability",
    "text", "stimulus", "outcomes", "capability", "defect",  "ambiguity"};

static const char *const level_names[REQUIREMENT_LEVELS] = {"MUST",   "MUST NOT",   "MUST(format)", "SHALL",
                                                            "SHOULD", "SHOULD NOT", "MAY"};
static const char *const layer_names[REQUIREMENT_LAYERS] = {"TCP", "SCTP", "MPA", "DDP", "RDMAP", "CM", "ULP"};
static const char *const observability_names[REQUIREMENT_OBSERVABILITIES] = {"active", "passive", "local", "spec"};
static const char *const subject_names[] = {"initiator", "responder",   "both", "sender",        "receiver",
                                            "data-sink", "data-source", "ulp",  "implementation"};
#define SUBJECT_COUNT (sizeof(subject_names) / sizeof(subject_names[0]))

static int name_index(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static int header_check(const char *file, unsigned line, char *const *cell, size_t count, struct iwarp_sentence *error)
{
    if (count != REQUIREMENT_COLUMNS)
        return iwarp_sentence_set(error, "%s:%u: the header line has %zu columns, %d were expected", file, line, count,
                                  REQUIREMENT_COLUMNS);
    for (size_t i = 0; i < REQUIREMENT_COLUMNS; i++)
        if (strcmp(cell[i], column_names[i]) != 0)
            return iwarp_sentence_set(error, "%s:%u: column %zu of the header line is \"%.60s\", \"%s\" was expected",
                                      file, line, i + 1, cell[i], column_names[i]);
    return 0;
}

static int id_check(const char *file, unsigned line, const char *id, struct iwarp_sentence *error)
{
    for (const char *p = id; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-')
            return iwarp_sentence_set(
                error, "%s:%u: id \"%.60s\" contains '%c'; only letters, digits, '.' and '-' are allowed", file, line,
                id, *p);
    return 0;
}

static int cell_enum(const char *file, unsigned line, const char *what, const char *const *names, size_t count,
                     const char *cell, int *value, struct iwarp_sentence *error)
{
    char hint[NEAREST_HINT_OCTETS];

    *value = name_index(names, count, cell);
    if (*value >= 0)
        return 0;
    return iwarp_sentence_set(error, "%s:%u: unknown %s \"%.60s\"%s (known are \"%s\" to \"%s\")", file, line, what,
                              cell, nearest_hint(nearest_of(cell, names, count), hint), names[0], names[count - 1]);
}

static int row_fill(struct requirement *requirement, const char *file, unsigned line, char *const *cell, size_t count,
                    struct iwarp_sentence *error)
{
    int level, layer, observability, subject;

    if (count != REQUIREMENT_COLUMNS)
        return iwarp_sentence_set(error, "%s:%u: the row has %zu columns, %d were expected", file, line, count,
                                  REQUIREMENT_COLUMNS);
    for (size_t i = 0; i < REQUIREMENT_COLUMNS; i++) {
        if (cell[i][0] == '\0' && i != COLUMN_AMBIGUITY)
            return iwarp_sentence_set(error, "%s:%u: column %s is empty (write \"-\" for no value)", file, line,
                                      column_names[i]);
        requirement->column[i] = cell[i];
    }
    if (id_check(file, line, cell[COLUMN_ID], error) != 0 ||
        cell_enum(file, line, "level", level_names, REQUIREMENT_LEVELS, cell[COLUMN_LEVEL], &level, error) != 0 ||
        cell_enum(file, line, "subject", subject_names, SUBJECT_COUNT, cell[COLUMN_SUBJECT], &subject, error) != 0 ||
        cell_enum(file, line, "layer", layer_names, REQUIREMENT_LAYERS, cell[COLUMN_LAYER], &layer, error) != 0 ||
        cell_enum(file, line, "observability", observability_names, REQUIREMENT_OBSERVABILITIES,
                  cell[COLUMN_OBSERVABILITY], &observability, error) != 0)
        return -1;
    requirement->id = cell[COLUMN_ID];
    requirement->source = cell[COLUMN_SOURCE];
    requirement->section = cell[COLUMN_SECTION];
    requirement->subject = cell[COLUMN_SUBJECT];
    requirement->text = cell[COLUMN_TEXT];
    requirement->stimulus = cell[COLUMN_STIMULUS];
    requirement->outcomes = cell[COLUMN_OUTCOMES];
    requirement->capability = cell[COLUMN_CAPABILITY];
    requirement->defect = cell[COLUMN_DEFECT];
    requirement->ambiguity = cell[COLUMN_AMBIGUITY];
    requirement->level = (enum requirement_level)level;
    requirement->layer = (enum requirement_layer)layer;
    requirement->observability = (enum requirement_observability)observability;
    requirement->file = file;
    requirement->line = line;
    return 0;
}

static int row_add(struct catalogue *catalogue, const char *file, unsigned line, char *const *cell, size_t count,
                   struct iwarp_sentence *error)
{
    struct entry *entry = &catalogue->entries[catalogue->count], *earlier = NULL;

    if (row_fill(&entry->requirement, file, line, cell, count, error) != 0)
        return -1;
    HASH_FIND(hh, catalogue->by_id, entry->requirement.id, strlen(entry->requirement.id), earlier);
    if (earlier != NULL)
        return iwarp_sentence_set(error, "%s:%u: id %.60s is already used in %s:%u", file, line, entry->requirement.id,
                                  earlier->requirement.file, earlier->requirement.line);
    entry->requirement.index = catalogue->count;
    HASH_ADD_KEYPTR(hh, catalogue->by_id, entry->requirement.id, strlen(entry->requirement.id), entry);
    if (hash_lost(entry))
        return iwarp_sentence_set(error, "%s:%u: out of memory", file, line);
    catalogue->count++;
    return 0;
}

/* The files are plain ASCII so that every output format can take the cells as they are. */
static int line_check(const char *file, unsigned line, const char *text, size_t length, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char octet = (unsigned char)text[i];

        if (octet != '\t' && (octet < 0x20 || octet > 0x7E))
            return iwarp_sentence_set(error,
                                      "%s:%u: octet 0x%02X in column %zu, only printable ASCII and tabs are allowed",
                                      file, line, octet, i + 1);
    }
    return 0;
}

/* text: the octets of one file in the arena, with one octet after them that may be overwritten. */
static int file_parse(struct catalogue *catalogue, const char *file, char *text, size_t size,
                      struct iwarp_sentence *error)
{
    bool header_seen = false;
    unsigned line = 0;

    for (char *end = text + size; text < end;) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        char *line_end = newline != NULL ? newline : end;
        char *cell[REQUIREMENT_COLUMNS];
        size_t count;

        line++;
        if (line_check(file, line, text, (size_t)(line_end - text), error) != 0)
            return -1;
        *line_end = '\0';
        if (text[0] != '\0' && text[0] != '#') {
            count = cells_cut(text, cell, REQUIREMENT_COLUMNS);
            if (!header_seen ? header_check(file, line, cell, count, error)
                             : row_add(catalogue, file, line, cell, count, error))
                return -1;
            header_seen = true;
        }
        text = line_end + 1;
    }
    if (!header_seen)
        return iwarp_sentence_set(error, "%s:%u: no header line", file, line + 1);
    return 0;
}

static uint64_t fnv1a(uint64_t hash, const void *octets, size_t size)
{
    const unsigned char *p = octets;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static size_t newline_count(const void *octets, size_t size)
{
    const char *p = octets, *end = p + size;
    size_t count = 0;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        count++;
        p++;
    }
    return count;
}

/* Copies paths and octets of all sources into one block, and makes room for one entry a line. */
static int catalogue_allocate(struct catalogue *catalogue, const struct catalogue_source *sources, size_t source_count)
{
    size_t octets = 1, lines = 1;

    for (size_t i = 0; i < source_count; i++) {
        octets += sources[i].size + strlen(sources[i].path) + 2;
        lines += newline_count(sources[i].octets, sources[i].size) + 1;
    }
    catalogue->arena = malloc(octets);
    catalogue->entries = calloc(lines, sizeof(*catalogue->entries));
    return catalogue->arena != NULL && catalogue->entries != NULL ? 0 : -1;
}

int catalogue_parse(struct catalogue **catalogue, const struct catalogue_source *sources, size_t source_count,
                    struct iwarp_sentence *error)
{
    struct catalogue *c = calloc(1, sizeof(*c));
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    char *room;

    *catalogue = NULL;
    if (c == NULL || catalogue_allocate(c, sources, source_count) != 0) {
        catalogue_free(c);
        return iwarp_sentence_set(error, "catalogue: out of memory");
    }
    room = c->arena;
    for (size_t i = 0; i < source_count; i++) {
        size_t path_size = strlen(sources[i].path) + 1;
        char *path = memcpy(room, sources[i].path, path_size);
        char *text = room + path_size;

        if (sources[i].size > 0)
            memcpy(text, sources[i].octets, sources[i].size);
        text[sources[i].size] = '\0';
        hash = fnv1a(hash, text, sources[i].size);
        if (file_parse(c, path, text, sources[i].size, error) != 0) {
            catalogue_free(c);
            return -1;
        }
        room = text + sources[i].size + 1;
    }
    snprintf(c->digest, sizeof(c->digest), "%016" PRIx64, hash);
    *catalogue = c;
    return 0;
}

/* "conformance/requirements/mpa.tsv" or "mpa.tsv" for "mpa.tsv"; not "empa.tsv". */
static bool path_ends(const char *path, const char *name)
{
    size_t path_length = strlen(path), length = strlen(name);

    return path_length >= length && strcmp(path + path_length - length, name) == 0 &&
           (path_length == length || path[path_length - length - 1] == '/');
}

int catalogue_load_with(struct catalogue **catalogue, const struct catalogue_source *more, struct iwarp_sentence *error)
{
    struct catalogue_source source[FAMILY_COUNT + 1];

    *catalogue = NULL;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        const struct embedded_file *file = NULL;

        for (size_t j = 0; j < embedded_requirement_count && file == NULL; j++)
            if (path_ends(embedded_requirements[j].path, family_files[i]))
                file = &embedded_requirements[j];
        if (file == NULL)
            return iwarp_sentence_set(error, "catalogue: %s was not compiled in", family_files[i]);
        source[i] = (struct catalogue_source){file->path, file->octets, file->size};
    }
    if (more != NULL)
        source[FAMILY_COUNT] = *more;
    return catalogue_parse(catalogue, source, FAMILY_COUNT + (more != NULL), error);
}

int catalogue_load(struct catalogue **catalogue, struct iwarp_sentence *error)
{
    return catalogue_load_with(catalogue, NULL, error);
}

void catalogue_free(struct catalogue *catalogue)
{
    if (catalogue == NULL)
        return;
    HASH_CLEAR(hh, catalogue->by_id);
    free(catalogue->entries);
    free(catalogue->arena);
    free(catalogue);
}

size_t catalogue_count(const struct catalogue *catalogue)
{
    return catalogue->count;
}

const struct requirement *catalogue_at(const struct catalogue *catalogue, size_t index)
{
    return index < catalogue->count ? &catalogue->entries[index].requirement : NULL;
}

const struct requirement *catalogue_find(const struct catalogue *catalogue, const char *id)
{
    struct entry *entry = NULL;

    HASH_FIND(hh, catalogue->by_id, id, strlen(id), entry);
    return entry != NULL ? &entry->requirement : NULL;
}

size_t catalogue_nearest(const struct catalogue *catalogue, const char *id, const struct requirement **nearest,
                         size_t limit)
{
    unsigned farthest = nearest_limit(id);
    size_t count = 0;

    for (unsigned distance = 0; distance <= farthest; distance++)
        for (size_t i = 0; i < catalogue->count && count < limit; i++)
            if (nearest_distance(id, catalogue->entries[i].requirement.id) == distance)
                nearest[count++] = &catalogue->entries[i].requirement;
    return count;
}

const char *catalogue_digest(const struct catalogue *catalogue)
{
    return catalogue->digest;
}

bool requirement_is_should(const struct requirement *requirement)
{
    return requirement->level == REQUIREMENT_SHOULD || requirement->level == REQUIREMENT_SHOULD_NOT;
}

bool requirement_is_may(const struct requirement *requirement)
{
    return requirement->level == REQUIREMENT_MAY;
}

bool requirement_is_ambiguous(const struct requirement *requirement)
{
    return requirement->ambiguity[0] != '\0';
}

bool requirement_binds(const struct requirement *requirement, const char *role)
{
    bool initiator = strcmp(requirement->subject, "initiator") == 0;
    bool responder = strcmp(requirement->subject, "responder") == 0;

    /* In the atomics' rows the words mean who asks for an atomic and who executes it: either end of a connection. */
    if (strncmp(requirement->id, "ATOM", 4) == 0)
        return true;
    if (initiator || responder)
        return strcmp(requirement->subject, role) == 0;
    return true;
}

const char *requirement_level_name(enum requirement_level level)
{
    return (unsigned)level < REQUIREMENT_LEVELS ? level_names[level] : "?";
}

const char *requirement_layer_name(enum requirement_layer layer)
{
    return (unsigned)layer < REQUIREMENT_LAYERS ? layer_names[layer] : "?";
}

const char *requirement_observability_name(enum requirement_observability observability)
{
    return (unsigned)observability < REQUIREMENT_OBSERVABILITIES ? observability_names[observability] : "?";
}

const char *requirement_column_name(enum requirement_column column)
{
    return (unsigned)column < REQUIREMENT_COLUMNS ? column_names[column] : "?";
}
