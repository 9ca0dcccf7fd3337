/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/sctp/sctp_host.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "generator/sctp/sctp_host_internal.h"

enum { FIRST_FREE_PORT = 30000, LAST_FREE_PORT = 60000, USUAL_STREAMS = 64, USUAL_WINDOW = 1 << 20 };

/* SplitMix64: as generator/link/random.h, which is not below this room. */
uint32_t sctp_host_random(struct sctp_host *host)
{
    uint64_t z = (host->random_state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

struct sctp_host *sctp_host_new(const struct sctp_host_config *config, struct iwarp_sentence *error)
{
    struct sctp_host *host = calloc(1, sizeof(*host));

    if (host == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for an SCTP endpoint");
        return NULL;
    }
    host->config = *config;
    host->now = config->now;
    host->random_state = config->seed;
    host->next_port = FIRST_FREE_PORT;
    return host;
}

void sctp_host_free(struct sctp_host *host)
{
    if (host == NULL)
        return;
    while (host->assocs != NULL)
        sctp_assoc_release(host->assocs);
    while (host->listeners != NULL) {
        struct sctp_listener *listener = host->listeners;

        host->listeners = listener->next;
        free(listener);
    }
    free(host);
}

void sctp_host_fragmented(struct sctp_host *host, bool fragmented)
{
    host->fragmented = fragmented;
}

void sctp_host_set_time(struct sctp_host *host, uint64_t now)
{
    host->now = now;
}

const struct sctp_host_counters *sctp_host_counters(const struct sctp_host *host)
{
    return &host->counters;
}

struct sctp_assoc *sctp_host_find(const struct sctp_host *host, uint16_t own_port, uint16_t peer_port)
{
    struct sctp_assoc *assoc;

    DL_FOREACH(host->assocs, assoc)
    {
        if (assoc->status.own_port == own_port && assoc->status.peer_port == peer_port)
            return assoc;
    }
    return NULL;
}

bool sctp_host_has(const struct sctp_host *host, uint16_t own_port, uint16_t peer_port)
{
    return sctp_host_find(host, own_port, peer_port) != NULL;
}

/* --- Associations ------------------------------------------------------------------------------------------------ */

static void set_options(struct sctp_assoc *assoc, const struct sctp_assoc_options *options)
{
    static const struct sctp_assoc_options usual;

    assoc->options = options != NULL ? *options : usual;
    if (assoc->options.parameters_octets != 0)
        memcpy(assoc->parameters, assoc->options.parameters, assoc->options.parameters_octets);
    assoc->options.parameters = assoc->parameters;
    if (!assoc->options.choose_streams)
        assoc->options.outbound = assoc->options.inbound = USUAL_STREAMS;
    assoc->status.own_outbound = assoc->options.outbound;
    assoc->status.own_inbound = assoc->options.inbound;
    assoc->fixed_window = assoc->options.window != 0;
    if (!assoc->fixed_window)
        assoc->options.window = USUAL_WINDOW;
}

struct sctp_assoc *sctp_host_assoc(struct sctp_host *host, uint16_t own_port, uint16_t peer_port, bool passive,
                                   const struct sctp_assoc_options *options, struct iwarp_sentence *error)
{
    struct sctp_assoc *assoc;

    if (options != NULL && options->parameters_octets > SCTP_HOST_PARAMETERS_MAX) {
        (void)iwarp_sentence_set(error, "SCTP: at most %d octets of parameters", SCTP_HOST_PARAMETERS_MAX);
        return NULL;
    }
    assoc = host->assoc_count < SCTP_HOST_ASSOCS_MAX ? calloc(1, sizeof(*assoc)) : NULL;
    if (assoc == NULL) {
        (void)iwarp_sentence_set(error, "SCTP: no room for another association");
        return NULL;
    }
    assoc->host = host;
    assoc->passive = passive;
    assoc->timer = SCTP_HOST_NEVER;
    assoc->rto = RTO_FIRST_NS;
    set_options(assoc, options);
    assoc->status.own_port = own_port;
    assoc->status.peer_port = peer_port;
    do {
        assoc->status.own_tag = sctp_host_random(host);
    } while (assoc->status.own_tag == 0);
    assoc->status.next_tsn = assoc->options.choose_tsn ? assoc->options.initial_tsn : sctp_host_random(host);
    assoc->options.initial_tsn = assoc->status.next_tsn;
    assoc->cookie_key = (uint64_t)sctp_host_random(host) << 32 | sctp_host_random(host);
    DL_APPEND(host->assocs, assoc);
    host->assoc_count++;
    return assoc;
}

/* A port of the own side that no association with this port of the other side has; 0: none is left. */
static uint16_t free_port(struct sctp_host *host, uint16_t peer_port)
{
    for (unsigned i = 0; i <= SCTP_HOST_ASSOCS_MAX; i++) {
        uint16_t port = host->next_port;

        host->next_port = port < LAST_FREE_PORT ? (uint16_t)(port + 1) : FIRST_FREE_PORT;
        if (!sctp_host_has(host, port, peer_port))
            return port;
    }
    return 0;
}

struct sctp_assoc *sctp_assoc_connect(struct sctp_host *host, uint16_t port, const struct sctp_assoc_options *options,
                                      struct iwarp_sentence *error)
{
    uint16_t own = options != NULL && options->source_port != 0 ? options->source_port : free_port(host, port);
    struct sctp_assoc *assoc;

    if (own == 0 || sctp_host_has(host, own, port)) {
        (void)iwarp_sentence_set(error, "SCTP: there is an association from port %u to port %u already", own, port);
        return NULL;
    }
    assoc = sctp_host_assoc(host, own, port, false, options, error);
    if (assoc == NULL)
        return NULL;
    assoc->asked_ns = host->now;
    sctp_host_send_init(assoc);
    sctp_host_arm(assoc);
    return assoc;
}

static void drop_held(struct sctp_assoc *assoc, struct held_chunk *held)
{
    assoc->held_octets -= held->received.data.user_octets;
    DL_DELETE(assoc->held, held);
    free(held);
}

void sctp_assoc_release(struct sctp_assoc *assoc)
{
    if (assoc == NULL)
        return;
    sctp_host_forget_sent(assoc);
    while (assoc->held != NULL)
        drop_held(assoc, assoc->held);
    DL_DELETE(assoc->host->assocs, assoc);
    assoc->host->assoc_count--;
    free(assoc);
}

void sctp_host_close(struct sctp_assoc *assoc, enum sctp_assoc_cause cause)
{
    assoc->status.state = SCTP_ASSOC_CLOSED;
    assoc->status.cause = cause;
    assoc->timer = SCTP_HOST_NEVER;
    sctp_host_forget_sent(assoc);
}

void sctp_host_peer(struct sctp_assoc *assoc, const struct sctp_init *init)
{
    assoc->status.peer = *init;
    memset(assoc->status.peer.address, 0, sizeof(assoc->status.peer.address));
    assoc->status.peer.adaptation_at = NULL;
    assoc->status.peer_known = true;
    assoc->status.peer_tag = init->tag;
    assoc->status.peer_window = init->window;
    assoc->status.cumulative = assoc->sack_cumulative = init->initial_tsn - 1;
}

const struct sctp_assoc_status *sctp_assoc_status(const struct sctp_assoc *assoc)
{
    return &assoc->status;
}

const char *sctp_assoc_state_name(enum sctp_assoc_state state)
{
    static const char *const names[] = {"COOKIE-WAIT", "COOKIE-ECHOED", "ESTABLISHED", "SHUTDOWN", "CLOSED"};

    return names[state];
}

const char *sctp_assoc_cause_name(enum sctp_assoc_cause cause)
{
    static const char *const names[] = {"open", "SHUTDOWN", "ABORT", "own ABORT", "no answer"};

    return names[cause];
}

/* --- Listeners --------------------------------------------------------------------------------------------------- */

int sctp_host_listen(struct sctp_host *host, uint16_t port, const struct sctp_assoc_options *options,
                     struct iwarp_sentence *error)
{
    struct sctp_listener *listener;

    if (options != NULL && options->parameters_octets > SCTP_HOST_PARAMETERS_MAX)
        return iwarp_sentence_set(error, "SCTP: at most %d octets of parameters", SCTP_HOST_PARAMETERS_MAX);
    sctp_host_unlisten(host, port);
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        return iwarp_sentence_set(error, "out of memory for an SCTP listener");
    listener->port = port;
    if (options != NULL)
        listener->options = *options;
    if (listener->options.parameters_octets != 0)
        memcpy(listener->parameters, listener->options.parameters, listener->options.parameters_octets);
    listener->options.parameters = listener->parameters;
    LL_PREPEND(host->listeners, listener);
    return 0;
}

void sctp_host_unlisten(struct sctp_host *host, uint16_t port)
{
    struct sctp_listener **at = &host->listeners;
    struct sctp_assoc *assoc, *next;

    DL_FOREACH_SAFE(host->assocs, assoc, next)
    {
        if (assoc->passive && !assoc->given && assoc->status.own_port == port)
            sctp_assoc_release(assoc);
    }
    while (*at != NULL) {
        struct sctp_listener *listener = *at;

        if (listener->port == port) {
            *at = listener->next;
            free(listener);
        } else {
            at = &listener->next;
        }
    }
}

struct sctp_assoc *sctp_host_accept(struct sctp_host *host, uint16_t port)
{
    struct sctp_assoc *assoc;

    DL_FOREACH(host->assocs, assoc)
    {
        if (assoc->passive && !assoc->given && assoc->status.own_port == port && assoc->status.established_ns != 0) {
            assoc->given = true;
            return assoc;
        }
    }
    return NULL;
}

/* --- Received chunks and time ------------------------------------------------------------------------------------ */

const struct sctp_received *sctp_assoc_received(const struct sctp_assoc *assoc)
{
    return assoc->held != NULL ? &assoc->held->received : NULL;
}

void sctp_assoc_consume(struct sctp_assoc *assoc)
{
    if (assoc->held != NULL)
        drop_held(assoc, assoc->held);
}

uint64_t sctp_host_deadline(const struct sctp_host *host)
{
    const struct sctp_assoc *assoc;
    uint64_t first = SCTP_HOST_NEVER;

    DL_FOREACH(host->assocs, assoc)
    {
        if (assoc->timer < first)
            first = assoc->timer;
    }
    return first;
}

void sctp_host_tick(struct sctp_host *host, uint64_t now)
{
    struct sctp_assoc *assoc;

    host->now = now;
    DL_FOREACH(host->assocs, assoc)
    {
        if (assoc->timer <= now)
            sctp_host_due(assoc);
    }
}
