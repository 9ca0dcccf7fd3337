/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.c listeners and streams, events of TCP, requests to TCP peer_streaming.c what is said over TCP before MPA starts
 * on it peer_event.c what streams report: the cooperating ULP, and events for the upper tester peer_command.c the upper
 * tester's lines peer_verb.c what each verb does; peer_data.c Sends and Writes, peer_extension.c those of RFC 7306
 * peer_instrument.c what only an instrumented stack shows or does; peer_instrument_mpa.c the same of MPA,
 *                peer_instrument_ddp.c of DDP and what is around it
 * peer_association.c, peer_association_verb.c what is different over SCTP
 * peer_queue.c   completion queues with an end
 * peer_json.c    typed access to the members of a command
 */
#ifndef REFERENCE_STACK_PEER_INTERNAL_H
#define REFERENCE_STACK_PEER_INTERNAL_H

#include <jansson.h>

#include "reference-stack/base/budget.h"
#include "reference-stack/base/deadlines.h"
#include "reference-stack/defects/peer_faults.h"
#include "base/hash.h"
#include "reference-stack/transport/output_batch.h"

#include "iwarp/device.h"
#include "iwarp/stream.h"
#include "reference-stack/peer/peer.h"
#include "upper-tester/value.h"

enum {
    PEER_EVENTS_MAX = 65536,     /* kept until polled; what is beyond is counted as lost */
    PEER_MESSAGE_MAX = 16777216, /* octets of one message or region that a command may ask for */
    PEER_RECEIVES = 16,
    PEER_RECEIVE_OCTETS = 4096,
    PEER_DEAD_MAX = 256,
    PEER_EVENT_SHARE = 4,     /* events may take that part of the memory */
    PEER_EVENT_OCTETS = 1024, /* of memory that an event takes, in addition to its message */
    PEER_STREAMING_MAX = 64,  /* octets of a streaming message */
    PEER_VALUES_MAX = 65536,  /* that the text of one command may have: the parser makes some hundred octets of each */
    PEER_STREAM_OCTETS = 81920, /* of memory that a stream takes: itself, and an FPDU that has come in part */
};

/* What a listener's or connect's streams are like. */
struct peer_options {
    struct iwarp_stream_config config;
    bool emss_given;
    bool role_given; /* the MPA role is `role`, whoever opened the TCP connection (RFC 5044 7.1) */
    enum iwarp_role role;
    bool echo;      /* each received Send is sent back */
    bool repost;    /* each consumed receive is posted again */
    bool hold_open; /* the peer's FIN is not answered by an own one */
    uint32_t receives;
    uint32_t receive_octets;
    bool streams_first; /* the connection carries streaming messages before MPA starts on it */
    uint8_t streaming_message[PEER_STREAMING_MAX];
    uint16_t streaming_octets;  /* of the own message */
    uint16_t streaming_awaited; /* of the peer's */
    uint32_t indication;        /* SCTP: of the associations; 0: what the configuration says */
    bool without_ddp;           /* SCTP: they have no indication, whatever that says */
    uint32_t queue;             /* completions that may wait for `poll`; 0: any number */
};

/* Memory of one posted work, until its completion. */
struct peer_work {
    struct peer_work *next, *previous;
    bool has_id;
    uint64_t id; /* the upper tester's */
    bool echo;
    bool completion_reported; /* its completion, too early: by a defect */
    size_t octets;
    uint8_t *data; /* after this structure, between PEER_GUARD octets that nothing may change */
};

enum { PEER_GUARD = 16, PEER_GUARD_OCTET = 0xC3 };

struct peer_listener {
    struct peer_listener *next;
    uint16_t port;
    struct peer_options options;
};

