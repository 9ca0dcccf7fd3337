/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_ring.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_folder.h"

enum { DUMPCAP_NUMBER_DIGITS = 5, DUMPCAP_TIME_DIGITS = 14 };

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The octets of a name without the ending of a compressed file. */
static size_t without_packing(const char *path, size_t from, size_t count)
{
    static const char *const endings[] = {".gz", ".zst", ".lz4"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t octets = strlen(endings[i]);

        if (count > from + octets && strncasecmp(path + count - octets, endings[i], octets) == 0)
            return count - octets;
    }
    return count;
}

/* Reads so many digits and no more; false when there are others. */
static bool digits_read(const char *text, size_t count, size_t digits, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (i >= count || !isdigit((unsigned char)text[i]))
            return false;
        *value = *value * 10 + (uint64_t)(text[i] - '0');
    }
    return digits == count || !isdigit((unsigned char)text[digits]);
}

/* "_00001_20260101120000" at `at`, or with the two exchanged, and after it the end or an ending. */
static bool dumpcap_marks(const char *path, size_t at, size_t end, bool time_first, struct ring_name *name)
{
    size_t first = time_first ? DUMPCAP_TIME_DIGITS : DUMPCAP_NUMBER_DIGITS;
    size_t second = time_first ? DUMPCAP_NUMBER_DIGITS : DUMPCAP_TIME_DIGITS;
    uint64_t values[2];
    size_t after = at + 1 + first + 1 + second;

    if (after > end || path[at] != '_' || !digits_read(path + at + 1, end - at - 1, first, &values[0]) ||
        path[at + 1 + first] != '_' || !digits_read(path + at + first + 2, end - at - first - 2, second, &values[1]) ||
        (after != end && path[after] != '.'))
        return false;
    name->kind = RING_DUMPCAP;
    name->stem = at;
    name->tail = after;
    name->tail_count = end - after;
    name->number = (uint32_t)values[time_first];
    name->time = values[!time_first];
    name->numbered = true;
    return true;
}

static bool dumpcap_read(const char *path, size_t from, size_t end, struct ring_name *name)
{
    for (size_t at = end; at > from; at--)
        if (path[at - 1] == '_' &&
            (dumpcap_marks(path, at - 1, end, false, name) || dumpcap_marks(path, at - 1, end, true, name)))
            return true;
    return false;
}

static void tcpdump_read(const char *path, size_t from, size_t end, struct ring_name *name)
{
    char *inner = strndup(path + from, end - from);
    size_t stem = end;
    uint64_t number = 0;

    if (inner == NULL || !capture_name(inner)) {
        free(inner);
        return;
    }
    free(inner);
    while (stem > from && isdigit((unsigned char)path[stem - 1]))
        stem--;
    if (end - stem > RING_DIGITS_MAX || !digits_read(path + stem, end - stem, end - stem, &number))
        return;
    name->kind = RING_TCPDUMP;
    name->stem = stem;
    name->tail = end;
    name->number = (uint32_t)number;
    name->numbered = stem != end;
}

void ring_name_read(const char *path, struct ring_name *name)
{
    const char *slash = strrchr(path, '/');
    size_t from = slash != NULL ? (size_t)(slash + 1 - path) : 0, count = strlen(path);
    size_t end = without_packing(path, from, count);

    *name = (struct ring_name){.kind = RING_NONE, .packed = end != count};
    if (!dumpcap_read(path, from, end, name))
        tcpdump_read(path, from, end, name);
}

/* ---- grouping ---------------------------------------------------------------------------------------------------- */

/* One path while rings are looked for. */
struct candidate {
    struct ring_name name;
    char *path;
    size_t index;
};

static int compare_parts(const char *a, size_t a_count, const char *b, size_t b_count)
{
    int order = memcmp(a, b, a_count < b_count ? a_count : b_count);

    return order != 0 ? order : (a_count > b_count) - (a_count < b_count);
}

