/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/cut_work.h"

#include <check.h>
#include <string.h>

enum { CUTS = 4, OCTETS_MAX = 1 << 16 };

static void cut_up(uint64_t chance, size_t count, size_t ends[CUTS])
{
    size_t begin = 0;

    for (size_t i = 0; i + 1 < CUTS; i++) {
        chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        begin = ends[i] = begin + (size_t)((chance >> 33) % (count - begin + 1));
    }
    ends[CUTS - 1] = count;
}

int cut_receive(struct iwarp_stream *stream, uint64_t id, uint8_t *buffer, size_t octets, uint64_t chance)
{
    struct iwarp_buffer pieces[CUTS];
    size_t ends[CUTS], begin = 0;

    if (chance >> 63 != 0)
        return iwarp_stream_post_receive(stream, id, buffer, octets, NULL);
    cut_up(chance, octets, ends);
    for (size_t i = 0; i < CUTS; begin = ends[i++])
        pieces[i] = (struct iwarp_buffer){buffer + begin, ends[i] - begin};
    return iwarp_stream_post_receive_pieces(stream, id, pieces, CUTS, NULL);
}

/* A message in the form that `chance` likes; `passing` has what is copied, and is changed when it is posted. */
struct cut_message {
    uint8_t passing[OCTETS_MAX];
    struct iwarp_span pieces[CUTS];
    const uint8_t *octets;
    bool copy, whole;
};

static void cut_message(struct cut_message *message, const uint8_t *octets, size_t count, uint64_t chance)
{
    size_t ends[CUTS], begin = 0;

    ck_assert_uint_le(count, OCTETS_MAX);
    message->copy = chance >> 63 != 0;
    message->whole = (chance >> 62 & 1) != 0;
    message->octets = message->copy && count != 0 ? memcpy(message->passing, octets, count) : octets;
    cut_up(chance, count, ends);
    for (size_t i = 0; i < CUTS; begin = ends[i++])
        message->pieces[i] = (struct iwarp_span){message->octets + begin, ends[i] - begin};
}

static int posted(struct cut_message *message, int result)
{
    memset(message, 0xEE, sizeof(*message));
    return result;
}

int cut_send(struct iwarp_stream *stream, const struct iwarp_send *send, uint64_t chance)
{
    struct cut_message message;
    struct iwarp_send cut = *send;

    cut_message(&message, send->octets, send->count, chance);
    cut.copy = message.copy;
    cut.octets = message.whole ? message.octets : NULL;
    cut.pieces = message.whole ? NULL : message.pieces;
    cut.piece_count = message.whole ? 0 : CUTS;
    return posted(&message, iwarp_stream_post_send(stream, &cut, NULL));
}

int cut_write(struct iwarp_stream *stream, const struct iwarp_write *write, uint64_t chance)
{
    struct cut_message message;
    struct iwarp_write cut = *write;

    cut_message(&message, write->octets, write->count, chance);
    cut.copy = message.copy;
    cut.octets = message.whole ? message.octets : NULL;
    cut.pieces = message.whole ? NULL : message.pieces;
    cut.piece_count = message.whole ? 0 : CUTS;
    return posted(&message, iwarp_stream_post_write(stream, &cut, NULL));
}
