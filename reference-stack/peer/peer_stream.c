/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's streams from their making to their end, and the work that is posted on them. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_association.h"

struct peer_work *peer_work_new(struct peer_stream *ps, size_t octets)
{
    struct budget *budget = &ps->peer->budget;
    size_t whole = sizeof(struct peer_work) + octets + 2 * (size_t)PEER_GUARD;
    struct peer_work *work = budget_charge(budget, whole) ? malloc(whole) : NULL;

    if (work == NULL)
        return NULL;
    memset(work, 0, sizeof(*work));
    work->octets = octets;
    work->data = (uint8_t *)(work + 1) + PEER_GUARD;
    /* All of it: what an earlier message left in the memory must not pass for what was placed. */
    memset(work->data - PEER_GUARD, PEER_GUARD_OCTET, octets + 2 * (size_t)PEER_GUARD);
    work->next = ps->work;
    if (work->next != NULL)
        work->next->previous = work;
    ps->work = work;
    return work;
}

bool peer_work_guarded(const struct peer_work *work)
{
    const uint8_t *front = work->data - PEER_GUARD;
    const uint8_t *behind = work->data + work->octets;

    for (size_t i = 0; i < PEER_GUARD; i++)
        if (front[i] != PEER_GUARD_OCTET || behind[i] != PEER_GUARD_OCTET)
            return false;
    return true;
}

void peer_work_free(struct peer_stream *ps, struct peer_work *work)
{
    if (work->previous != NULL)
        work->previous->next = work->next;
    else
        ps->work = work->next;
    if (work->next != NULL)
        work->next->previous = work->previous;
    budget_give(&ps->peer->budget, sizeof(*work) + work->octets + 2 * (size_t)PEER_GUARD);
    free(work);
}

struct peer_stream *peer_stream_new(struct peer *peer, const struct peer_options *options, void *transport)
{
    struct peer_stream *ps;

    if (peer_is_full(peer) || !budget_charge(&peer->budget, PEER_STREAM_OCTETS))
        return NULL;
    ps = calloc(1, sizeof(*ps));
    if (ps == NULL) {
        budget_give(&peer->budget, PEER_STREAM_OCTETS);
        return NULL;
    }
    ps->number = peer->next_number;
    HASH_ADD(hh, peer->by_number, number, sizeof(ps->number), ps);
    if (hash_lost(ps) || deadlines_join(&peer->deadlines) != 0) {
        if (!hash_lost(ps))
            HASH_DEL(peer->by_number, ps);
        budget_give(&peer->budget, PEER_STREAM_OCTETS);
        free(ps);
        return NULL;
    }
    peer->next_number++;
    ps->peer = peer;
    ps->options = *options;
    ps->transport = transport;
    ps->sid = -1;
    ps->next = peer->streams;
    if (ps->next != NULL)
        ps->next->previous = ps;
    peer->streams = ps;
    peer->stream_count++;
    return ps;
}

void peer_stream_free(struct peer_stream *ps)
{
    struct peer *peer = ps->peer;

    peer_association_leave(ps);
    iwarp_stream_free(ps->stream);
    free(ps->streaming);
    while (ps->work != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): work_free takes it off the list */
        peer_work_free(ps, ps->work);
    if (ps->previous != NULL)
        ps->previous->next = ps->next;
    else
        peer->streams = ps->next;
    if (ps->next != NULL)
        ps->next->previous = ps->previous;
    HASH_DEL(peer->by_number, ps);
    if (!ps->dead)
        deadlines_leave(&peer->deadlines, &ps->deadline);
    peer->stream_count--;
    peer->dead_count -= ps->dead;
    budget_give(&peer->budget, ps->dead ? sizeof(*ps) : PEER_STREAM_OCTETS);
    free(ps);
}

/* Of the dead streams all go but the youngest PEER_DEAD_MAX: a caller that is late with a call does no harm. */
void peer_bury(struct peer *peer)
{
    struct peer_stream *oldest;

    while (peer->dead_count > PEER_DEAD_MAX && (oldest = peer->first_dead) != NULL) {
        peer->first_dead = oldest->next_dead;
        if (peer->first_dead == NULL)
            peer->last_dead = NULL;
        peer_stream_free(oldest);
    }
}

/* The stream is over: what it held is given back, its number stays taken. The transport is dealt with already. */
void peer_stream_dead(struct peer_stream *ps)
{
    if (ps->dead)
        return;
    ps->dead = true;
    budget_give(&ps->peer->budget, PEER_STREAM_OCTETS - sizeof(*ps));
    ps->transport = NULL;
    peer_association_leave(ps);
    ps->peer->dead_count++;
    if (ps->peer->last_dead != NULL)
        ps->peer->last_dead->next_dead = ps;
    else
        ps->peer->first_dead = ps;
    ps->peer->last_dead = ps;
    deadlines_leave(&ps->peer->deadlines, &ps->deadline);
    iwarp_stream_free(ps->stream);
    ps->stream = NULL;
    free(ps->streaming);
    ps->streaming = NULL;
    while (ps->work != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): work_free takes it off the list */
        peer_work_free(ps, ps->work);
}

struct peer_stream *peer_stream_find(const struct peer *peer, uint32_t number)
{
    struct peer_stream *ps;

    HASH_FIND(hh, peer->by_number, &number, sizeof(number), ps);
    return ps;
}

void *peer_stream_transport(const struct peer_stream *ps)
{
    return ps->transport;
}

bool peer_is_full(const struct peer *peer)
{
    return peer_stream_count(peer) >= peer->config.streams_max;
}

size_t peer_stream_count(const struct peer *peer)
{
    return peer->stream_count - peer->dead_count;
}

/* All or none: the stream's room and every buffer are there before the first is posted. */
int peer_post_receives(struct peer_stream *ps, uint32_t count, uint32_t octets, struct iwarp_sentence *sentence)
{
    struct peer_work *work;
    uint32_t made = 0;

    if (iwarp_stream_reserve_receives(ps->stream, count, sentence) != 0)
        return -1;
    while (made < count && peer_work_new(ps, octets) != NULL)
        made++;
    work = ps->work; /* the newest: in front */
    if (made < count) {
        for (struct peer_work *next; made > 0; work = next, made--) {
            next = work->next;
            peer_work_free(ps, work);
        }
        return iwarp_sentence_set(sentence, "peer: out of memory for %u receives of %u octets", count, octets);
    }
    /* The order does not matter: all receives are alike. */
    for (; made > 0; work = work->next, made--)
        (void)iwarp_stream_post_receive(ps->stream, (uint64_t)(uintptr_t)work, work->data, octets, sentence);
    return 0;
}