static int compare_rings(const struct candidate *a, const struct candidate *b)
{
    int order = (int)a->name.kind - (int)b->name.kind;

    if (order == 0)
        order = compare_parts(a->path, a->name.stem, b->path, b->name.stem);
    return order != 0
               ? order
               : compare_parts(a->path + a->name.tail, a->name.tail_count, b->path + b->name.tail, b->name.tail_count);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By ring, then by number. dump.pcap0 is before a dump.pcap that another run has left, and what is compressed last. */
static int by_number(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = compare_rings(a, b);

    if (order == 0)
        order = compare_numbers(a->name.number, b->name.number);
    if (order == 0)
        order = compare_numbers(a->name.time, b->name.time);
    if (order == 0)
        order = (int)b->name.numbered - (int)a->name.numbered;
    if (order == 0)
        order = (int)a->name.packed - (int)b->name.packed;
    return order != 0 ? order : compare_numbers(a->index, b->index);
}

static int by_time(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = compare_numbers(a->name.time, b->name.time);

    return order != 0 ? order : by_number(left, right);
}

/*
 * Whether dumpcap counts from `number` to `next`, possibly over files that are not there, and possibly from 99999 to 0.
 */
static bool counts_on(uint32_t number, uint32_t next)
{
    return next > number || number - next > RING_DUMPCAP_NUMBERS / 2;
}

void capture_ring_free(struct capture_ring *ring)
{
    if (ring == NULL)
        return;
    for (size_t i = 0; ring->files != NULL && i < ring->count; i++)
        free(ring->files[i]);
    free(ring->files);
    free(ring->numbers);
    free(ring);
}

/*
 * Makes a ring of these, leaving out what has the number of the one before it. NULL without memory, and nothing has
 * changed.
 */
static struct capture_ring *ring_make(const struct candidate *candidates, size_t count, char **paths)
{
    struct capture_ring *ring = calloc(1, sizeof(*ring));

    if (ring == NULL)
        return NULL;
    ring->kind = candidates[0].name.kind;
    ring->files = calloc(count, sizeof(*ring->files));
    ring->numbers = calloc(count, sizeof(*ring->numbers));
    ring->count = ring->files != NULL && ring->numbers != NULL ? 1 : 0;
    if (ring->count != 0)
        ring->files[0] = strdup(candidates[0].path);
    if (ring->count == 0 || ring->files[0] == NULL) {
        capture_ring_free(ring);
        return NULL;
    }
    ring->numbers[0] = candidates[0].name.number;
    for (size_t i = 1; i < count; i++) {
        if (candidates[i].name.number == ring->numbers[ring->count - 1])
            continue;
        ring->numbers[ring->count] = candidates[i].name.number;
        ring->files[ring->count++] = candidates[i].path;
        paths[candidates[i].index] = NULL;
    }
    return ring;
}

/* Numbers that differ, of candidates sorted by them. */
static size_t count_numbers(const struct candidate *candidates, size_t count)
{
    size_t numbers = count != 0;

    for (size_t i = 1; i < count; i++)
        numbers += candidates[i].name.number != candidates[i - 1].name.number;
    return numbers;
}

static int add_ring(const struct candidate *candidates, size_t count, char **paths, struct capture_ring **rings,
                    struct iwarp_sentence *error)
{
    struct capture_ring *ring;

    if (count_numbers(candidates, count) < 2)
        return 0;
    ring = ring_make(candidates, count, paths);
    if (ring == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", candidates[0].path);
    rings[candidates[0].index] = ring;
    return 0;
}

/* dumpcap's files of one name are of several runs when two of different times have one number. */
static bool has_runs(const struct candidate *candidates, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (candidates[i].name.number == candidates[i - 1].name.number &&
            candidates[i].name.time != candidates[i - 1].name.time)
            return true;
    return false;
}

/* The files of one name: a ring, or one for each run of dumpcap. */
static int add_group(struct candidate *candidates, size_t count, char **paths, struct capture_ring **rings,
                     struct iwarp_sentence *error)
{
    size_t begin = 0;
    int rc = 0;

    if (candidates[0].name.kind == RING_NONE)
        return 0;
    if (!has_runs(candidates, count))
        return add_ring(candidates, count, paths, rings, error);
    qsort(candidates, count, sizeof(*candidates), by_time);
    for (size_t i = 1; rc == 0 && i <= count; i++)
        if (i == count ||
            (candidates[i].name.number != candidates[i - 1].name.number &&
             !counts_on(candidates[i - 1].name.number, candidates[i].name.number)) ||
            (candidates[i].name.number == candidates[i - 1].name.number &&
             candidates[i].name.time != candidates[i - 1].name.time)) {
            qsort(candidates + begin, i - begin, sizeof(*candidates), by_number);
            rc = add_ring(candidates + begin, i - begin, paths, rings, error);
            begin = i;
        }
    return rc;
}

int capture_ring_find(char **paths, struct capture_ring **rings, size_t count, struct iwarp_sentence *error)
{
    struct candidate *candidates = calloc(count + 1, sizeof(*candidates));
    size_t used = 0, begin = 0;
    int rc = 0;

    if (candidates == NULL)
        return iwarp_sentence_set(error, "out of memory");
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        struct candidate *candidate = &candidates[used];

        ring_name_read(paths[i], &candidate->name);
        candidate->path = paths[i];
        candidate->index = i;
        used += candidate->name.kind != RING_NONE && stat(paths[i], &status) == 0 && S_ISREG(status.st_mode);
    }
    if (used > 1)
        qsort(candidates, used, sizeof(*candidates), by_number);
    for (size_t i = 1; rc == 0 && i <= used; i++)
        if (i == used || compare_rings(&candidates[i], &candidates[begin]) != 0) {
            rc = add_group(candidates + begin, i - begin, paths, rings, error);
            begin = i;
        }
    free(candidates);
    return rc;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* A file of the ring, to be sorted by time. */
struct member {
    char *file;
    uint32_t number;
    size_t index; /* by number */
    bool known;   /* it has a frame, of */
    uint64_t time_ns;
};

static void first_time(struct member *member)
{
    struct iwarp_sentence ignored; /* reading the capture says it again */
    struct capture_file *capture = capture_open(member->file, &ignored);
    struct flow_frame frame;

    member->known = capture != NULL && capture_next(capture, &frame, &ignored) == 1;
    if (member->known)
        member->time_ns = frame.time_ns;
    capture_close(capture);
}

static int by_first_time(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = compare_numbers(a->time_ns, b->time_ns);

    return order != 0 ? order : compare_numbers(a->index, b->index);
}

/* How often the times fall; *after: the file after the last fall; *wrapped: the last is not younger than the first. */
static size_t count_falls(struct member *members, size_t count, size_t *after, bool *wrapped)
{
    const struct member *first = NULL, *last = NULL;
    size_t falls = 0;

    for (size_t i = 0; i < count; i++) {
        if (!members[i].known) {
            members[i].time_ns = last != NULL ? last->time_ns : 0;
            continue;
        }
        if (last != NULL && members[i].time_ns < last->time_ns) {
            falls++;
            *after = i;
        }
        first = first != NULL ? first : &members[i];
        last = &members[i];
    }
    *wrapped = last != NULL && last->time_ns <= first->time_ns;
    return falls;
}

static void count_missing(struct capture_ring *ring, const struct member *members)
{
    for (size_t i = 1; i < ring->count; i++) {
        uint32_t before = members[i - 1].number, number = members[i].number;
        uint32_t step = number > before ? number - before : number + RING_DUMPCAP_NUMBERS - before;

        if (step > 1 && ring->missing == 0)
            ring->missing_first = number > before ? before + 1 : (before + 1) % RING_DUMPCAP_NUMBERS;
        ring->missing += step - 1;
    }
}

static void rotate(struct member *members, struct member *room, size_t count, size_t first)
{
    for (size_t i = 0; i < count; i++)
        room[i] = members[(first + i) % count];
    memcpy(members, room, count * sizeof(*members));
}

int capture_ring_order(struct capture_ring *ring, struct iwarp_sentence *error)
{
    struct member *members;
    size_t falls, after = 0;
    bool wrapped;

    if (ring->ordered)
        return 0;
    members = calloc(2 * ring->count, sizeof(*members));
    if (members == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", ring->files[0]);
    for (size_t i = 0; i < ring->count; i++) {
        members[i] = (struct member){.file = ring->files[i], .number = ring->numbers[i], .index = i};
        first_time(&members[i]);
    }
    falls = count_falls(members, ring->count, &after, &wrapped);
    if (ring->kind == RING_TCPDUMP) /* the numbers wrap at the count given by -W, which the names do not show */
        count_missing(ring, members);
    if (falls == 1 && wrapped && ring->kind == RING_TCPDUMP) { /* 0 follows the highest number */
        ring->missing += ring->numbers[0];
        ring->missing_first = ring->numbers[0] != 0 ? 0 : ring->missing_first;
    }
    if (falls == 1 && wrapped)
        rotate(members, members + ring->count, ring->count, after);
    else if (falls != 0 && ring->kind == RING_TCPDUMP)
        qsort(members, ring->count, sizeof(*members), by_first_time);
    if (ring->kind == RING_DUMPCAP)
        count_missing(ring, members);
    for (size_t i = 0; i < ring->count; i++) {
        ring->files[i] = members[i].file;
        ring->numbers[i] = members[i].number;
    }
    free(members);
    ring->ordered = true;
    return 0;
}

void capture_ring_describe(const struct capture_ring *ring, struct iwarp_sentence *text, struct iwarp_sentence *gap)
{
    const char *last = ring->files[ring->count - 1], *slash = strrchr(last, '/');

    (void)iwarp_sentence_set(text, "%.200s to %.100s: a ring of %zu files, read as one capture", ring->files[0],
                             slash != NULL ? slash + 1 : last, ring->count);
    gap->text[0] = '\0';
    if (ring->missing == 1)
        (void)iwarp_sentence_set(gap, "%.200s: the file with the number %" PRIu32 " is missing in this ring",
                                 ring->files[0], ring->missing_first);
    else if (ring->missing > 1)
        (void)iwarp_sentence_set(gap,
                                 "%.200s: %" PRIu64
                                 " files are missing in this ring, the first of them with the number "
                                 "%" PRIu32,
                                 ring->files[0], ring->missing, ring->missing_first);
}
