/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/merge/merge_evidence.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/merge/merge_internal.h"
#include "reports/file/whole_file.h"
#include "wire/crc32c.h"
#include "base/hash.h"

#define EVIDENCE_OCTETS_MAX ((size_t)1 << 30)

struct source {
    char *path;
    char *name; /* as results name it: "evidence/X.pcapng"; with a digest when others have that name, too */
    bool missing, settled;
    uint32_t digest;
    struct source *next; /* of the same first name */
    UT_hash_handle hh;
};

struct name {
    char *text;
    struct source *sources;
    UT_hash_handle hh;
};

struct evidence {
    struct folder *folder;
    struct source *sources;
    struct name *names;
};

struct evidence *evidence_new(struct folder *folder)
{
    struct evidence *evidence = calloc(1, sizeof(*evidence));

    if (evidence)
        evidence->folder = folder;
    return evidence;
}

void evidence_free(struct evidence *evidence)
{
    if (!evidence)
        return;
    struct source *source = evidence->sources, *next_source;
    struct name *name = evidence->names, *next_name;
    HASH_CLEAR(hh, evidence->sources);
    HASH_CLEAR(hh, evidence->names);
    for (; source; source = next_source) {
        next_source = source->hh.next;
        free(source->path);
        free(source->name);
        free(source);
    }
    for (; name; name = next_name) {
        next_name = name->hh.next;
        free(name->text);
        free(name);
    }
    free(evidence);
}

static struct name *name_of(struct evidence *evidence, const char *text)
{
    struct name *name = NULL;

    HASH_FIND_STR(evidence->names, text, name);
    if (name)
        return name;
    name = calloc(1, sizeof(*name));
    if (!name || !(name->text = strdup(text))) {
        free(name);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, evidence->names, name->text, strlen(name->text), name);
    if (hash_lost(name)) {
        free(name->text);
        free(name);
        return NULL;
    }
    return name;
}

int evidence_add(struct evidence *evidence, const char *path)
{
    struct source *source = NULL;
    struct name *name;

    HASH_FIND_STR(evidence->sources, path, source);
    if (source)
        return 0;
    source = calloc(1, sizeof(*source));
    if (source) {
        const char *slash = strrchr(path, '/');

        source->path = strdup(path);
        source->name = merge_first_name(slash - strlen("evidence"));
    }
    if (!source || !source->path || !source->name || !(name = name_of(evidence, source->name))) {
        if (source) {
            free(source->path);
            free(source->name);
        }
        free(source);
        return -1;
    }
    HASH_ADD_KEYPTR(hh, evidence->sources, source->path, strlen(source->path), source);
    if (hash_lost(source)) {
        free(source->path);
        free(source->name);
        free(source);
        return -1;
    }
    source->next = name->sources;
    name->sources = source;
    return 0;
}

static int digest(struct source *source, struct iwarp_sentence *error)
{
    uint8_t *octets;
    size_t size;

    if (whole_file_read(source->path, EVIDENCE_OCTETS_MAX, &octets, &size, error) != 0)
        return -1;
    source->missing = octets == NULL;
    if (octets)
        source->digest = crc32c(octets, size);
    free(octets);
    return 0;
}

/* The name with the digest in front of its suffix. */
static int rename_source(struct source *source)
{
    const char *dot = strrchr(source->name, '.');
    size_t head = dot ? (size_t)(dot - source->name) : strlen(source->name);
    char *name = malloc(strlen(source->name) + 16);

    if (!name)
        return -1;
    sprintf(name, "%.*s.%08" PRIx32 "%s", (int)head, source->name, source->digest, source->name + head);
    free(source->name);
    source->name = name;
    return 0;
}

/* Several files of one name: that with the least digest keeps it. */
static int tell_apart(struct name *name, struct iwarp_sentence *error)
{
    const struct source *least = NULL;

    for (struct source *source = name->sources; source; source = source->next) {
        if (digest(source, error) != 0)
            return -1;
        if (!source->missing && (!least || source->digest < least->digest))
            least = source;
    }
    for (struct source *source = name->sources; least && source; source = source->next)
        if (!source->missing && source->digest != least->digest && rename_source(source) != 0)
            return iwarp_sentence_set(error, "%s: out of memory", source->path);
    return 0;
}

/* `folder`: that of the copies. */
static int copy(int folder, struct source *source, struct iwarp_sentence *error)
{
    struct place place = {folder, strrchr(source->name, '/') + 1, source->name};

    return whole_file_copy(source->path, EVIDENCE_OCTETS_MAX, &place, &source->missing, error);
}

/* Files of one content have one name, and are copied once. */
static bool is_copied(const struct name *name, const struct source *source)
{
    const struct source *other = name->sources;

    while (other != source && (other->missing || strcmp(other->name, source->name) != 0))
        other = other->next;
    return other != source;
}

static int copy_all(const struct evidence *evidence, int folder, size_t *missing, struct iwarp_sentence *error)
{
    for (const struct name *name = evidence->names; name; name = name->hh.next)
        for (struct source *source = name->sources; source; source = source->next) {
            if (is_copied(name, source))
                continue;
            if (copy(folder, source, error) != 0)
                return -1;
            *missing += source->missing;
        }
    return 0;
}

int evidence_copy(struct evidence *evidence, size_t *missing, struct iwarp_sentence *error)
{
    int folder, rc;

    *missing = 0;
    if (!evidence->sources)
        return 0;
    folder = folder_open_below(evidence->folder, "evidence", error);
    if (folder < 0)
        return -1;
    rc = 0;
    for (struct name *name = evidence->names; rc == 0 && name; name = name->hh.next)
        if (name->sources->next)
            rc = tell_apart(name, error);
    if (rc == 0)
        rc = copy_all(evidence, folder, missing, error);
    close(folder);
    return rc;
}

int evidence_rename(const struct evidence *evidence, json_t *object, const char *path)
{
    struct source *source = NULL;
    const char *was = json_string_value(json_object_get(object, "evidence"));
    const char *file = json_string_value(json_object_get(object, "file"));
    bool both = was && file && strcmp(was, file) == 0;
    int rc = 0;

    if (!path)
        return 0;
    HASH_FIND_STR(evidence->sources, path, source);
    if (!source || !was || strcmp(was, source->name) == 0)
        return 0;
    if (both)
        rc = json_object_set_new(object, "file", json_string(source->name));
    return rc | json_object_set_new(object, "evidence", json_string(source->name));
}
