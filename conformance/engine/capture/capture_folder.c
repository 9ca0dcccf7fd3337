/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf, versionsort */
#include "conformance/engine/capture/capture_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_magic.h"
#include "conformance/engine/capture/capture_packed.h"

enum { DEPTH_MAX = 64 };

struct walk {
    struct capture_list *list;
    struct iwarp_sentence *error;
    char *root; /* its real path */
};

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static int out_of_memory(const char *path, struct iwarp_sentence *error)
{
    return iwarp_sentence_set(error, "%s: out of memory", path);
}

static int append(struct capture_list *list, const char *path, struct iwarp_sentence *error)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 16 : list->room * 2;
        char **grown = realloc(list->paths, room * sizeof(*grown));

        if (grown == NULL)
            return out_of_memory(path, error);
        list->paths = grown;
        list->room = room;
    }
    list->paths[list->count] = strdup(path);
    if (list->paths[list->count] == NULL)
        return out_of_memory(path, error);
    list->count++;
    return 0;
}

static int skip(struct capture_list *list, const char *path, enum flow_row row, struct iwarp_sentence *error)
{
    struct capture_skipped *skipped;

    if (list->skipped_count == list->skipped_room) {
        size_t room = list->skipped_room == 0 ? 16 : list->skipped_room * 2;
        struct capture_skipped *grown = realloc(list->skipped, room * sizeof(*grown));

        if (grown == NULL)
            return out_of_memory(path, error);
        list->skipped = grown;
        list->skipped_room = room;
    }
    skipped = &list->skipped[list->skipped_count];
    *skipped = (struct capture_skipped){strdup(path), row};
    if (skipped->path == NULL)
        return out_of_memory(path, error);
    list->skipped_count++;
    return 0;
}

int capture_list_rings(struct capture_list *list, struct iwarp_sentence *error)
{
    size_t kept = 0;
    int rc;

    list->rings = calloc(list->count + 1, sizeof(struct capture_ring *));
    if (list->rings == NULL)
        return iwarp_sentence_set(error, "out of memory");
    rc = capture_ring_find(list->paths, list->rings, list->count, error);
    for (size_t i = 0; i < list->count; i++)
        if (list->paths[i] != NULL) {
            list->paths[kept] = list->paths[i];
            list->rings[kept++] = list->rings[i];
        }
    list->count = kept;
    return rc;
}

struct capture_ring *capture_list_ring(const struct capture_list *list, size_t index)
{
    return list->rings != NULL ? list->rings[index] : NULL;
}

void capture_list_keep(struct capture_list *list, const bool *keep)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (!keep[i]) {
            free(list->paths[i]);
            capture_ring_free(capture_list_ring(list, i));
            continue;
        }
        list->paths[kept] = list->paths[i];
        if (list->rings != NULL)
            list->rings[kept] = list->rings[i];
        kept++;
    }
    list->count = kept;
}

void capture_list_free(struct capture_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i]);
        capture_ring_free(capture_list_ring(list, i));
    }
    free(list->rings);
    for (size_t i = 0; i < list->skipped_count; i++)
        free(list->skipped[i].path);
    free(list->paths);
    free(list->skipped);
    *list = (struct capture_list){0};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

bool capture_name(const char *name)
{
    static const char *const endings[] = {".pcap", ".pcapng", ".cap"};
    const char *dot = strrchr(name, '.');
    size_t letters;

    if (dot == NULL)
        return false;
    letters = strlen(dot);
    while (letters > 1 && isdigit((unsigned char)dot[letters - 1]))
        letters--;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strlen(endings[i]) == letters && strncasecmp(dot, endings[i], letters) == 0)
            return true;
    return false;
}

/* dump.pcap.gz and the like: the name of a capture, and an ending after it. */
static bool packed_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    char *inner = dot != NULL ? strndup(name, (size_t)(dot - name)) : NULL;
    bool is = inner != NULL && capture_name(inner);

    free(inner);
    return is;
}

/* The first octets of the file, or of what is compressed in it; -1: they cannot be read. */
static ssize_t first_octets(const char *path, uint8_t octets[CAPTURE_MAGIC_OCTETS], bool *packed)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t have = descriptor < 0 ? -1 : read(descriptor, octets, CAPTURE_MAGIC_OCTETS);
    struct capture_packed *state = NULL;
    struct iwarp_sentence ignored;
    FILE *file;

    *packed = have > 0 && capture_packed_name(octets, (size_t)have) != NULL;
    if (*packed && lseek(descriptor, 0, SEEK_SET) == 0 && (file = fdopen(descriptor, "rb")) != NULL) {
        descriptor = -1;
        file = capture_packed_open(file, &state, &ignored);
        have = file == NULL ? -1 : (ssize_t)fread(octets, 1, CAPTURE_MAGIC_OCTETS, file);
        if (have < CAPTURE_MAGIC_OCTETS && capture_packed_error(state)[0] != '\0')
            have = -1;
        if (file != NULL)
            (void)fclose(file);
        capture_packed_free(state);
    }
    if (descriptor >= 0)
        (void)close(descriptor);
    return have;
}

/* Reads how the file begins. FLOW_ROWS: it is a capture; else the row that it is counted in. */
static enum flow_row row_of_file(const char *path, const char *name)
{
    uint8_t octets[CAPTURE_MAGIC_OCTETS];
    enum flow_row row;
    bool packed;
    ssize_t have = first_octets(path, octets, &packed);

