/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream whose FPDUs arrive in any order: what is sent in pieces, and who takes which piece when. */
#ifndef TESTS_UNIT_EARLY_SCENE_H
#define TESTS_UNIT_EARLY_SCENE_H

#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/stream_pair.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "base/octets.h"
#include "wire/rdmap.h"

enum { REGION = 4096, RECEIVES = 4, RECEIVE = 1500, PIECES = 6, PERMUTATIONS = 720, EMSS = 700, STREAM_MAX = 16384 };

/* What the initiator sends after start-up, and a responder that has not seen it yet. */
struct scene {
    struct pair *pair;
    struct iwarp_region written, source, sink;
    uint8_t receives[RECEIVES][RECEIVE];
    uint8_t octets[STREAM_MAX]; /* of the stream under test */
    size_t count;
    size_t ends[PIECES]; /* where TCP cuts it */
    size_t in_order;     /* octets given in order */
    bool boundary;
};

static inline uint8_t content(size_t seed, size_t i)
{
    return (uint8_t)(seed * 31 + i * 7 + i / 251);
}

static inline void fill(uint8_t *octets, size_t count, size_t seed)
{
    for (size_t i = 0; i < count; i++)
        octets[i] = content(seed, i);
}

static inline bool is_filled(const uint8_t *octets, size_t count, size_t seed)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != content(seed, i))
            return false;
    return true;
}

static inline struct iwarp_stream *sink_of(const struct scene *scene)
{
    return scene->pair->side[0].stream;
}

static inline void region_new(struct scene *scene, int side, struct iwarp_region *region, unsigned access)
{
    *region = (struct iwarp_region){.base = 1 << 20, .length = REGION, .access = access};
    ck_assert_int_eq(iwarp_region_register(scene->pair->side[side].device, region, NULL), 0);
}

/* Both in full operation: the initiator's first FPDU, an empty Write, has come. */
static inline struct scene *scene_new(bool markers)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    struct iwarp_write nothing = {.id = 99};

    ck_assert_ptr_nonnull(scene);
    scene->pair = pair_new();
    scene->boundary = !markers;
    for (int i = 0; i < PAIR_SIDES; i++) {
        scene->pair->side[i].config.markers = markers;
        scene->pair->side[i].config.emss = EMSS;
    }
    region_new(scene, 0, &scene->written, IWARP_REMOTE_WRITE);
    region_new(scene, 0, &scene->sink, IWARP_LOCAL_WRITE);
    region_new(scene, 1, &scene->source, IWARP_REMOTE_READ);
    fill(scene->source.octets, REGION, 9);
    pair_open(scene->pair);
    for (uint64_t i = 0; i < RECEIVES; i++)
        ck_assert_int_eq(iwarp_stream_post_receive(sink_of(scene), i, scene->receives[i], RECEIVE, NULL), 0);
    pair_run(scene->pair);
    ck_assert_int_eq(iwarp_stream_post_write(scene->pair->side[1].stream, &nothing, NULL), 0);
    pair_run(scene->pair);
    ck_assert_int_eq(iwarp_stream_state(sink_of(scene)), IWARP_STATE_OPERATION);
    return scene;
}

static inline void scene_free(struct scene *scene)
{
    pair_free(scene->pair);
    free(scene);
}

/* Takes what the initiator has to send away from the pair, and cuts it: at FPDUs, or anywhere. */
static inline void scene_take(struct scene *scene, bool anywhere)
{
    struct iwarp_stream *source = scene->pair->side[1].stream;
    struct iwarp_output output;
    size_t piece = 0;

    while (iwarp_stream_output(source, &output) != 0) {
        for (size_t i = 0; i < output.span_count; i++) {
            ck_assert_uint_le(scene->count + output.spans[i].count, STREAM_MAX);
            memcpy(scene->octets + scene->count, output.spans[i].octets, output.spans[i].count);
            scene->count += output.spans[i].count;
        }
        iwarp_stream_output_done(source, output.octets, 1);
        if (piece < PIECES)
            scene->ends[piece++] = scene->count;
    }
    ck_assert_uint_eq(piece, PIECES);
    scene->ends[PIECES - 1] = scene->count;
    for (size_t i = 0; anywhere && i + 1 < PIECES; i++)
        scene->ends[i] = (i + 1) * (scene->count / PIECES) + 1;
}

static inline size_t begin_of(const struct scene *scene, size_t piece)
{
    return piece == 0 ? 0 : scene->ends[piece - 1];
}

/* A copy of just that size, so that a read beyond it is seen. */
static inline void early(struct scene *scene, size_t gap, const uint8_t *octets, size_t count)
{
    uint8_t *copy = malloc(count == 0 ? 1 : count);

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, octets, count);
    iwarp_stream_input_early(sink_of(scene), gap, copy, count, scene->boundary, 1);
    free(copy);
    pair_gather(scene->pair, 0);
}

static inline void early_piece(struct scene *scene, size_t piece)
{
    size_t begin = begin_of(scene, piece);

    early(scene, begin - scene->in_order, scene->octets + begin, scene->ends[piece] - begin);
}

static inline void next_piece(struct scene *scene, size_t piece)
{
    size_t begin = begin_of(scene, piece);

    ck_assert_uint_eq(begin, scene->in_order);
    pair_feed(scene->pair, 0, scene->octets + begin, scene->ends[piece] - begin);
    scene->in_order = scene->ends[piece];
}

static inline void post_write(struct scene *scene, size_t at, uint8_t *octets, size_t count, size_t seed)
{
    struct iwarp_write write = {
        .id = 50, .octets = octets, .count = count, .stag = scene->written.stag, .to = scene->written.base + at};

    fill(octets, count, seed);
    ck_assert_int_eq(iwarp_stream_post_write(scene->pair->side[1].stream, &write, NULL), 0);
}

static inline void post_send(struct scene *scene, uint8_t *octets, size_t count, size_t seed)
{
    struct iwarp_send send = {.id = 60, .octets = octets, .count = count};

    fill(octets, count, seed);
    ck_assert_int_eq(iwarp_stream_post_send(scene->pair->side[1].stream, &send, NULL), 0);
}

/* The n-th permutation (Lehmer's code). */
static inline void permute(size_t n, size_t order[PIECES])
{
    size_t left[PIECES];

    for (size_t i = 0; i < PIECES; i++)
        left[i] = i;
    for (size_t i = 0; i < PIECES; i++) {
        size_t pick = n % (PIECES - i);

        n /= PIECES - i;
        order[i] = left[pick];
        memmove(left + pick, left + pick + 1, (PIECES - i - pick - 1) * sizeof(left[0]));
    }
}

/* Lets the pieces arrive in that order; early ones come twice when `twice`. After each, `look` judges. */
static inline void arrive(struct scene *scene, const size_t order[PIECES], bool twice,
                          void (*look)(struct scene *scene, const bool *arrived))
{
    bool arrived[PIECES] = {false};
    size_t next = 0;

    for (size_t i = 0; i < PIECES; i++) {
        size_t piece = order[i];

        arrived[piece] = true;
        if (piece != next) {
            early_piece(scene, piece);
            if (twice)
                early_piece(scene, piece);
        }
        while (next < PIECES && arrived[next])
            next_piece(scene, next++);
        look(scene, arrived);
    }
    ck_assert_uint_eq(next, PIECES);
}

#endif
