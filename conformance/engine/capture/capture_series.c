/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_series.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_file.h"
#include "reports/results/result.h"

struct capture_series {
    char *const *files; /* of the ring, or `single` */
    char *single;
    size_t count;
    struct capture_ring *ring; /* NULL: of one file */
    size_t present;            /* file that is read; `count` at the end */
    struct capture_file *capture;
    uint64_t *before; /* frames of the files before each, */
    size_t entered;   /* of so many files */
    uint64_t frames;
    const struct capture_filter *filter; /* NULL: all frames are wanted */
    struct flow_account account;         /* of the files that were read to their end */
    size_t broken;                       /* files that could not be read, or not to their end, */
    struct iwarp_sentence why;           /* and why the first of them could not */
};

static void note_broken(struct capture_series *series, const struct iwarp_sentence *why)
{
    if (series->broken++ == 0)
        series->why = *why;
}

/* Leaves the present file. */
static void leave(struct capture_series *series)
{
    if (series->capture != NULL) {
        capture_account(series->capture, &series->account);
        capture_close(series->capture);
    }
    series->capture = NULL;
    series->present++;
}

/* Opens the present file or the first after it that can be opened. False: there is none. */
static bool enter(struct capture_series *series)
{
    for (; series->present < series->count; series->present++) {
        const char *path = series->files[series->present];
        struct iwarp_sentence why;

        series->before[series->present] = series->frames;
        if (series->entered <= series->present)
            series->entered = series->present + 1;
        series->capture = capture_open(path, &why);
        if (series->capture != NULL)
            return true;
        if (series->ring != NULL && capture_is_empty(path)) /* the newest one, before anything was written to it */
            series->account.row[FLOW_ROW_EMPTY].items++;
        else
            note_broken(series, &why);
    }
    return false;
}

static int set_up(struct capture_series *series, const char *path, struct capture_ring *ring,
                  struct iwarp_sentence *error)
{
    series->ring = ring;
    series->count = 1;
    if (ring != NULL) {
        if (capture_ring_order(ring, error) != 0)
            return -1;
        series->files = ring->files;
        series->count = ring->count;
    } else {
        series->single = strdup(path);
        series->files = &series->single;
    }
    series->before = calloc(series->count + 1, sizeof(*series->before));
    return series->files[0] != NULL && series->before != NULL ? 0
                                                              : iwarp_sentence_set(error, "%s: out of memory", path);
}

struct capture_series *capture_series_open(const char *path, struct capture_ring *ring, struct iwarp_sentence *error)
{
    struct capture_series *series = calloc(1, sizeof(*series));

    if (series == NULL) {
        (void)iwarp_sentence_set(error, "%s: out of memory", path);
        return NULL;
    }
    if (set_up(series, path, ring, error) == 0 && enter(series))
        return series;
    if (series->broken != 0 && error != NULL)
        *error = series->why;
    else if (series->present == series->count && series->before != NULL)
        (void)iwarp_sentence_set(error, "%s: all files of this ring are empty, captures were expected", path);
    capture_series_close(series);
    return NULL;
}

void capture_series_filter(struct capture_series *series, const struct capture_filter *filter)
{
    series->filter = filter;
}

/* Whether the filter wants the frame, as capture_filter_wants(); what it does not want is counted. */
static int is_wanted(struct capture_series *series, const struct flow_frame *frame, struct iwarp_sentence *why)
{
    struct iwarp_sentence wrong;
    int wanted = series->filter != NULL ? capture_filter_wants(series->filter, frame, &wrong) : 1;

    if (wanted < 0)
        return iwarp_sentence_set(why, "%.300s: %s", series->files[series->present], wrong.text);
    if (wanted == 0)
        flow_account_count(&series->account, FLOW_ROW_FILTERED, 1, frame->captured);
    return wanted;
}

int capture_series_next(struct capture_series *series, struct flow_frame *frame, struct iwarp_sentence *error)
{
    struct iwarp_sentence why;

    while (series->capture != NULL) {
        int rc = capture_next(series->capture, frame, &why);

        if (rc == 1) {
            frame->number = ++series->frames;
            rc = is_wanted(series, frame, &why);
            if (rc == 1)
                return 1;
            if (rc == 0)
                continue;
        }
        if (rc < 0)
            note_broken(series, &why);
        if (series->ring == NULL) /* open until the series is closed, for its place and account */
            break;
        leave(series);
        (void)enter(series);
    }
    if (series->broken == 0)
        return 0;
    if (series->broken == 1)
        return iwarp_sentence_set(error, "%s", series->why.text);
    return iwarp_sentence_set(error, "%.400s; and %zu more files of this ring", series->why.text, series->broken - 1);
}

int capture_series_rewind(struct capture_series *series, struct iwarp_sentence *error)
{
    capture_close(series->capture);
    series->capture = NULL;
    series->present = 0;
    series->frames = 0;
    series->broken = 0;
    series->account = (struct flow_account){0};
    if (enter(series))
        return 0;
    return iwarp_sentence_set(error, "%s", series->broken != 0 ? series->why.text : "the capture is empty now");
}

