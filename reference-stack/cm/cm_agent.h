/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A communication manager with the RDMA IP CM Service (IBTA Annex A11) on top, or without it: server and client in one.
 * It does no I/O. MADs and the time go in; MADs and events come out. An exchange is one connection's messages, from its
 * REQ until some time after its end, and has a number of its own: the Local Communication ID that this side gave it.
 *
 *     client                                server
 *     cm_agent_connect() ---- REQ ----->    CM_EVENT_REQUEST, unless a validation or the listener refuses it
 *                        <--- MRA ------    (configured, or cm_agent_delay())
 *     CM_EVENT_ESTABLISHED <- REP ------    cm_agent_accept()
 *                        ---- RTU ----->    CM_EVENT_ESTABLISHED
 *     CM_EVENT_REJECTED  <--- REJ ------    cm_agent_reject()
 *     cm_agent_disconnect() - DREQ ---->    CM_EVENT_DISCONNECTED
 *     CM_EVENT_DISCONNECTED < DREP -----
 *
 * Its memory is bounded: at most `exchanges_max` exchanges with a limited number of events each, and `outputs_max`
 * MADs.
 */
#ifndef REFERENCE_STACK_CM_AGENT_H
#define REFERENCE_STACK_CM_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/cm_pack.h"
#include "base/sentence.h"

struct cm_agent;
struct cm_faults;

/*
 * Where MADs come from and go to: an address of 4 or 16 octets, and a port if the carrier uses ports to distinguish
 * agents.
 */
struct cm_place {
    uint8_t family; /* 4 or 6 */
    uint8_t address[16];
    uint16_t port;
};

struct cm_address {
    uint8_t family; /* 4 or 6 */
    uint8_t octets[16];
};

/* The socket's five values (A11.1). */
struct cm_tuple {
    uint8_t protocol; /* IP protocol number: 6 TCP, 17 UDP, 132 SCTP */
    struct cm_address source, destination;
    uint16_t source_port, destination_port;
};

enum { CM_FAMILY_4 = 1, CM_FAMILY_6 = 2, CM_ULP_INFO_OCTETS = CM_ARI_OCTETS - 1 };

/* What a rejection says. All zero but `reason` 28: the service, unspecified (A11.7). */
struct cm_refusal {
    uint16_t reason;                  /* IBTA 12.6.7.2; 28: the consumer, or the service */
    bool without_ari;                 /* Reject Info Length 0 */
    uint8_t layer;                    /* of the ARI: IP_CM_LAYER_SERVICE or IP_CM_LAYER_ULP */
    uint8_t code;                     /* layer SERVICE: A11 Table 5 */
    uint8_t info[CM_ULP_INFO_OCTETS]; /* layer ULP: after the layer */
    uint8_t info_octets;
    uint8_t private_data[148];
    uint8_t private_octets;
};

enum cm_answer {
    CM_ANSWER_ACCEPT, /* REP at once */
    CM_ANSWER_ASK,    /* CM_EVENT_REQUEST; the ULP decides */
    CM_ANSWER_REJECT, /* REJ at once, by `refusal` */
    CM_ANSWER_SILENT, /* none */
};

struct cm_listener {
    bool plain;          /* no user of the service: all 92 octets are its own (A11.6), and service_id counts */
    uint64_t service_id; /* plain: any; else made of the next two */
    uint8_t protocol;
    uint16_t port;
    uint8_t families; /* CM_FAMILY_4, _6 or both; 0: both */
    enum cm_answer answer;
    struct cm_refusal refusal;
    uint8_t reply[196]; /* Private Data of REPs that go out at once */
    uint8_t reply_octets;
};

/* Reject Info Length of what the service rejects: the annex does not say (A11-AMB-07). */
enum cm_info_length {
    CM_INFO_USED,  /* 4 octets and the suggested value */
    CM_INFO_SHORT, /* 2, where no value is suggested */
    CM_INFO_WHOLE, /* 72 */
    CM_INFO_NONE,  /* 0, as Linux */
};