struct peer_stream {
    struct peer_stream *next, *previous;
    struct peer *peer;
    struct iwarp_stream *stream; /* NULL before the connection is open, and after its end */
    void *transport;
    uint32_t number;
    UT_hash_handle hh; /* by number */
    struct deadline deadline;
    struct peer_stream *next_dead;
    uint16_t port; /* of the listener, 0 for an own connect */
    struct peer_options options;
    struct peer_work *work;
    struct carrier carrier;
    bool connecting, dead;
    bool opener;        /* this side opened the TCP connection */
    uint8_t *streaming; /* what the peer has said of its streaming message; NULL: MPA is on */
    size_t streaming_got;
    bool drops_input;    /* defect: what comes next is lost */
    uint64_t counted_at; /* of peer->polls: since when `waiting` counts */
    uint32_t waiting;    /* completions that nobody has polled yet, with options.queue */
    bool overflowed;
    struct peer_association *association;      /* SCTP, until the stream is dead */
    struct peer_stream *next_of, *previous_of; /* of the same association */
    int sid;                                   /* -1: not known yet */
    size_t most_room;                          /* that TCP has had, for a defect */
};

struct peer {
    struct peer_config config;
    uint64_t starts; /* of its device, with a seed */
    const struct peer_transport_ops *ops;
    void *context;
    struct iwarp_device *device;
    struct peer_listener *listeners;
    struct peer_stream *streams; /* newest first, the dead ones too */
    struct peer_stream *by_number;
    struct peer_stream *first_dead, *last_dead; /* in the order of dying */
    struct deadlines deadlines;
    struct peer_association *associations;
    struct deadlines association_deadlines;
    size_t association_count;
    uint32_t last_association;
    size_t stream_count, dead_count;
    uint32_t next_number;
    uint64_t region_octets;
    struct peer_memory *memories; /* of its regions (peer_memory.h) */
    struct budget budget;
    struct output_batch *output_batch; /* only with ops->send_spans */
    json_t *events;
    uint64_t event_octets; /* of the budget, that the events take */
    uint64_t events_lost;
    bool polled; /* the reply in hand has all events */
    uint64_t polls;
    uint64_t now;
};

/*
 * peer_stream.c: a stream without a connection yet, NULL when there are too many or memory is short; what it held is
 * given back when it is dead, and its number stays taken; it goes altogether. Of the dead streams the oldest go, once
 * there are many.
 */
struct peer_stream *peer_stream_new(struct peer *peer, const struct peer_options *options, void *transport);
void peer_stream_dead(struct peer_stream *ps);
void peer_stream_free(struct peer_stream *ps);
void peer_bury(struct peer *peer);

/* peer.c */
void peer_options_default(struct peer_options *options);
struct peer_stream *peer_stream_find(const struct peer *peer, uint32_t number);
struct peer_listener *peer_listener_find(const struct peer *peer, uint16_t port);
int peer_listen(struct peer *peer, uint16_t port, const struct peer_options *options, struct iwarp_sentence *sentence);
int peer_unlisten(struct peer *peer, uint16_t port, struct iwarp_sentence *sentence);
struct peer_stream *peer_connect(struct peer *peer, const char *address, uint16_t port,
                                 const struct peer_options *options, struct iwarp_sentence *sentence);
int peer_post_receives(struct peer_stream *ps, uint32_t count, uint32_t octets, struct iwarp_sentence *sentence);
struct peer_work *peer_work_new(struct peer_stream *ps, size_t octets);
/* The octets around the work's own are as they were: nothing was placed outside it (RFC 5041 8.1). */
bool peer_work_guarded(const struct peer_work *work);
void peer_work_free(struct peer_stream *ps, struct peer_work *work);
void peer_pump(struct peer_stream *ps);
int peer_reset(struct peer *peer, struct iwarp_sentence *sentence);

/* Starts the stack on a connection that is open. */
int peer_stream_begin(struct peer_stream *ps, struct iwarp_sentence *sentence);

