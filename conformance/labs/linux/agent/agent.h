/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warpcheck-agent: the upper tester (docs/upper-tester.md) above a device that rdma_cm and the verbs reach: Linux siw
 * in the lab, or an RNIC. One process, one thread, one device; everything hangs off one struct agent.
 *
 * What verbs have no way to ask for (Rev, Markers, CRC, an STag of one's choice, a Terminate) is answered with an error
 * that also carries "unsupported": true, so that a check is skipped and not called inconclusive.
 */
#ifndef CONFORMANCE_LABS_LINUX_AGENT_H
#define CONFORMANCE_LABS_LINUX_AGENT_H

#ifndef AGENT_OTHER_VERBS /* else a test declares what is used here of verbs and rdma_cm, before this header */
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#endif
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upper-tester/value.h"

enum {
    AGENT_PORT = 7471,
    AGENT_DOMAINS = 64,
    AGENT_EVENTS_MAX = 65536,
    AGENT_SEND_DEPTH = 128,
    AGENT_RECEIVE_DEPTH = 512,
    AGENT_PRIVATE_MAX = 255, /* rdma_conn_param counts them in an octet */
};

/* What the device does and nobody can change through verbs; --fixed on the command line. */
struct agent_traits {
    int rev;
    bool enhanced, markers, crc, p2p;
    bool rtr_send, rtr_write, rtr_read;
    bool terminate_swapped; /* its Terminates have the bits in a little-endian host's order (RDMAP-4.8-02) */
};

/* Options of listen and connect. */
struct agent_config {
    unsigned accept; /* enum upper_accept */
    unsigned ird, ord, pd, receives, receive_octets;
    bool repost, echo;
    uint8_t private_data[AGENT_PRIVATE_MAX];
    uint8_t private_octets;
};

struct agent_region {
    struct agent_region *next;
    struct ibv_mr *mr; /* NULL once invalidated */
    uint32_t stag;
    uint8_t *base; /* the base of the region's Tagged Offsets too */
    size_t length;
    void *map;
    size_t map_octets;
    bool read_only; /* the agent itself may not write there */
    bool hidden;    /* "mapping": "none": there is no memory */
};

/* Where to listen: a port space of rdma_cm, and the families. */
enum { AGENT_IPV4 = 1, AGENT_IPV6 = 2 };
struct agent_place {
    uint16_t port; /* 0: any */
    int space;     /* RDMA_PS_... */
    unsigned families;
};

/* Where to connect to. */
struct agent_target {
    const char *address; /* a number */
    uint16_t port;
    uint16_t source_port; /* 0: any */
    int space;
};

struct agent_listener {
    struct agent_listener *next;
    struct agent_place place;
    struct rdma_cm_id *ids[2]; /* IPv4 and IPv6 */
    struct agent_config config;
};

/* Something posted. Receives keep their buffer until the stream goes. */
struct agent_work {
    struct agent_work *next, **link;
    struct agent_stream *stream;
    enum { WORK_RECEIVE, WORK_SEND, WORK_WRITE, WORK_READ } kind;
    json_t *id;
    uint8_t *octets; /* own buffer, NULL: none */
    struct ibv_mr *mr;
    size_t length;
    struct agent_work *waiting; /* the next that waits, as this one does, for the stream to open */
    struct ibv_send_wr request; /* of what waits */
    struct ibv_sge sge;
};

struct agent_stream {
    struct agent_stream *next;
    struct agent *agent;
    json_int_t number;
    struct rdma_cm_id *id;
    struct ibv_cq *cq;
    struct agent_config config;
    enum { STREAM_RESOLVING, STREAM_REQUESTED, STREAM_STARTING, STREAM_OPEN, STREAM_CLOSED } state;
    uint16_t port; /* of the listener, 0: the active side */
    int space;     /* and what the Service ID has: port space, and the listener's port on both sides */
    uint16_t service_port;
    json_t *peer; /* responder: what the Request said, for "established" */
    struct agent_work *work;
    struct agent_work *waiting; /* work that was asked for before the stream was open, oldest first */
    bool opened;                /* it was open once */
};

struct agent {
    struct agent_traits traits;
    struct ibv_context *device;
    struct ibv_device_attr limits;
    struct rdma_event_channel *cm;
    struct ibv_comp_channel *completions;
    struct ibv_pd *domains[AGENT_DOMAINS];
    struct ibv_mr *scratch[AGENT_DOMAINS]; /* sinks of Reads of no octets */
    uint8_t *scratch_octets;
    struct agent_region *regions;
    struct agent_listener *listeners;
    struct agent_stream *streams;
    json_int_t last_stream;
    uint16_t usual_port; /* that "listen" gave last */
    json_t *events, *cm_events;
    json_int_t lost;
};

/* The answer to one command: made by the functions below, as "ok": true unless agent_refuse() was called. */
struct agent_reply {
    json_t *json;
    bool failed;
};

/* Always -1, with the sentence in the reply. The first one counts. */
int agent_refuse(struct agent_reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, and the device has no such thing at all. */
int agent_unsupported(struct agent_reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An event of a stream; takes over `more` (an object or NULL). */
void agent_event(struct agent *agent, const struct agent_stream *stream, const char *name, json_t *more);

/* agent_command.c: the answer to one line of so many octets, malloc'd; an agent_answer() whose context is the agent. */
char *agent_obey(void *agent, const char *line, size_t octets);

/* What the device has to say by now: events, completions. */
void agent_handle_everything(struct agent *agent);

/* agent_values.c: members of a command (upper-tester/value.h), with the refusal in the reply. */
int agent_number(const json_t *command, const char *name, uint64_t *value, uint64_t most, struct agent_reply *reply);
int agent_flag(const json_t *command, const char *name, bool *value, struct agent_reply *reply);
int agent_octets(const json_t *command, const char *name, uint8_t **octets, size_t *count, struct agent_reply *reply);
int agent_config_read(const struct agent *agent, struct agent_config *config, const json_t *command, bool active,
                      struct agent_reply *reply);

/* agent_memory.c */
struct ibv_pd *agent_domain(struct agent *agent, unsigned number, struct agent_reply *reply);
int agent_reg_mr(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_dereg(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_invalidate(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_mem_read(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_mem_write(struct agent *agent, const json_t *command, struct agent_reply *reply);
void agent_memory_reset(struct agent *agent);

/* agent_work.c */
int agent_post_recv(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_send(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_write(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_read(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_post_receives(struct agent_stream *stream, size_t length, size_t count, const json_t *id,
                        struct agent_reply *reply);
void agent_handle_completions(struct agent_stream *stream);
/* Posts what was asked for before the stream was open. */
void agent_post_waiting(struct agent_stream *stream);
void agent_work_free(struct agent_work *work);

/* agent_stream.c */
struct agent_stream *agent_stream_of(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_listen(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_unlisten(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_connect(struct agent *agent, const json_t *command, struct agent_reply *reply);
/* The listener, or NULL with the refusal; place->port 0 becomes the port that rdma_cm chose. */
struct agent_listener *agent_listen_at(struct agent *agent, struct agent_place *place,
                                       const struct agent_config *config, struct agent_reply *reply);
/* A new stream, whose number goes into the reply under this name. */
int agent_connect_to(struct agent *agent, const struct agent_target *target, const struct agent_config *config,
                     const char *name, struct agent_reply *reply);
int agent_accept(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_reject(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_disconnect(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_status(struct agent *agent, const json_t *command, struct agent_reply *reply);
void agent_handle_cm_events(struct agent *agent);
void agent_streams_reset(struct agent *agent);

/* agent_peer.c: address and port of this name, as members of these names, where the device knows them. */
void agent_set_end(json_t *object, const char *address, const char *port, const struct sockaddr *name);

/* What the event says of the peer, as members of an event for the upper tester. `active`: we connected. */
json_t *agent_peer_of(const struct rdma_cm_event *event, bool active);

/* agent_cm.c: the verbs of the device's CM, and an event of rdma_cm in its words, for "cm_poll". */
int agent_cm_configure(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_cm_connect(struct agent *agent, const json_t *command, struct agent_reply *reply);
int agent_cm_poll(struct agent *agent, const json_t *command, struct agent_reply *reply);
void agent_cm_event(struct agent *agent, const struct agent_stream *stream, const char *name,
                    const struct rdma_cm_event *event);

#endif
