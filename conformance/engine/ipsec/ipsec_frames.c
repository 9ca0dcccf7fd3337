/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/ipsec/ipsec_frames.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/octets.h"

enum {
    FRAME_OCTETS = 2048,
    FRAMES_KEPT = 32,
    BUFFER_OCTETS = 8 << 20,
    IP_AT = 14,
    IPV4_LEAST = 20,
    UDP_OCTETS = 8,
    PROTOCOL_UDP = 17,
    PROTOCOL_ESP = 50,
    PORT_IKE = 500,
    PORT_NAT = 4500, /* RFC 3948: IKE begins with four zero octets there, ESP does not */
    MARKER_OCTETS = 4,
    IKE_OCTETS = 28,
    IKE_VERSION_AT = 17,
    IKE_FLAGS_AT = 19,
    IKE_VERSION_2 = 0x20,
    IKE_FLAG_RESPONSE = 0x20,
    ESP_OCTETS = 8,
    ESP_SEQUENCE_AT = 4,
    ALTERED_BIT = 0x04 /* of the third octet of the sequence number: 1024 packets ahead */
};

struct kept {
    struct ipsec_packet packet;
    size_t octets;
    uint8_t frame[FRAME_OCTETS];
};

struct ipsec_frames {
    int socket;
    struct ipsec_counts counts;
    size_t esp_next; /* of the ring */
    struct kept esp[FRAMES_KEPT];
    struct kept request;
};

static struct ipsec_packet ike_of(const uint8_t *frame, size_t octets, size_t udp, size_t begin)
{
    struct ipsec_packet packet = {.kind = IPSEC_PACKET_OTHER, .begin = begin, .udp = udp};

    if (octets < begin + IKE_OCTETS || frame[begin + IKE_VERSION_AT] != IKE_VERSION_2)
        return packet;
    packet.kind = frame[begin + IKE_FLAGS_AT] & IKE_FLAG_RESPONSE ? IPSEC_PACKET_RESPONSE : IPSEC_PACKET_REQUEST;
    return packet;
}

struct ipsec_packet ipsec_packet_of(const uint8_t *frame, size_t octets)
{
    static const struct ipsec_packet other = {.kind = IPSEC_PACKET_OTHER};
    static const uint8_t marker[MARKER_OCTETS] = {0};
    size_t begin, udp;
    uint16_t source, destination;

    if (octets < IP_AT + IPV4_LEAST || octets_get16(frame + 12) != ETH_P_IP || frame[IP_AT] >> 4 != 4)
        return other;
    begin = IP_AT + (size_t)(frame[IP_AT] & 15) * 4;
    if (begin < IP_AT + IPV4_LEAST || octets < begin + UDP_OCTETS)
        return other;
    if (frame[IP_AT + 9] == PROTOCOL_ESP)
        return (struct ipsec_packet){.kind = IPSEC_PACKET_ESP, .begin = begin};
    if (frame[IP_AT + 9] != PROTOCOL_UDP)
        return other;
    udp = begin;
    source = octets_get16(frame + udp);
    destination = octets_get16(frame + udp + 2);
    begin += UDP_OCTETS;
    if (source == PORT_IKE && destination == PORT_IKE)
        return ike_of(frame, octets, udp, begin);
    if ((source != PORT_NAT && destination != PORT_NAT) || octets < begin + MARKER_OCTETS)
        return other;
    if (memcmp(frame + begin, marker, MARKER_OCTETS) == 0)
        return ike_of(frame, octets, udp, begin + MARKER_OCTETS);
    if (octets < begin + ESP_OCTETS)
        return other; /* the single octet that keeps a NAT open */
    return (struct ipsec_packet){.kind = IPSEC_PACKET_ESP, .begin = begin, .udp = udp};
}

void ipsec_packet_prepare(uint8_t *frame, const struct ipsec_packet *packet, bool alter)
{
    if (packet->udp != 0)
        frame[packet->udp + 6] = frame[packet->udp + 7] = 0;
    if (alter && packet->kind == IPSEC_PACKET_ESP)
        frame[packet->begin + ESP_SEQUENCE_AT + 2] ^= ALTERED_BIT;
}

