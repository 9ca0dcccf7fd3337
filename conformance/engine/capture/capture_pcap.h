/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcap files as nearly all programs write them, in place: version 2.4, Ethernet, either order of octets, microseconds or
 * nanoseconds (draft-ietf-opsawg-pcap). libpcap reads all others, and these from pipes; a file that breaks off or is damaged is
 * said in its words.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_PCAP_H
#define CONFORMANCE_ENGINE_CAPTURE_PCAP_H

#include "base/sentence.h"
#include "conformance/engine/capture/capture_input.h"
#include "conformance/flow/event/flow_frame.h"

struct capture_pcap {
    struct capture_input *input;
    bool swapped; /* its octets are in the other order than ours */
    bool nanoseconds;
    uint32_t snap;
    uint64_t frames;
    uint64_t place; /* of the last frame's octets */
};

/* Reads the file header. False: it is none of these, and the input is of no more use. The input stays the caller's. */
bool capture_pcap_open(struct capture_pcap *pcap, struct capture_input *input);

/* 1: there is a frame, valid until the next call; 0: the end; -1 with the reason set. */
int capture_pcap_next(struct capture_pcap *pcap, struct flow_frame *frame, struct iwarp_sentence *reason);

/* Where the octets of the last frame lie, from the file's beginning. */
uint64_t capture_pcap_place(const struct capture_pcap *pcap);

#endif