struct cm_agent_config {
    /* The service, as a server. */
    bool service; /* false: a CM that knows nothing of Annex A11 */
    uint8_t major, minor;
    uint8_t client_minor;         /* MinV of its own REQs */
    uint8_t families;             /* that it supports: CM_FAMILY_4, CM_FAMILY_6 */
    const struct cm_address *own; /* for check_destination; copied */
    size_t own_count;
    bool check_formats, check_destination; /* oA11-1: a server need not look at the addresses */
    bool suggest;                          /* a value in each rejection of a field that can have one */
    /* Where the annex leaves a choice. */
    bool suggest_whole_octet; /* A11-AMB-06: of Table 1; false: the low nibble */
    enum cm_info_length info_length;
    bool unspecified;          /* A11-AMB-04, A11-TXT-23: code 00 in place of each other */
    bool fields_first;         /* A11-AMB-12: fields are judged before a listener is looked for */
    bool minor_first;          /* A11-AMB-05 */
    bool last_reason;          /* A11-TXT-25: of several bad fields the last is named */
    bool generic_refusal;      /* A11-AMB-01: without the service, reason 28 with ARI 00 00 in place of 8 */
    bool strict_ipv6;          /* A11-AMB-08: unspecified and IPv4-mapped addresses do not fit IPV 6 */
    bool own_id_in_rejections; /* a REJ of a REQ has a Local Communication ID of this side; else 0 */
    /* Messages and times. */
    bool mra_first;         /* an MRA goes out before each REP, or before the ULP is asked */
    uint8_t mra_timeout;    /* its Service Timeout: 4.096 us times 2 to this power */
    uint8_t remote_timeout; /* of a REQ, and of own DREQs: when the peer has to answer */
    uint8_t local_timeout;  /* of a REQ: when this side answers */
    uint8_t retries;    /* Max CM Retries, 0 to 15; also the most that a peer's REQ can make this side repeat a REP */
    uint64_t ask_ns;    /* the ULP decides within, or the REQ is rejected */
    uint64_t linger_ns; /* an exchange that has ended answers repeated messages so long */
    uint64_t wait_least_ns, wait_most_ns; /* what a peer's timeouts are kept within */
    unsigned mras_max;                    /* MRAs that prolong one wait; further ones do not */
    size_t exchanges_max, outputs_max, events_max;
    uint64_t ca_guid;
    uint64_t seed;                  /* of Communication IDs, QPNs, PSNs and transactions */
    const struct cm_faults *faults; /* cm_faults.h, borrowed; NULL: none */
};

/* Version 0.0, both families, checks on, no MRA; 4096 exchanges. */
void cm_agent_config_default(struct cm_agent_config *config);

/* NULL with a sentence: no memory, or a value that cannot be. */
struct cm_agent *cm_agent_new(const struct cm_agent_config *config, struct iwarp_sentence *sentence);
void cm_agent_free(struct cm_agent *agent);

/* What it goes by, valid until it is freed. */
const struct cm_agent_config *cm_agent_configuration(const struct cm_agent *agent);

/* -1 with a sentence: there is one for that Service ID, too many, or no memory. */
int cm_agent_listen(struct cm_agent *agent, const struct cm_listener *listener, struct iwarp_sentence *sentence);
/* False: there was none. Exchanges that it has begun go on. */
bool cm_agent_unlisten(struct cm_agent *agent, uint64_t service_id);

/*
 * A REQ. With `plain` the Service ID and all 92 octets are the caller's, else they are made of `tuple` (A11 Tables 1
 * and 2).
 */
struct cm_connect {
    struct cm_place to;
    struct cm_address from; /* of the carrier: path GIDs of the REQ */
    struct cm_tuple tuple;  /* both addresses of one family */
    bool plain;
    uint64_t service_id;
    const uint8_t *data; /* consumer's: at most 56 octets, plain 92 */
    size_t octets;
};

