/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of the tester's IPsec on the wire to the device: ESP packets that went out can be sent again as they were, or
 * with another sequence number, and what comes in is counted. Nothing is decrypted or made here.
 */
#ifndef CONFORMANCE_ENGINE_IPSEC_FRAMES_H
#define CONFORMANCE_ENGINE_IPSEC_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

enum ipsec_packet_kind {
    IPSEC_PACKET_OTHER,
    IPSEC_PACKET_ESP,     /* over IP, or in UDP (RFC 3948) */
    IPSEC_PACKET_REQUEST, /* of IKEv2: its answer is repeated where the request is (RFC 7296 2.1) */
    IPSEC_PACKET_RESPONSE /* of IKEv2 */
};

/* What a frame of `octets` carries, and where that begins: the ESP header, or the IKE header. */
struct ipsec_packet {
    enum ipsec_packet_kind kind;
    size_t begin;
    size_t udp; /* where the UDP header begins; 0: none */
};

/* Reads an Ethernet frame with IPv4; anything else, and what is cut, is IPSEC_PACKET_OTHER. */
struct ipsec_packet ipsec_packet_of(const uint8_t *frame, size_t octets);

/*
 * Makes a captured frame fit to be sent again: the checksum of UDP, which the kernel may not have computed yet, is
 * "none" (RFC 3948 2.1). With `alter` the sequence number of ESP is another one, which the device has not seen.
 */
void ipsec_packet_prepare(uint8_t *frame, const struct ipsec_packet *packet, bool alter);

struct ipsec_frames;

struct ipsec_counts {
    unsigned esp_in, esp_out, requests_out, responses_in;
};

/* Opens the interface. NULL with a sentence. */
struct ipsec_frames *ipsec_frames_open(const char *interface, struct iwarp_sentence *error);

void ipsec_frames_close(struct ipsec_frames *frames);

/* Forgets all that was seen so far. */
void ipsec_frames_forget(struct ipsec_frames *frames);

/* What was seen since then. */
struct ipsec_counts ipsec_frames_count(struct ipsec_frames *frames);

/*
 * Sends the ESP packets of ours that were seen since then once more, or the last request of IKEv2. How many; -1 with a
 * sentence.
 */
int ipsec_frames_resend(struct ipsec_frames *frames, enum ipsec_packet_kind kind, bool alter,
                        struct iwarp_sentence *error);

#endif