bool capture_series_place(const struct capture_series *series, const struct flow_frame *frame, uint64_t *offset)
{
    struct flow_frame own = *frame;

    if (series->capture == NULL)
        return false;
    own.number -= series->before[series->present];
    return capture_place(series->capture, &own, offset);
}

bool capture_series_several(const struct capture_series *series)
{
    return series->count > 1;
}

const char *capture_series_where(const struct capture_series *series, uint64_t number, uint64_t *frame)
{
    size_t file = series->entered - 1;

    while (file > 0 && series->before[file] >= number)
        file--;
    *frame = number - (number != 0 ? series->before[file] : 0);
    return series->files[file];
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void append(struct iwarp_sentence *sentence, const char *text, size_t count)
{
    size_t used = strlen(sentence->text), room = sizeof(sentence->text) - 1 - used;

    if (count > room)
        count = room;
    memcpy(sentence->text + used, text, count);
    sentence->text[used + count] = '\0';
}

/* Appends what a number of the series is called. */
static void append_frame(const struct capture_series *series, uint64_t number, const char *file,
                         struct iwarp_sentence *sentence)
{
    uint64_t frame;
    const char *own = capture_series_where(series, number, &frame);
    struct iwarp_sentence name;

    if (strcmp(own, file) == 0)
        (void)iwarp_sentence_set(&name, "%" PRIu64, frame);
    else
        (void)iwarp_sentence_set(&name, "%" PRIu64 " of %s", frame, base_name(own));
    append(sentence, name.text, strlen(name.text));
}

const char *capture_series_reword(const struct capture_series *series, const char *text, const char *file,
                                  struct iwarp_sentence *sentence)
{
    static const char word[] = "frame ";
    const char *at = text, *found;

    if (text == NULL || series->count < 2 || strstr(text, word) == NULL)
        return text;
    sentence->text[0] = '\0';
    while ((found = strstr(at, word)) != NULL) {
        char *end;
        uint64_t number;

        found += sizeof(word) - 1;
        append(sentence, at, (size_t)(found - at));
        at = found;
        if (!isdigit((unsigned char)*found))
            continue;
        number = strtoull(found, &end, 10);
        append_frame(series, number <= series->frames ? number : 0, file, sentence);
        at = end;
    }
    append(sentence, at, strlen(at));
    return sentence->text;
}

/* A note before a step whose frame is in another file than the one before it. */
static int note_file(json_t *steps, size_t *index, const json_t *step, const char *file)
{
    struct iwarp_sentence text;
    json_t *note;

    (void)iwarp_sentence_set(&text, "frames of %.400s", base_name(file));
    note = result_step(json_number_value(json_object_get(step, "t")), json_string_value(json_object_get(step, "from")),
                       "note", text.text, 0, NULL, 0);
    if (note == NULL || json_array_insert_new(steps, *index, note) != 0)
        return -1;
    ++*index;
    return 0;
}

/*
 * A step that has the number of a frame of the series: a copy of it, since ladders share steps. Its file; NULL without
 * memory.
 */
static const char *name_step(const struct capture_series *series, json_t *steps, size_t index, const char *file)
{
    json_t *step = json_copy(json_array_get(steps, index));
    json_int_t number = json_integer_value(json_object_get(step, "frame"));
    uint64_t frame;
    const char *own = capture_series_where(series, (uint64_t)number, &frame);

    if (json_object_set_new(step, "frame", json_integer((json_int_t)frame)) != 0 ||
        (strcmp(own, file) != 0 && json_object_set_new(step, "file", result_text(own)) != 0)) {
        json_decref(step);
        return NULL;
    }
    return json_array_set_new(steps, index, step) == 0 ? own : NULL;
}

int capture_series_name_steps(const struct capture_series *series, json_t *steps, const char *file)
{
    const char *last = file;

    for (size_t i = 0; series->count > 1 && i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const char *own;

        if (json_integer_value(json_object_get(step, "frame")) <= 0)
            continue;
        own = name_step(series, steps, i, file);
        if (own == NULL || (strcmp(own, last) != 0 && note_file(steps, &i, json_array_get(steps, i), own) != 0))
            return -1;
        last = own;
    }
    return 0;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

void capture_series_account(const struct capture_series *series, struct flow_account *account)
{
    flow_account_add(account, &series->account);
    if (series->capture != NULL)
        capture_account(series->capture, account);
    if (series->ring != NULL)
        account->row[FLOW_ROW_RING_FILE].items += series->ring->missing;
}

uint64_t capture_series_frames(const struct capture_series *series)
{
    return series->frames;
}

bool capture_series_is_rereadable(const struct capture_series *series)
{
    return series->ring != NULL || capture_is_rereadable(series->capture);
}

void capture_series_close(struct capture_series *series)
{
    if (series == NULL)
        return;
    capture_close(series->capture);
    free(series->single);
    free(series->before);
    free(series);
}
