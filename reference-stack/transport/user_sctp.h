/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP in user space below an association: libusrsctp over AF_CONN, so that its packets come and go by functions and
 * its time is the caller's. No threads, no sockets of the kernel, no privileges. Each endpoint here has one
 * association.
 *
 *     user_sctp_start(&sentence);                      once in a process: libusrsctp has one stack
 *     end = user_sctp_new(association, &config, now, &sentence);
 *     user_sctp_input(end, packet, octets, now);       each SCTP packet that came, from the common header on
 *     user_sctp_run(end, now);                         after verbs, and after everything else
 *     user_sctp_pass(milliseconds);                    time, for all endpoints together
 *     user_sctp_stop();                                when all endpoints are freed
 *
 * What Debian's libusrsctp (0.9.5) cannot do, and what is done about it here:
 *
 *   - It does not say which message was acknowledged. The endpoint reads TSNs in the packets that it sends, and SACKs
 *     in those that come.
 *   - Its event about the peer's adaptation indication reports neither a missing one nor the peer's MIS. The
 *     endpoint reads the peer's INIT or INIT ACK.
 *   - It draws its tags and TSNs itself, and measures round-trip times by the system's clock: two runs are not the same
 *     octet by octet.
 *   - When a retransmission falls due by user_sctp_pass(), it leaves out what was sent less than an RTO ago by the
 *     system's clock. Where simulated time runs faster than that clock, such retransmissions are not sent, but are
 *     counted: a simulation sets a short `rto_ms` and many `retransmissions`.
 *   - After user_sctp_stop() the process cannot be sure to get a stack again: it fails while an association lingers.
 */
#ifndef REFERENCE_STACK_USER_SCTP_H
#define REFERENCE_STACK_USER_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/sctp.h"
#include "base/sentence.h"

struct user_sctp;

struct user_sctp_config {
    bool active; /* sends the INIT; else it waits for one */
    uint16_t port, peer_port;
    size_t packet_max;        /* octets of the longest SCTP packet: the path MTU without what is below SCTP */
    unsigned rto_ms;          /* retransmission after so long, whatever is measured; 0: 100 ms to 2 s */
    unsigned retransmissions; /* in a row, before the association is lost; 0: as libusrsctp has it */
    unsigned sack_delay_ms;   /* DATA is acknowledged so late at most; 0: as libusrsctp has it, as the next four */
    unsigned sack_packets;    /* ...or with the packet of that number */
    unsigned window;          /* octets that are taken before they are read: a_rwnd */
    unsigned send_buffer;     /* octets that are taken while the peer's window is shut */
    unsigned chunk_max;       /* octets of user data in a DATA chunk; longer messages are fragmented */
    bool fragments; /* SCTP may cut messages (RFC 5043 9); false: it refuses those that are too long (draft 5) */
    void (*send)(void *user, const uint8_t *packet, size_t octets);
    /*
     * Makes of a packet, before its checksum is set, the one that leaves in its place: `room` octets have room there.
     * Returns its octets; 0: none leaves. NULL: each packet leaves as it is, and so do those that are longer than any
     * MTU but a loopback's.
     */
    size_t (*leaving)(void *user, uint8_t *packet, size_t octets, size_t room);
    /* The association got input, from a packet or a timer; NULL: not called. It must not call back. */
    void (*notify)(void *user);
    void *user;
};

/* Octets that libusrsctp keeps of an association at most, of each direction. */
enum { USER_SCTP_SPACE = 4 << 20 };

/* -1 with a sentence: this build has no libusrsctp, or the stack does not start. A second call does nothing. */
int user_sctp_start(struct iwarp_sentence *sentence);
void user_sctp_stop(void);

/* The path MTU has changed: octets of the longest SCTP packet from now on. The owner informs the association. */
void user_sctp_set_packet_max(struct user_sctp *end, size_t octets);

/* Borrows the association, which must not be up. NULL with a sentence. Packets may be sent during the call. */
struct user_sctp *user_sctp_new(struct iwarp_association *association, const struct user_sctp_config *config,
                                uint64_t now, struct iwarp_sentence *sentence);

/* Resets the association of SCTP, if there is still one. NULL is fine. */
void user_sctp_free(struct user_sctp *end);

void user_sctp_input(struct user_sctp *end, const uint8_t *packet, size_t octets, uint64_t now);

/* Gives SCTP what the association has to send, and does what it wants. */
void user_sctp_run(struct user_sctp *end, uint64_t now);

/* SCTP has set the association up, at some time. */
bool user_sctp_up(const struct user_sctp *end);

/* Retransmissions and the like fall due, of all endpoints. */
void user_sctp_pass(uint32_t milliseconds);

/*
 * The same for callers with a clock, in nanoseconds: passes the time since the last call, which any part of the process
 * may have made. All endpoints that exist together use one clock; the clock may change while there are no endpoints.
 */
void user_sctp_clock(uint64_t now);

#endif
