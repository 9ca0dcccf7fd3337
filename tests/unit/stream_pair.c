/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/stream_pair.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "wire/fpdu.h"

struct pair *pair_new(void)
{
    struct pair *pair = calloc(1, sizeof(*pair));

    ck_assert_ptr_nonnull(pair);
    pair->now = 1000;
    for (int i = 0; i < PAIR_SIDES; i++) {
        struct iwarp_device_config config = {.seed = (uint64_t)i + 7};
        struct pair_side *side = &pair->side[i];

        side->device = iwarp_device_new(&config);
        ck_assert_ptr_nonnull(side->device);
        iwarp_stream_config_default(&side->config, i == 0 ? IWARP_RESPONDER : IWARP_INITIATOR);
        side->config.number = (uint32_t)i + 1;
    }
    return pair;
}

void pair_free(struct pair *pair)
{
    for (int i = 0; i < PAIR_SIDES; i++) {
        iwarp_stream_free(pair->side[i].stream);
        iwarp_device_free(pair->side[i].device);
        free(pair->side[i].sent);
    }
    free(pair);
}

void pair_open(struct pair *pair)
{
    struct iwarp_sentence sentence = {""};

    for (int i = 0; i < PAIR_SIDES; i++) {
        struct pair_side *side = &pair->side[i];

        side->stream = iwarp_stream_new(side->device, &side->config, pair->now, &sentence);
        ck_assert_msg(side->stream != NULL, "%s", sentence.text);
    }
}

void pair_gather(struct pair *pair, int which)
{
    struct pair_side *side = &pair->side[which];
    struct iwarp_output output;

    while (iwarp_stream_output(side->stream, &output) != 0) {
        size_t octets = 0, most = pair->take != 0 && pair->take < output.octets ? pair->take : output.octets;

        for (size_t i = 0; i < output.span_count; i++) {
            size_t count = output.spans[i].count < most - octets ? output.spans[i].count : most - octets;

            if (side->sent_count + count > side->sent_room) {
                uint8_t *grown;

                side->sent_room = (side->sent_count + count) * 2 + 4096;
                grown = realloc(side->sent, side->sent_room);
                ck_assert_ptr_nonnull(grown);
                side->sent = grown;
            }
            memcpy(side->sent + side->sent_count, output.spans[i].octets, count);
            side->sent_count += count;
            octets += count;
        }
        ck_assert_uint_eq(octets, most);
        if (octets > side->largest_piece)
            side->largest_piece = octets;
        iwarp_stream_output_done(side->stream, octets, pair->now);
    }
    while (side->event_count < PAIR_EVENTS && iwarp_stream_poll(side->stream, &side->events[side->event_count]))
        side->event_count++;
    if (iwarp_stream_wants(side->stream) == IWARP_WANT_CLOSE)
        side->fin_sent = true;
}

static bool pair_deliver(struct pair *pair, int from)
{
    struct pair_side *side = &pair->side[from];
    struct iwarp_stream *to = pair->side[1 - from].stream;
    size_t count = side->sent_count - side->delivered;

    if (count != 0) {
        uint8_t *copy;

        if (pair->portion != 0 && count > pair->portion)
            count = pair->portion;
        /* A copy of just that size, so that a read beyond it is seen by the sanitiser. */
        copy = malloc(count);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, side->sent + side->delivered, count);
        side->delivered += count;
        iwarp_stream_input(to, copy, count, pair->now);
        free(copy);
        return true;
    }
    if (side->fin_sent && !side->fin_delivered) {
        side->fin_delivered = true;
        iwarp_stream_input_fin(to, pair->now);
        return true;
    }
    return false;
}

void pair_run(struct pair *pair)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (int i = 0; i < PAIR_SIDES; i++) {
            pair_gather(pair, i);
            moved = pair_deliver(pair, i) || moved;
        }
    }
}

const struct iwarp_event *pair_event(const struct pair *pair, int side, enum iwarp_event_kind kind, size_t n)
{
    for (size_t i = 0; i < pair->side[side].event_count; i++)
        if (pair->side[side].events[i].kind == kind && n-- == 0)
            return &pair->side[side].events[i];
    return NULL;
}

size_t pair_count(const struct pair *pair, int side, enum iwarp_event_kind kind)
{
    size_t count = 0;

    while (pair_event(pair, side, kind, count) != NULL)
        count++;
    return count;
}

void pair_feed(struct pair *pair, int side, const uint8_t *octets, size_t count)
{
    uint8_t *copy = malloc(count == 0 ? 1 : count);

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, octets, count);
    iwarp_stream_input(pair->side[side].stream, copy, count, pair->now);
    free(copy);
    pair_gather(pair, side);
}

void pair_feed_ulpdu(struct pair *pair, int side, const uint8_t *ulpdu, size_t count)
{
    struct fpdu_framing framing = {false, true, 0};
    uint8_t *fpdu = malloc(FPDU_OCTETS_MAX);
    size_t octets;

    ck_assert_ptr_nonnull(fpdu);
    octets = fpdu_pack(ulpdu, count, &framing, fpdu, FPDU_OCTETS_MAX);
    ck_assert_uint_ne(octets, 0);
    pair_feed(pair, side, fpdu, octets);
    free(fpdu);
}