    if (have < 0) /* a compressed file named like a capture is read, so that an error says what is wrong */
        return packed && packed_name(name) ? FLOW_ROWS : FLOW_ROW_UNREADABLE;
    row = capture_magic_row(octets, (size_t)have);
    if (row != FLOW_ROW_FILE && row != FLOW_ROW_FILE_UNKNOWN)
        return row;
    return capture_name(name) || (packed && packed_name(name)) ? FLOW_ROWS : row;
}

const char *capture_obstacle(const char *path)
{
    enum flow_row row = row_of_file(path, "");

    return row == FLOW_ROW_COMPRESSED || row == FLOW_ROW_ARCHIVE || row == FLOW_ROW_OTHER_FORMAT
               ? flow_account_row(row)->text
               : NULL;
}

static int add_file(struct walk *walk, const char *path, const char *name)
{
    enum flow_row row = row_of_file(path, name);

    if (row == FLOW_ROWS)
        return append(walk->list, path, walk->error);
    if (flow_account_row(row)->kind == FLOW_UNJUDGED)
        return skip(walk->list, path, row, walk->error);
    walk->list->account.row[row].items++;
    return 0;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

/* Whether a real path is that of the folder, or below it. */
static bool is_inside(const char *real, const char *root)
{
    size_t length = strlen(root);

    return strncmp(real, root, length) == 0 && (real[length] == '\0' || real[length] == '/' || length == 1);
}

/* What a link leads to is reached by its own name when it is inside. */
static int add_link(struct walk *walk, const char *path, const char *name)
{
    char *real = realpath(path, NULL);
    struct stat status;
    int rc = 0;

    if (real == NULL || stat(path, &status) != 0)
        rc = skip(walk->list, path, FLOW_ROW_UNREADABLE, walk->error);
    else if (is_inside(real, walk->root))
        walk->list->account.row[FLOW_ROW_FILE_AGAIN].items++;
    else if (S_ISDIR(status.st_mode))
        rc = skip(walk->list, path, FLOW_ROW_LINKED_FOLDER, walk->error);
    else if (S_ISREG(status.st_mode))
        rc = add_file(walk, path, name);
    else
        rc = skip(walk->list, path, FLOW_ROW_SPECIAL_FILE, walk->error);
    free(real);
    return rc;
}

static int add_folder(struct walk *walk, const char *path, unsigned depth);

static int add_entry(struct walk *walk, const char *path, const char *name, unsigned depth)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return skip(walk->list, path, FLOW_ROW_UNREADABLE, walk->error);
    if (S_ISDIR(status.st_mode))
        return add_folder(walk, path, depth + 1);
    if (S_ISLNK(status.st_mode))
        return add_link(walk, path, name);
    if (S_ISREG(status.st_mode))
        return add_file(walk, path, name);
    if (S_ISFIFO(status.st_mode))
        return skip(walk->list, path, FLOW_ROW_SPECIAL_FILE, walk->error);
    walk->list->account.row[FLOW_ROW_FILE].items++; /* sockets, devices */
    return 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Rings in the order of their numbers: dump.pcap2 before dump.pcap10. */
static int add_folder(struct walk *walk, const char *path, unsigned depth)
{
    struct dirent **entries;
    int count = depth > DEPTH_MAX ? -1 : scandir(path, &entries, NULL, versionsort), rc = 0;

    if (count < 0)
        return skip(walk->list, path, FLOW_ROW_UNREADABLE, walk->error);
    for (int i = 0; i < count; i++) {
        char *below = NULL;

        if (rc == 0 && !is_dots(entries[i]->d_name)) {
            if (asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0)
                rc = out_of_memory(path, walk->error);
            else
                rc = add_entry(walk, below, entries[i]->d_name, depth);
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int capture_list_add(struct capture_list *list, const char *path, struct iwarp_sentence *error)
{
    struct walk walk = {.list = list, .error = error};
    struct stat status;
    DIR *folder;
    int rc;

    if (strcmp(path, CAPTURE_INPUT) == 0)
        return append(list, path, error);
    if (stat(path, &status) != 0)
        return iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return append(list, path, error);
    folder = opendir(path); /* named by the user: an error, not a thing to skip */
    walk.root = folder != NULL ? realpath(path, NULL) : NULL;
    if (walk.root == NULL) {
        rc = iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    } else {
        rc = add_folder(&walk, path, 0);
    }
    if (folder != NULL)
        (void)closedir(folder);
    free(walk.root);
    return rc;
}

const char **capture_list_files(const struct capture_list *list, size_t *count)
{
    const char **files;
    size_t room = 1;

    for (size_t i = 0; i < list->count; i++)
        room += capture_list_ring(list, i) != NULL ? capture_list_ring(list, i)->count : 1;
    files = calloc(room, sizeof(*files));
    *count = 0;
    for (size_t i = 0; files != NULL && i < list->count; i++) {
        const struct capture_ring *ring = capture_list_ring(list, i);

        for (size_t k = 0; k < (ring != NULL ? ring->count : 1); k++) {
            const char *path = ring != NULL ? ring->files[k] : list->paths[i];

            if (strcmp(path, CAPTURE_INPUT) != 0)
                files[(*count)++] = path;
        }
    }
    return files;
}
