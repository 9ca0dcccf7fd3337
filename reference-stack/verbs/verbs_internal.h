/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_context.c: loop, timers, events; verbs_qp.c: queue pairs; verbs_connect.c: their connections; verbs_sctp.c:
 * their associations; verbs_cq.c: completion and shared receive queues; verbs_names.c: names of hosts, peers and work.
 */
#ifndef REFERENCE_STACK_VERBS_INTERNAL_H
#define REFERENCE_STACK_VERBS_INTERNAL_H

#include "iwarp/verbs.h"
#include "reference-stack/base/deadlines.h"
#include "reference-stack/transport/output_batch.h"
#include "reference-stack/base/ring.h"
#include "reference-stack/core/srq.h"
#include "reference-stack/transport/sctp_udp.h"
#include "reference-stack/transport/tcp_listener.h"
#include "base/hash.h"

#define NS_PER_MS UINT64_C(1000000)

struct iwarp_cq {
    struct iwarp_context *context;
    struct iwarp_cq *next, *previous;
    struct ring completions; /* struct iwarp_completion */
    bool armed, solicited_only;
    size_t users; /* queue pairs and listeners, once for each of the two ways */
    bool gone;    /* freed while some used it: the last of them takes it along */
};

struct iwarp_listener {
    struct tcp_listener *tcp; /* NULL: SCTP's */
    uint16_t sctp_port;
    struct iwarp_context *context;
    struct iwarp_listener *next, *previous;
    struct iwarp_qp_options options;
};

struct iwarp_qp {
    struct iwarp_context *context;
    struct iwarp_qp *next, *previous;
    struct iwarp_qp *next_dirty;
    bool dirty;   /* in the list of those that may have something to send */
    bool opening; /* TCP is not connected yet */
    bool retry;   /* a report is pending because memory was short */
    struct iwarp_stream *stream;
    struct tcp_socket *socket;
    struct iwarp_cq *send_cq, *receive_cq;
    struct iwarp_srq *srq;
    size_t unread_reports; /* its completions and events that were not taken */
    /* Of the peer's start-up frame: events name it, and the stream may be gone before they are taken. */
    uint8_t peer_private_data[IWARP_MPA_PRIVATE_DATA_MAX];
    void *user;
    struct deadline deadline;
    struct carrier carrier;
    struct link *link; /* SCTP: its association; NULL: over */
    uint32_t number;   /* the stream's... */
    UT_hash_handle hh; /* ...by which link->qps has it */
    int initiated_sid; /* a session that is to be begun at the next iwarp_context_run(); -1: none */
    struct iwarp_qp *next_initiated;
};

/* An association. */
struct link {
    struct link *next, *prev;
    struct iwarp_context *context;
    struct iwarp_association *association;
    struct sctp_path *path;
    struct iwarp_listener *listener; /* that took it; NULL: own, or no longer there */
    bool own, up, over, pumping;
    struct iwarp_qp *qps; /* by number */
    struct deadline deadline;
};

struct iwarp_context {
    uv_loop_t loop;
    uv_timer_t limit; /* of iwarp_context_run() */
    uv_timer_t timer; /* of streams */
    uv_prepare_t prepare;
    bool limited;
    uint64_t armed; /* when `timer` is due; UINT64_MAX: it is not */
    struct iwarp_device *device;
    struct deadlines deadlines;
    struct iwarp_qp *qps, *dirty;
    size_t live;              /* of them, with a stream */
    struct iwarp_qp *busy_qp; /* the only one with traffic since the last look: more may be there already */
    bool several_busy;        /* there were several */
    unsigned busy_turns, look_pause;
    struct iwarp_listener *listeners;
    struct iwarp_cq *cqs;
    struct iwarp_srq *srqs;
    struct ring events; /* struct iwarp_qp_event */
    size_t waiting;     /* completions in all queues */
    uint32_t next_number;
    uint64_t now;
    struct output_batch output_batch;
    struct tcp_socket_pool pool;
    struct sctp_udp *sctp; /* NULL: over TCP */
    struct iwarp_association_config association;
    uint16_t peer_udp_port;
    struct link *links;
    struct deadlines link_deadlines;
    struct iwarp_qp *initiated; /* queue pairs with initiated_sid */
};

/* verbs_context.c: something was sent, or came. */
void context_mark_busy(struct iwarp_context *context, struct iwarp_qp *qp);

/* verbs_context.c: an event at the end of the list, zeroed but for these; NULL without memory. */
struct iwarp_qp_event *context_event(struct iwarp_context *context, enum iwarp_qp_event_kind kind, struct iwarp_qp *qp);
/* The time as the loop knows it: milliseconds are enough for limits of seconds, and cost nothing. */
static inline void context_clock(struct iwarp_context *context)
{
    context->now = uv_now(&context->loop) * NS_PER_MS;
}

/* Sends what was posted since. */
void context_flush(struct iwarp_context *context);
/* Drops all events of `qp` or `cq` (one of them is NULL). */
void context_forget(struct iwarp_context *context, const struct iwarp_qp *qp, const struct iwarp_cq *cq);

/* verbs_qp.c: a queue pair without a connection yet. `emss` 0: that of the options. */
struct iwarp_qp *qp_new(struct iwarp_context *context, const struct iwarp_qp_options *options, enum iwarp_role role,
                        size_t emss, struct iwarp_sentence *sentence);
extern const struct tcp_socket_ops qp_socket_ops;
/* Sends output, and handles the events of the stream. */
void qp_pump(struct iwarp_qp *qp);
/* The connection is lost, or could not be read from. */
void qp_lost(void *qp);
/* To be pumped at the next context_flush(). */
void qp_dirty(struct iwarp_qp *qp);

/* Passes the stream's events to the program. False: some are left, because memory is short. */
bool qp_handle_events(struct iwarp_qp *qp);

/* verbs_connect.c */
int options_check(const struct iwarp_context *context, const struct iwarp_qp_options *options,
                  struct iwarp_sentence *sentence);

/* verbs_sctp.c: as what they are called after does over TCP. */
int links_listen(struct iwarp_listener *listener, uint16_t port, struct iwarp_sentence *why);
void links_unlisten(struct iwarp_listener *listener);
int links_connect(struct iwarp_qp *qp, const struct sockaddr_storage *name, uint16_t port,
                  struct iwarp_sentence *sentence);
/* Sessions that peers have asked for, that were reported to the program. */
void links_begin_initiated(struct iwarp_context *context);
/* All that the association has to say and to send. It is freed when it is over. */
void link_pump(struct link *link);
void link_leave(struct iwarp_qp *qp);
void links_tick(struct iwarp_context *context);
void links_free(struct iwarp_context *context);

/* verbs_cq.c */
void cq_complete(struct iwarp_qp *qp, const struct iwarp_event *event);
bool cq_has_room(struct iwarp_cq *cq);
void cq_forget(struct iwarp_cq *cq, const struct iwarp_qp *qp);
/* A queue pair or listener begins and ceases to use the queues of `options`. */
void queues_join(const struct iwarp_qp_options *options);
void queues_leave(struct iwarp_cq *send_cq, struct iwarp_cq *receive_cq, struct iwarp_srq *srq);

#endif
