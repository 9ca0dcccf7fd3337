/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of one device under test: a JSON file.
 *
 *   { "name": "linux-siw-6.12",
 *     "address": "192.0.2.7", "port": 9999,           where it listens
 *     "interface": "eth1", "own_address": "192.0.2.9",  the tester's interface, and an address there that nobody owns
 *     "gateway": "192.0.2.1",                         optional: the router on the tester's link that the device is behind
 *     "own_mac": "02:77:63:00:00:03",                 optional
 *     "replay": "linux-siw",                          optional: what --dut is to be when a check is repeated
 *     "llp": "sctp", "udp_port": 9899,                optional: what is below DDP (tcp, sctp, sctp-draft02), and the
 *                                                     device's UDP port below SCTP (RFC 6951); without it SCTP is over
 *                                                     IP
 *     "control": "192.0.2.7:7471",                    the upper tester; without it checks that need one are skipped
 *     "beside": [ { "own_address": "192.0.2.10", "own_mac": "02:77:63:00:00:04", "port": 9998,
 *                   "control": "192.0.2.7:7472" } ],  places for checks side by side (run -j); own_mac is optional, and
 *                                                     there is a control in each where the profile has one
 *     "send_buffer": 4194304,                         octets that its TCP or SCTP takes while the window is shut
 *     "reaction_seconds": 20,                         that the device may take to react; without it 2 to 15, by its
 *                                                     round trip
 *     "wait_for_device": 30,                          seconds that a lost device may take to accept TCP again
 *     "restart_command": ["./server", "--port", "{port}"],    starts a lost device again: device_command.h
 *     "connect_command": ["./client", "{address}", "{port}"], starts an initiator that has no upper tester
 *     "request_private_data": "706c65617365",         Private Data that the device's ULP wants in a Request, in hex;
 *     "reply_private_data": "6f6b",                   and in a Reply; without them any will do
 *     "ipsec": { "address": "192.0.2.11", "secret_file": "key" },  how the tester's IPsec reaches the device
 *                                                     (profile_ipsec.h); all checks then run inside ESP
 *     "good_exchange": "read",                        what checks rest on where it is served (script/services.h)
 *     "capabilities": { "mpa.markers": "no", "ird": 16 },   PICS items (conformance/requirements/pics.tsv)
 *     "known_deviations": [ ... ],                    conformance/engine/profile/deviation.h
 *     "hazards": [ { "requirement": "EMPA-10-01", "role": "responder", "note": "the device may not survive it" } ] }
 *
 * A hazard is a check that this device may not survive, although others do: it runs only with --destructive. An unknown
 * member of the file is refused: if it were ignored, it would not do what its author expects.
 */
#ifndef CONFORMANCE_ENGINE_PROFILE_H
#define CONFORMANCE_ENGINE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/profile/deviation.h"
#include "conformance/engine/profile/profile_ipsec.h"
#include "conformance/engine/device/device_command.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "generator/packet/packet.h"
#include "upper-tester/token.h"
#include "wire/ddp_sctp.h"
#include "base/sentence.h"

enum { PROFILE_BESIDE_MOST = 64, PROFILE_PRIVATE_MOST = 512 };

/* Private Data that the device's ULP wants in a start-up frame. */
struct profile_private {
    bool wanted; /* false: any will do */
    size_t count;
    uint8_t octets[PROFILE_PRIVATE_MOST];
};

/* What one tester at a time has to itself. */
struct profile_place {
    struct net_address own_address;
    uint8_t own_mac[6];         /* all zero: the default */
    uint16_t port;              /* where the device listens for this tester */
    struct net_address control; /* family 0: none */
    uint16_t control_port;
};

struct profile {
    const char *name;
    const char *replay; /* how --dut names it in commands that repeat a check; NULL: as it was named */
    const char *interface;
    struct net_address address;
    struct net_address gateway; /* the router on the tester's link; family 0: the device is on that link */
    struct profile_place place;
    struct profile_place beside[PROFILE_BESIDE_MOST];
    struct upper_token token; /* for each 'control'; empty: none */
    size_t beside_count;
    enum iwarp_sctp_profile sctp; /* "llp": UNDECIDED is MPA over TCP */
    uint16_t udp_port;            /* of SCTP in UDP; 0: SCTP is over IP */
    const char *good_exchange;    /* conformance/engine/script/services.h; NULL: the least */
    struct profile_private request_private_data, reply_private_data;
    struct profile_ipsec ipsec;
    unsigned reaction_seconds;                       /* 0: by the round trip */
    unsigned send_buffer;                            /* octets; 0: as Linux's */
    unsigned wait_for_device;                        /* seconds; 0: it is not waited for */
    const char **restart_command, **connect_command; /* arguments, ended by NULL; NULL: none */
    struct deviation_list deviations;
    json_t *json; /* what the strings point into */
};

/* What a profile is checked against. */
struct profile_context {
    const struct catalogue *catalogue;
    struct pics *pics;
    const char *today; /* "YYYY-MM-DD" */
};

/*
 * Reads and checks a profile, and sets the PICS items it names. -1 with "path: where: what is wrong, what was
 * expected", and nothing to free.
 */
int profile_load(struct profile *profile, const char *path, const struct profile_context *context,
                 struct iwarp_sentence *error);

/*
 * The same for a profile that is no file: takes the reference (NULL: memory was short); `path` is what messages call
 * it.
 */
int profile_read_json(struct profile *profile, json_t *json, const char *path, const struct profile_context *context,
                      struct iwarp_sentence *error);

/* Sets the defaults of two items for a profile: upper_tester is "yes" if `control`, else "no"; instrumented is "no". */
int profile_defaults(struct pics *pics, bool control, struct iwarp_sentence *error);

/*
 * Forks the process that runs the profile's commands (device_command.h), and keeps their output in this folder (-1:
 * nowhere). Call it before the calling process is confined. *commands is the caller's to free; NULL where the profile
 * has no commands. -1 with a sentence.
 */
int profile_commands(const struct profile *profile, int folder, const struct run_identity *identity,
                     struct device_command **commands, struct iwarp_sentence *error);

void profile_free(struct profile *profile);

/* Why this check must not be run on this device without --destructive; NULL: it may be run. */
const char *profile_hazard(const struct profile *profile, const char *requirement, const char *role);

/*
 * The vendor and the name of the device, and the capabilities that the profile declares: a new reference; NULL: the
 * profile has none of these.
 */
json_t *profile_identity(const struct profile *profile);

#endif