/* peer_streaming.c. With options.streams_first: in place of peer_stream_begin(), which it calls in the end. */
int peer_streaming_open(struct peer_stream *ps, struct iwarp_sentence *sentence);
/* What TCP delivers while ps->streaming is there. Returns how much of it was streaming data; the rest is MPA's. */
size_t peer_streaming_input(struct peer_stream *ps, const uint8_t *octets, size_t count);
/* The connection does not come to MPA: it is reset, and the stream is over. */
void peer_streaming_failed(struct peer_stream *ps, const char *why);
/* What has no MPA yet is over: also a connection, or an association, that is not there yet. */
void peer_give_up(struct peer_stream *ps);

/* peer_event.c */
void peer_event_early(struct peer_stream *ps, enum iwarp_event_kind kind, struct peer_work *work);
json_t *peer_event_new(struct peer *peer, uint32_t number, const char *name);

/* The names of all events that the peer reports, as a new list; NULL: out of memory. */
json_t *peer_event_names(void);
void peer_events_clear(struct peer *peer);
void peer_event_handle(struct peer_stream *ps, const struct iwarp_event *event);

/*
 * peer_verb.c: each returns a new object of reply members, json_true() for one without any, or NULL with a sentence:
 * then nothing has changed.
 */
typedef json_t *(*peer_verb)(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
struct peer_verb_row {
    const char *name;
    peer_verb verb;
    const char *members; /* that a command may have, each with a space after it; "+" stands for the stream options */
};
extern const struct peer_verb_row peer_verbs[];

json_t *peer_verb_capabilities(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
/* peer_association_verb.c: with what only SCTP has. */
json_t *peer_verb_status(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);

/*
 * The stream that the command names, whatever has become of it; that one if it is between its start and its end; and both.
 * NULL with a sentence.
 */
struct peer_stream *peer_verb_numbered(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
struct peer_stream *peer_verb_usable(struct peer_stream *ps, struct iwarp_sentence *sentence);
struct peer_stream *peer_verb_stream(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
/* New work without octets, with the command's `id`; NULL with a sentence. */
struct peer_work *peer_verb_work(struct peer_stream *ps, const json_t *command, struct iwarp_sentence *sentence);
/* Rights as the list of their names. */
json_t *peer_access(unsigned access);
/* The work was posted (result 0), or is given back: the verb's reply. */
json_t *peer_verb_posted(struct peer_stream *ps, struct peer_work *work, int result);

/* peer_instrument_mpa.c */
json_t *peer_verb_mpa(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_emss(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_post_ulpdu(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);

/* The member `length`, at most `most`; and `id`. */
int peer_verb_length(const struct peer_stream *ps, const json_t *command, uint64_t most, uint64_t *length,
                     struct iwarp_sentence *sentence);
int peer_verb_id(const json_t *command, struct peer_work *work, struct iwarp_sentence *sentence);

/* peer_data.c */
json_t *peer_verb_send(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_write(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);

/* peer_queue.c: may one more completion of the stream be kept? If not, the stream has ended. */
bool peer_queue_takes(struct peer_stream *ps);

/* peer_instrument.c */
json_t *peer_verb_regions(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_fault(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
/* peer_instrument_ddp.c */
json_t *peer_verb_ddp(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_msn(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_set_pd(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_mulpdu(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_hold(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_catastrophe(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_placements(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_inject(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_number(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);

/* peer_extension.c */
json_t *peer_verb_atomic(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);
json_t *peer_verb_immediate(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence);

/* peer_json.c: the options of listen and connect (upper-tester/value.h reads the members). */
int peer_get_options(const struct peer *peer, const json_t *command, struct peer_options *options,
                     struct iwarp_sentence *sentence);
/* A list of hex strings is a gather list: a command with `count` of its pieces, from `first` on, as the one string. */
json_t *peer_gathered(const json_t *command, const char *name, size_t first, size_t count);
/* A reply of one number, allocated before the command is executed, so that an executed command always has a reply. */
json_t *peer_reply_number(const char *name, json_t **number, struct iwarp_sentence *sentence);
/* It is done: the reply with the number. Negative: it failed, NULL. */
json_t *peer_replied(json_t *reply, json_t *number, json_int_t value);

#endif
