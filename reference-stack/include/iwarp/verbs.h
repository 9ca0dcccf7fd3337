/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libiwarp for programs: queue pairs over kernel TCP, or over SCTP in UDP datagrams, with completion queues and events.
 * It is stream.h and device.h with the sockets, timers and queues that a program would otherwise have to write.
 *
 *     struct iwarp_context *context = iwarp_context_new(NULL, &sentence);
 *     struct iwarp_cq *cq = iwarp_cq_new(context);
 *     struct iwarp_qp_options options;
 *     iwarp_qp_options_default(&options, cq);
 *     struct iwarp_qp *qp = iwarp_connect(context, "192.0.2.1", 7174, &options, &sentence);
 *     iwarp_post_receive(qp, 1, buffer, sizeof(buffer), &sentence);
 *     iwarp_post_send(qp, &(struct iwarp_send){.id = 2, .octets = text, .count = count}, &sentence);
 *     while (iwarp_poll_cq(cq, &completion, 1) == 0)
 *         iwarp_context_run(context, -1, &sentence);
 *
 * docs/libiwarp.md is a guide for people who know libibverbs and librdmacm; reference-stack/examples uses each
 * function.
 *
 * The library has no threads: octets move only within iwarp_context_run(), and posted work is sent there or in
 * iwarp_poll_cq(). Only one thread at a time may use a context and what belongs to it.
 *
 * Functions return 0, or -1 with a sentence. Work can be posted as soon as a queue pair exists; Reads, atomics and
 * Sends wait for the start-up exchange. The library uses buffers and payloads until the completion with their `id`.
 * Each posted work has exactly one completion: with success, or flushed (RFC 5040 5.5, RFC 5041 6.2.1).
 *
 * Misuse is handled as in device.h: if an argument is NULL or impossible, functions return -1 or NULL with a sentence
 * (optional: NULL), or 0 or false, or do nothing. Nothing has changed then, and other queue pairs are not affected.
 * Every function that frees accepts NULL. The library cannot detect the use of a freed handle: handles are pointers.
 *
 * A lost connection is an event; programs need not handle SIGPIPE. If memory is short, the called function fails, or
 * the connection that needed memory ends with its work flushed. libuv's own tables are the exception: libuv ends the
 * process if they cannot grow. iwarp_reserve_memory() prevents that.
 */
#ifndef IWARP_VERBS_H
#define IWARP_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/device.h"
#include "iwarp/sctp.h"
#include "iwarp/stream.h"
#include "base/sentence.h"
#include "wire/rdmap_opcode.h"