struct ipsec_frames *ipsec_frames_open(const char *interface, struct iwarp_sentence *error)
{
    struct ipsec_frames *frames = calloc(1, sizeof(*frames));
    struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    int octets = BUFFER_OCTETS;

    if (frames == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for frames of ESP");
        return NULL;
    }
    frames->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
    place.sll_ifindex = (int)if_nametoindex(interface);
    if (frames->socket >= 0 && place.sll_ifindex != 0 &&
        bind(frames->socket, (const struct sockaddr *)&place, sizeof(place)) == 0) {
        (void)setsockopt(frames->socket, SOL_SOCKET, SO_RCVBUFFORCE, &octets, sizeof(octets));
        return frames;
    }
    (void)iwarp_sentence_set(error, "cannot watch %s: %s", interface, strerror(errno));
    ipsec_frames_close(frames);
    return NULL;
}

void ipsec_frames_close(struct ipsec_frames *frames)
{
    if (frames == NULL)
        return;
    if (frames->socket >= 0)
        close(frames->socket);
    free(frames);
}

static void keep(struct kept *kept, const struct ipsec_packet *packet, const uint8_t *frame, size_t octets)
{
    kept->packet = *packet;
    kept->octets = octets;
    memcpy(kept->frame, frame, octets);
}

static void note(struct ipsec_frames *frames, const uint8_t *frame, size_t octets, bool outgoing)
{
    struct ipsec_packet packet = ipsec_packet_of(frame, octets);

    if (packet.kind == IPSEC_PACKET_ESP && outgoing) {
        keep(&frames->esp[frames->esp_next++ % FRAMES_KEPT], &packet, frame, octets);
        frames->counts.esp_out++;
    } else if (packet.kind == IPSEC_PACKET_ESP) {
        frames->counts.esp_in++;
    } else if (packet.kind == IPSEC_PACKET_REQUEST && outgoing) {
        keep(&frames->request, &packet, frame, octets);
        frames->counts.requests_out++;
    } else if (packet.kind == IPSEC_PACKET_RESPONSE && !outgoing) {
        frames->counts.responses_in++;
    }
}

static void look(struct ipsec_frames *frames)
{
    uint8_t frame[FRAME_OCTETS];

    for (;;) {
        struct sockaddr_ll from = {0};
        socklen_t length = sizeof(from);
        ssize_t got = recvfrom(frames->socket, frame, sizeof(frame), MSG_TRUNC, (struct sockaddr *)&from, &length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        if ((size_t)got <= sizeof(frame))
            note(frames, frame, (size_t)got, from.sll_pkttype == PACKET_OUTGOING);
    }
}

void ipsec_frames_forget(struct ipsec_frames *frames)
{
    look(frames);
    frames->esp_next = 0;
    frames->counts = (struct ipsec_counts){0};
}

struct ipsec_counts ipsec_frames_count(struct ipsec_frames *frames)
{
    look(frames);
    return frames->counts;
}

static int send_again(struct ipsec_frames *frames, const struct kept *kept, bool alter, struct iwarp_sentence *error)
{
    uint8_t frame[FRAME_OCTETS];

    memcpy(frame, kept->frame, kept->octets);
    ipsec_packet_prepare(frame, &kept->packet, alter);
    if (send(frames->socket, frame, kept->octets, 0) == (ssize_t)kept->octets)
        return 0;
    return iwarp_sentence_set(error, "a captured frame could not be sent again: %s", strerror(errno));
}

int ipsec_frames_resend(struct ipsec_frames *frames, enum ipsec_packet_kind kind, bool alter,
                        struct iwarp_sentence *error)
{
    size_t count, first;

    look(frames);
    if (kind == IPSEC_PACKET_REQUEST)
        return frames->request.octets == 0 ? 0 : send_again(frames, &frames->request, false, error) != 0 ? -1 : 1;
    count = frames->esp_next;
    first = count > FRAMES_KEPT ? count - FRAMES_KEPT : 0;
    for (size_t i = first; i < count; i++)
        if (send_again(frames, &frames->esp[i % FRAMES_KEPT], alter, error) != 0)
            return -1;
    return (int)(count - first);
}
