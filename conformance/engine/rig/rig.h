/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rig is what a check runs on: a link, the testers on it (tester.h), a device under test at the far end, and the way
 * to that device's upper tester. There are two kinds, alike for a check:
 *
 *   simulated  the reference stack in this process, on virtual time, deterministic by seed (rig_sim.c)
 *   live       a network interface: the embedded reference stack in a namespace of its own, or a profile's device
 *              (rig_net.c)
 *
 * All times are nanoseconds on the link's clock.
 */
#ifndef CONFORMANCE_ENGINE_RIG_H
#define CONFORMANCE_ENGINE_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/rig/tester_sctp.h"
#include "conformance/engine/rig/tester_cm.h"
#include "conformance/engine/rig/tester_tcp.h"
#include "generator/link/link.h"
#include "generator/packet/packet.h"
#include "wire/ddp_sctp.h"
#include "base/sentence.h"

struct rig;
struct device_keeper;
struct device_command;
struct ipsec_tester;
struct profile;
struct json_t;
struct profile_place;
struct defect_set;

enum {
    RIG_RECENT = 32, /* exchanges: those of some ten checks */
    /*
     * One exchange in so many may be slow by chance, as the device or the tester waits for a processor: it is not
     * counted.
     */
    RIG_PER_EXCEPTION = 8
};

struct rig_ops {
    /* Sends one request line to the upper tester; the caller frees the answer. NULL with a sentence: no answer came. */
    char *(*command)(struct rig *rig, const char *request, struct iwarp_sentence *error);
    /*
     * The same without text, for a device in this process: PEER_VALUES_MAX values at most. NULL: only command() works.
     */
    struct json_t *(*answer)(struct rig *rig, const struct json_t *request, struct iwarp_sentence *error);
    /* Resets the device as at power-on: -1 with a sentence when that failed; `gone` is set if it failed for good. */
    int (*reset)(struct rig *rig, struct iwarp_sentence *error);
    void (*free)(struct rig *rig);
    /* Frames so far that the capture of the link has dropped. NULL: the link drops none, or reports it as an error. */
    uint64_t (*dropped)(struct rig *rig);
    /*
     * True with a sentence: since the last call the device's own process has ended, or ran out of memory. NULL: the rig
     * has not started the device's process.
     */
    bool (*impaired)(struct rig *rig, struct iwarp_sentence *why);
    /* The tester's own end of the link is down, so that silence says nothing. NULL: it never is. */
    bool (*link_down)(struct rig *rig);
};

struct rig {
    const struct rig_ops *ops;
    struct link *link;
    struct tester *testers;  /* rig_pump() moves frames and time to each */
    struct tester *measures; /* rig_measure() asks this one; NULL: the first */
    struct tester_tcp tcp;
    struct tester_sctp sctp;
    struct tester_cm cm;
    struct net_address dut; /* the device's address, of the family in use */
    struct net_address own; /* the lower tester's */
    uint16_t port;          /* where the device listens by default */
    bool simulated;
    bool upper_tester;       /* command() works */
    bool starts_initiator;   /* simulated: what a profile's connect_command starts is the simulated device */
    unsigned started_stream; /* the stream that the device started last; 0: none */
    bool only_opens; /* rig_measure() found that the device refuses connections, and connect_command opens them */
    enum iwarp_sctp_profile llp; /* what carries the device's DDP: SCTP in this profile; UNDECIDED: MPA over TCP */
    bool tester_apart;      /* the upper tester is another program than the device: its death does not prove a fault */
    bool one_program;       /* by its own word the upper tester is the device's program: neither ends alone */
    uint64_t round_trip_ns; /* measured by rig_measure(); live, by rig_note_round_trip() */
    uint64_t reaction_ns;   /* how long a device may take to react */
    uint64_t reaction_least_ns; /* it is never less than this; 0: 2 seconds */
    uint64_t send_buffer; /* octets that the device's TCP or SCTP takes while the window is shut; 0: RIG_SEND_BUFFER */
    uint64_t patience_ns; /* nor less than this; quiet_ns does not count it: the device may wait for a processor */
    uint64_t quiet_ns;    /* how long silence is watched */
    uint64_t recent_ns[RIG_RECENT];
    size_t recent_next;
    unsigned losses;               /* commands so far that the upper tester did not answer */
    struct iwarp_sentence failure; /* the link's, once it has failed */
    struct iwarp_sentence gone;    /* why the upper tester will never answer again, once that is so */
    struct ipsec_tester *ipsec;    /* through which all frames go; NULL: the device uses no IPsec */
    struct device_keeper *keeper;  /* brings a lost device back; NULL: it stays lost */
    bool crashed;                  /* the device's own process, which the rig has started, has ended by itself */
    bool stimulating;              /* a check's own connections are opened now, not those of a good exchange */
};