#ifdef __cplusplus
extern "C" {
#endif

struct iwarp_context;
struct iwarp_listener;
struct iwarp_qp;
struct iwarp_cq;
struct iwarp_srq;

/* --- Memory ---------------------------------------------------------------------------------------------------- */

/*
 * Programs call it once, before every other function of this header and of libuv, if libuv must not end them when
 * memory is short. It gives libuv an allocator (uv_replace_allocator()) that has `octets` in reserve in addition to
 * malloc(); 0: 1 MiB, which is enough for about 60000 descriptors. The process keeps the reserve until its end. When
 * three quarters of it are in use, new contexts, listeners and connections are refused for lack of memory. A program
 * that gives libuv its own allocator does not call this function. Errors: no memory, fewer than 65536 octets, a
 * reserve that exists already.
 */
int iwarp_reserve_memory(size_t octets, struct iwarp_sentence *sentence);

/* --- Context: a device and a loop ----------------------------------------------------------------------------- */

/* `device` may be NULL. NULL with a sentence: no memory, or no descriptors for a loop. */
struct iwarp_context *iwarp_context_new(const struct iwarp_device_config *device, struct iwarp_sentence *sentence);

/*
 * Frees the context. Open connections are reset. Every queue pair, listener, completion queue and shared receive
 * queue is freed, and the device, too.
 */
void iwarp_context_free(struct iwarp_context *context);

/*
 * The device for iwarp_region_register() and the other functions of device.h. Borrowed: it is freed with the context.
 */
struct iwarp_device *iwarp_context_device(struct iwarp_context *context);

/*
 * Moves octets until a completion or an event waits, or until `timeout_ms` is over (negative: no limit; 0: only the
 * work that can be done at once). Returns 1 if something waits, and 0 if not. Returns -1 if the loop failed. Returns
 * -1, too, if there is no limit and no listener or open queue pair, because no event could come. Returns -1, too,
 * while memory is short for the reports of a queue pair: no report is lost, and the next call tries again.
 */
int iwarp_context_run(struct iwarp_context *context, int timeout_ms, struct iwarp_sentence *sentence);

/*
 * A descriptor that becomes readable when iwarp_context_run() has something to do, for poll() and the like. -1: no
 * context.
 */
int iwarp_context_fd(const struct iwarp_context *context);
/* The time in milliseconds after which iwarp_context_run() has something to do; -1: never. */
int iwarp_context_timeout(const struct iwarp_context *context);

/*
 * Registers `length` octets at `octets`. The first octet has the Tagged Offset `(uint64_t)(uintptr_t)octets`, as is
 * usual in verbs. `access`: enum iwarp_access. All streams of Protection Domain 0 can reach it. The memory is
 * borrowed until iwarp_region_deregister(). Errors: those of iwarp_region_register(), and NULL octets.
 */
int iwarp_register(struct iwarp_context *context, void *octets, size_t length, unsigned access, uint32_t *stag,
                   struct iwarp_sentence *sentence);

/* --- Completions ---------------------------------------------------------------------------------------------- */

enum iwarp_status {
    IWARP_STATUS_OK,
    IWARP_STATUS_FLUSHED, /* it was not done, or the result is unknown: the stream ended before */
};

struct iwarp_completion {
    struct iwarp_qp *qp;
    void *user; /* of the queue pair */
    uint64_t id;
    enum iwarp_status status;
    enum iwarp_work work;
    size_t octets;         /* of the message */
    const uint8_t *buffer; /* RECEIVE: as posted; NULL: it was posted in pieces */
    uint8_t opcode;        /* RECEIVE: enum iwarp_rdmap_opcode */
    bool solicited;        /* RECEIVE */
    bool invalidated;      /* RECEIVE: the peer invalidated `stag` */
    uint32_t stag;
    uint64_t value; /* ATOMIC: the old value of the target */
};

/*
 * Makes a completion queue. It belongs to the context, and is freed with it at the latest. NULL: no memory, or no
 * context.
 */
struct iwarp_cq *iwarp_cq_new(struct iwarp_context *context);

/*
 * Frees the queue. Its completions are dropped. Queue pairs and listeners that still use it drop their later
 * completions, too. New ones cannot use it.
 */
void iwarp_cq_free(struct iwarp_cq *cq);

/* Removes up to `most` completions, oldest first, and returns their number. Without an array it removes none. */
size_t iwarp_poll_cq(struct iwarp_cq *cq, struct iwarp_completion *completions, size_t most);

/*
 * Asks for one IWARP_QP_COMPLETION event: at the next completion, or with `solicited_only` at the next receive that
 * asks for a Solicited Event or the next work that is flushed (RFC 5040 5.3, 8.2). As with all verbs: arm, then poll
 * again, then wait.
 */
void iwarp_cq_arm(struct iwarp_cq *cq, bool solicited_only);

/*
 * A shared receive queue: a stream without a posted receive uses a receive of this queue when a message arrives.
 * NULL: no memory, or no context.
 */
struct iwarp_srq *iwarp_srq_new(struct iwarp_context *context);

/*
 * Frees the queue. Unused receives end without a completion. Queue pairs that still use the queue find no receive in
 * it.
 */
void iwarp_srq_free(struct iwarp_srq *srq);

/*
 * Posts a receive for the next stream that needs one; the completion has this `id`. Errors: octets without a buffer,
 * no memory.
 */
int iwarp_srq_post(struct iwarp_srq *srq, uint64_t id, uint8_t *buffer, size_t octets, struct iwarp_sentence *sentence);
size_t iwarp_srq_count(const struct iwarp_srq *srq);

/* --- Queue pairs ---------------------------------------------------------------------------------------------- */

struct iwarp_qp_options {
    struct iwarp_stream_config stream; /* role, number, emss and srq are set by the functions below */
    struct iwarp_cq *send_cq;          /* of Sends, Writes, Reads, atomics, Immediate Data */
    struct iwarp_cq *receive_cq;
    struct iwarp_srq *srq; /* NULL: only receives of its own */
    void *user;
};

/* The defaults of iwarp_stream_config_default(), with one completion queue for all. */
void iwarp_qp_options_default(struct iwarp_qp_options *options, struct iwarp_cq *cq);

/*
 * Listens on a numeric address ("::" or "0.0.0.0" for all) and port (0: any). Each connection becomes a queue pair with
 * these options, which are copied; with stream.accept = IWARP_ACCEPT_ASK it waits for iwarp_accept() or iwarp_reject().
 * Errors: no numeric address, one that cannot be opened, queues that are missing, freed or of another context, a stream
 * that iwarp_stream_new() would refuse, no memory.
 */
struct iwarp_listener *iwarp_listen(struct iwarp_context *context, const char *address, uint16_t port,
                                    const struct iwarp_qp_options *options, struct iwarp_sentence *sentence);
uint16_t iwarp_listener_port(const struct iwarp_listener *listener);

/* Stops listening. Its queue pairs continue. An ACCEPTED event that still waits then names no listener. */
void iwarp_listener_free(struct iwarp_listener *listener);

/* Begins to connect. The outcome comes as an event. Errors at once: those of iwarp_listen(), and port 0. */
struct iwarp_qp *iwarp_connect(struct iwarp_context *context, const char *address, uint16_t port,
                               const struct iwarp_qp_options *options, struct iwarp_sentence *sentence);

/*
 * Starts MPA on an open TCP connection, which may already have carried messages of the program (RFC 5044 7.1, 7.1.5).
 * `socket` is connected; everything that the program wrote to it is in order before MPA's octets, and everything
 * still to be read belongs to MPA. If the program has read octets after its own messages, it passes them as `octets`.
 * Both programs have agreed on the roles; a responder should be attached before the Request is sent. The socket then
 * belongs to the queue pair; if the function fails, the socket is unchanged. Errors: not a connected TCP socket, or
 * one that the context already uses; NULL octets; and those of iwarp_connect().
 */
struct iwarp_qp *iwarp_attach(struct iwarp_context *context, int socket, enum iwarp_role role, const void *octets,
                              size_t count, const struct iwarp_qp_options *options, struct iwarp_sentence *sentence);

/* --- SCTP ------------------------------------------------------------------------------------------------------ */

/* SCTP in UDP datagrams (RFC 6951), in user space by libusrsctp: without privileges, and without threads. */
struct iwarp_sctp_options {
    struct iwarp_association_config association; /* of each association; `network_octets` is set by the library */
    const char *address;                         /* own numeric address; NULL: 0.0.0.0 */
    uint16_t udp_port;                           /* own; 0: any. The default is 9899 (RFC 6951 5.1) */
    uint16_t peer_udp_port;                      /* of the peers that this side connects to; the default is 9899 */
};

/* The defaults of iwarp_association_config_default(), and 1024 requests that may wait for the program. */
void iwarp_sctp_options_default(struct iwarp_sctp_options *options, enum iwarp_sctp_profile profile);

/*
 * From now on, the context's listeners and connections are SCTP's. Each iwarp_connect() begins an association with a
 * session on its first stream; its peer's listener makes a queue pair of each session. A process has one SCTP: all
 * contexts that use it belong to one thread. Errors: no libusrsctp in this build, an address or port that cannot be
 * used, an impossible configuration, a context that has listeners or queue pairs, or that uses SCTP already.
 */
int iwarp_context_use_sctp(struct iwarp_context *context, const struct iwarp_sctp_options *options,
                           struct iwarp_sentence *sentence);

/* The own UDP port; 0: the context does not use SCTP. */
uint16_t iwarp_context_udp_port(const struct iwarp_context *context);

/*
 * Creates another queue pair in the association of `qp` (RFC 5043 6: an association carries many sessions). Each queue
 * pair ends independently. An association that this side has begun ends with its last queue pair. Errors: those of
 * iwarp_connect(); a queue pair that has ended, or has no association.
 */
struct iwarp_qp *iwarp_connect_same_association(struct iwarp_qp *qp, const struct iwarp_qp_options *options,
                                                struct iwarp_sentence *sentence);

/* Answers with this Private Data; NULL with 0 octets: that of the options. Errors: those of iwarp_stream_accept(). */
int iwarp_accept(struct iwarp_qp *qp, const void *private_data, size_t octets, struct iwarp_sentence *sentence);
int iwarp_reject(struct iwarp_qp *qp, const void *private_data, size_t octets, struct iwarp_sentence *sentence);

/* Errors: those of stream.h's functions of the same names, and a queue pair that has ended. */
int iwarp_post_receive(struct iwarp_qp *qp, uint64_t id, uint8_t *buffer, size_t octets,
                       struct iwarp_sentence *sentence);
int iwarp_post_receive_pieces(struct iwarp_qp *qp, uint64_t id, const struct iwarp_buffer *pieces, size_t count,
                              struct iwarp_sentence *sentence);
int iwarp_post_send(struct iwarp_qp *qp, const struct iwarp_send *send, struct iwarp_sentence *sentence);
int iwarp_post_write(struct iwarp_qp *qp, const struct iwarp_write *write, struct iwarp_sentence *sentence);
int iwarp_post_read(struct iwarp_qp *qp, const struct iwarp_read *read, struct iwarp_sentence *sentence);
int iwarp_post_atomic(struct iwarp_qp *qp, const struct iwarp_atomic *atomic, struct iwarp_sentence *sentence);
int iwarp_post_immediate(struct iwarp_qp *qp, const struct iwarp_immediate *immediate, struct iwarp_sentence *sentence);

/*
 * Ends the queue pair in order: posted work is sent, then a FIN. IWARP_QP_CLOSED comes when the peer has done the
 * same. After the end, or a second time, it does nothing.
 */
void iwarp_disconnect(struct iwarp_qp *qp);

/*
 * Frees the queue pair at once, and resets an open connection. Its completions and events that still wait are
 * dropped.
 */
void iwarp_qp_free(struct iwarp_qp *qp);

void *iwarp_qp_user(const struct iwarp_qp *qp);
void iwarp_qp_set_user(struct iwarp_qp *qp, void *user);

/* The stream, for the state, counters and depths of stream.h. NULL before the connection is open and after its end. */
const struct iwarp_stream *iwarp_qp_stream(const struct iwarp_qp *qp);

/* --- Events --------------------------------------------------------------------------------------------------- */

enum iwarp_qp_event_kind {
    IWARP_QP_ACCEPTED,        /* a listener has a new queue pair: post receives and set `user` here */
    IWARP_QP_CONNECT_REQUEST, /* it waits for iwarp_accept() or iwarp_reject(): `detail.start` */
    IWARP_QP_ESTABLISHED, /* `detail`: depths, the peer's frame; iwarp_mpa_start_ulp_data(&detail.start, &octets) is the
                             ULP's Private Data, without the word of RFC 6581 at the beginning of
                             `detail.start.private_data` */
    IWARP_QP_REJECTED,    /* `detail.start`; the connection is being closed */
    IWARP_QP_CONNECT_FAILED, /* `detail.text` */
    IWARP_QP_ERROR,          /* `detail.text`, `detail.triple`, `detail.requirement`: what the peer did wrong */
    IWARP_QP_TERMINATED,     /* the peer sent a Terminate: `detail.triple`, `detail.headers` */
    IWARP_QP_CLOSED,         /* the end, last event of a queue pair; all work is completed or flushed */
    IWARP_QP_COMPLETION,     /* an armed completion queue: `cq` */
};

struct iwarp_qp_event {
    enum iwarp_qp_event_kind kind;
    struct iwarp_qp *qp;
    void *user;
    struct iwarp_listener *listener; /* ACCEPTED */
    struct iwarp_cq *cq;             /* COMPLETION */
    struct iwarp_event detail;
};

/*
 * Removes the oldest event and returns it in *event. False: there is no event. The Private Data that `detail.start`
 * names is valid until iwarp_qp_free().
 */
bool iwarp_next_event(struct iwarp_context *context, struct iwarp_qp_event *event);

/* --- Names ---------------------------------------------------------------------------------------------------- */

enum { IWARP_ADDRESS_OCTETS = 64 }; /* room for any numeric address, with its terminating zero */

/*
 * Finds the numeric address of a host, for iwarp_connect() and iwarp_listen(): the first that the system has for
 * `name`, which may itself be numeric. The call blocks until the system's resolver answers, for seconds at worst. It
 * uses no context, so a program that must not block can call it on another thread. `address` has room for
 * IWARP_ADDRESS_OCTETS. Errors: the host does not exist, or the resolver fails.
 */
int iwarp_resolve(const char *name, char *address, struct iwarp_sentence *sentence);

/*
 * Writes the peer's numeric address to `address`, which has room for IWARP_ADDRESS_OCTETS, and its port in host order
 * to *port (optional: NULL). Over SCTP this is the UDP port. Errors: the queue pair is not connected yet, or has ended.
 */
int iwarp_qp_peer(const struct iwarp_qp *qp, char *address, uint16_t *port, struct iwarp_sentence *sentence);

/* Names for messages: "flushed", "Write", "connect request". For a value outside the enum: "unknown". */
const char *iwarp_status_text(enum iwarp_status status);
const char *iwarp_work_text(enum iwarp_work work);
const char *iwarp_qp_event_text(enum iwarp_qp_event_kind kind);

/*
 * The RDMA Message of a completion's or an event's `opcode`: "Send with Invalidate"; "unknown" if it is not assigned.
 */
const char *iwarp_opcode_text(uint8_t opcode);

#ifdef __cplusplus
}
#endif

#endif