/* *id: the exchange. -1 with a sentence: too much data, families that differ, no room for another exchange. */
int cm_agent_connect(struct cm_agent *agent, const struct cm_connect *connect, uint64_t now, uint32_t *id,
                     struct iwarp_sentence *sentence);

/*
 * Answers to CM_EVENT_REQUEST: REP with at most 196 octets, REJ, or MRA. -1 with a sentence: the exchange does not wait
 * for one.
 */
int cm_agent_accept(struct cm_agent *agent, uint32_t id, const uint8_t *data, size_t octets, uint64_t now,
                    struct iwarp_sentence *sentence);
int cm_agent_reject(struct cm_agent *agent, uint32_t id, const struct cm_refusal *refusal, uint64_t now,
                    struct iwarp_sentence *sentence);
int cm_agent_delay(struct cm_agent *agent, uint32_t id, uint8_t service_timeout, uint64_t now,
                   struct iwarp_sentence *sentence);

/* DREQ, of a connection that is established. -1 with a sentence: it is not. */
int cm_agent_disconnect(struct cm_agent *agent, uint32_t id, uint64_t now, struct iwarp_sentence *sentence);

/* A MAD of `count` octets, of anybody's making. */
void cm_agent_input(struct cm_agent *agent, const struct cm_place *from, const uint8_t *mad, size_t count,
                    uint64_t now);

/* The time: what is due by then is done. */
void cm_agent_tick(struct cm_agent *agent, uint64_t now);
/* When cm_agent_tick() is wanted next; UINT64_MAX: not by itself. */
uint64_t cm_agent_deadline(const struct cm_agent *agent);

struct cm_output {
    struct cm_place to;
    uint8_t mad[MAD_OCTETS];
};

/* The oldest MAD that waits; false: none does. */
bool cm_agent_output(struct cm_agent *agent, struct cm_output *output);

enum cm_event_kind {
    CM_EVENT_REQUEST,      /* server: cm_agent_accept() or _reject() */
    CM_EVENT_REFUSED,      /* server: a validation or a listener rejected a REQ, without an exchange: id is 0 */
    CM_EVENT_ESTABLISHED,  /* client: a REP came, with its Private Data; server: the RTU */
    CM_EVENT_REJECTED,     /* the peer's REJ */
    CM_EVENT_TIMEOUT,      /* the peer has not answered, or the ULP has not decided; the exchange is gone */
    CM_EVENT_DISCONNECTED, /* by DREQ of either side */
};

struct cm_event {
    enum cm_event_kind kind;
    uint32_t id;
    struct cm_place peer;
    uint64_t service_id;
    bool in_service; /* the REQ is one of the service: the next three are valid */
    struct cm_tuple tuple;
    uint8_t major, minor; /* version in force (A11.2) */
    uint8_t data[224];    /* REQUEST: the consumer's (56 octets, plain 92); else Private Data */
    size_t octets;
    const char *requirement; /* REFUSED: the requirement; NULL: the listener refused */
    /* REFUSED, REJECTED */
    uint16_t reason;
    bool has_ari;
    uint8_t layer, code;
    uint8_t info[CM_ARI_OCTETS]; /* layer SERVICE: suggested value; layer ULP: what follows the layer */
    uint8_t info_octets;
    bool service_proven; /* the peer has the service; false proves nothing (A11.6) */
};

/* The oldest event; false: there is none. */
bool cm_agent_poll(struct cm_agent *agent, struct cm_event *event);

struct cm_agent_counts {
    size_t exchanges, established; /* now */
    uint64_t ignored;              /* MADs that are none of a CM that this agent knows */
    uint64_t lost_outputs;         /* no room for them */
    uint64_t refused;              /* REQs: there was no room for them */
};
void cm_agent_counts(const struct cm_agent *agent, struct cm_agent_counts *counts);

#endif