/* Octets that Linux's TCP takes at most from those who send while the window of the peer is shut (tcp_wmem). */
#define RIG_SEND_BUFFER (UINT64_C(4) << 20)

/* The default port of the device: one in the lab's range that /etc/services gives to no service. */
#define RIG_PORT 9999

struct rig_sim_config {
    uint64_t seed;
    const struct defect_set *defects; /* of the reference stack, borrowed; NULL: it is correct */
    unsigned resets_every;            /* each n-th connection to the device is reset as it opens; 0: none */
    bool no_upper_tester;             /* checks cannot ask the device for anything */
    bool starts_initiator;            /* the device connects when a check starts its initiator, as by connect_command */
    bool ipv6;
    enum iwarp_sctp_profile sctp; /* the LLP of the device is SCTP, in this profile; UNDECIDED: it is MPA over TCP */
};

/* A simulated rig with the reference stack listening on RIG_PORT. NULL with a sentence. */
struct rig *rig_sim_new(const struct rig_sim_config *config, struct iwarp_sentence *error);

/*
 * Called once when the wire is open and everything is started: later the process reads input from the device, and needs
 * no privileges. -1 with a sentence: the rig is not made.
 */
struct rig_lock {
    int (*lock)(void *context, struct iwarp_sentence *error);
    void *context;
};

struct rig_embedded_config {
    uint64_t seed;
    struct rig_lock lock;
    struct run_identity identity; /* user of the device's process: we can end it if we have become the same user */
    const char *const *defects;
    size_t defect_count;
    const char *const *variants;
    size_t variant_count;
    const char *choices; /* as `iwarp-peer --choices` has them; NULL: none */
    bool ipv6;
    enum iwarp_sctp_profile
        sctp;            /* as in a simulated rig: over SCTP the device is reached in UDP datagrams (RFC 6951) */
    const char *program; /* path of the program whose `peer` subcommand is the device: this very one */
};

/*
 * Enters a user and network namespace, starts the reference stack there as a process on the kernel's TCP, and opens the
 * tester's end of the wire. The calling process never leaves the namespace.
 */
struct rig *rig_embedded_new(const struct rig_embedded_config *config, struct iwarp_sentence *error);

/*
 * A rig with a profile's device, reached over a real interface. The tester has the addresses of `place`. Profile and
 * place are read here and not kept. `commands` are the profile's, borrowed; NULL: it has none.
 */
struct rig *rig_profile_new(const struct profile *profile, const struct profile_place *place,
                            struct device_command *commands, uint64_t seed, const struct rig_lock *lock,
                            struct iwarp_sentence *error);

/*
 * Adds a tester to the rig, after those that it has. The rig borrows the tester: whoever made the tester frees it,
 * after the rig's last use.
 */
void rig_attach(struct rig *rig, struct tester *tester);

/*
 * Moves frames and time to the testers until something happened or `deadline_ns`. 1: something, 0: the deadline, -1:
 * the link failed.
 */
int rig_pump(struct rig *rig, uint64_t deadline_ns);

/* Lets so much time pass on the link. 0, or -1: the link failed. */
int rig_pass(struct rig *rig, uint64_t nanoseconds);

/* Frames so far that arrived, but that the capture has dropped. */
static inline uint64_t rig_dropped(struct rig *rig)
{
    return rig->ops->dropped != NULL ? rig->ops->dropped(rig) : 0;
}

/* Events of the device's own process that are no behaviour of a device under test. */
static inline bool rig_impaired(struct rig *rig, struct iwarp_sentence *why)
{
    return rig->ops->impaired != NULL && rig->ops->impaired(rig, why);
}

static inline bool rig_link_down(struct rig *rig)
{
    return rig->ops->link_down != NULL && rig->ops->link_down(rig);
}

static inline uint64_t rig_now(struct rig *rig)
{
    return link_now(rig->link);
}

/*
 * Measures the round trip by exchanges of the first tester with the device, and sets the time limits from it. If the
 * device refuses the first exchange, it is tried again for some seconds. -1 with a sentence when it does not answer:
 * nothing can be judged then.
 */
int rig_measure(struct rig *rig, struct iwarp_sentence *error);

/*
 * One exchange of the first tester with the device; a lost device is brought back. 0, or -1 with a sentence: it does
 * not answer.
 */
int rig_ask(struct rig *rig, struct tester_exchange *exchange, struct iwarp_sentence *error);

/*
 * Notes the round trip of one more exchange, 0 if it is not known. A device that becomes slow within a live run gets
 * more time from its next check on, for a while. The longest of the latest RIG_RECENT round trips counts, without the
 * longest one of each RIG_PER_EXCEPTION. A simulated device keeps the measured value.
 */
void rig_note_round_trip(struct rig *rig, uint64_t round_trip);

void rig_free(struct rig *rig);

#endif
