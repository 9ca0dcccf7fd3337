/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that came before their turn, by DDP-SSN (RFC 5043 10). SCTP has acknowledged them, so they cannot be left to
 * it: a copy is kept until those before them have come. What is kept is what was received, never what a DDP-SSN
 * promises, and all sessions of an association share one limit. Copies are used again; none is allocated for each
 * message.
 */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/sctp/sctp.h"

enum { ROOM_LEAST = 2048, INDEX_OCTETS = 64 }; /* the hash table's share of one message */

static size_t cost(size_t room)
{
    return sizeof(struct sctp_held) + room + INDEX_OCTETS;
}

/* A copy's memory: one that was used before, where it is large enough. */
static struct sctp_held *allocate(struct iwarp_association *association, size_t count)
{
    size_t room = count < ROOM_LEAST ? ROOM_LEAST : count;
    struct sctp_held *held = association->free_held;

    if (held != NULL && held->room >= count) {
        association->free_held = held->next;
        return held;
    }
    if (association->counters.held_octets + cost(room) > association->config.held_max)
        order_free(association);
    if (association->counters.held_octets + cost(room) > association->config.held_max)
        return NULL;
    held = malloc(sizeof(*held) + room);
    if (held == NULL)
        return NULL;
    memset(held, 0, sizeof(*held));
    held->room = room;
    association->counters.held_octets += cost(room);
    if (association->counters.held_octets > association->counters.held_octets_max)
        association->counters.held_octets_max = association->counters.held_octets;
    return held;
}

/* Those of the usual size are kept for others; longer ones, and all when none is in use any more, are freed. */
void order_give_back(struct iwarp_association *association, struct sctp_held *held)
{
    if (held->room == ROOM_LEAST) {
        held->next = association->free_held;
        association->free_held = held;
    } else {
        association->counters.held_octets -= cost(held->room);
        free(held);
    }
}

struct sctp_held *order_find(const struct sctp_session *session, uint16_t ssn)
{
    struct sctp_held *held = NULL;

    HASH_FIND(hh, session->held, &ssn, sizeof(ssn), held);
    return held;
}

int order_hold(struct sctp_session *session, uint16_t ssn, const struct iwarp_sctp_message *message)
{
    struct iwarp_association *association = session->association;
    size_t octets = (size_t)SCTP_NUMBER(association, session, SCTP_HELD_OCTETS, message->count);
    struct sctp_held *held = allocate(association, octets);

    if (held == NULL)
        return -1;
    held->ssn = ssn;
    held->ppid = message->ppid;
    held->count = message->count;
    if (message->count != 0)
        memcpy(held->octets, message->octets, message->count);
    HASH_ADD(hh, session->held, ssn, sizeof(held->ssn), held);
    if (hash_lost(held)) {
        order_give_back(association, held);
        return -1;
    }
    association->counters.held++;
    return 0;
}

struct sctp_held *order_remove(struct sctp_session *session, uint16_t ssn)
{
    struct sctp_held *held = order_find(session, ssn);

    if (held == NULL)
        return NULL;
    HASH_DEL(session->held, held);
    session->association->counters.held--;
    return held;
}

void order_clear(struct sctp_session *session)
{
    while (session->held != NULL)
        order_give_back(session->association, order_remove(session, session->held->ssn));
}

void order_free(struct iwarp_association *association)
{
    while (association->free_held != NULL) {
        struct sctp_held *held = association->free_held;

        association->free_held = held->next;
        association->counters.held_octets -= cost(held->room);
        free(held);
    }
}
