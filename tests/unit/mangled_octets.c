/* SPDX-License-Identifier: BSD-2-Clause */
/* What the frames of a capture carry over SCTP and of the CM, read without the decoder. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "tests/unit/mangled.h"
#include "wire/ddp_sctp.h"
#include "wire/infiniband.h"
#include "base/octets.h"
#include "wire/sctp.h"

enum { ETHERNET = 14, UDP = 17 };

/*
 * What the IP packet of a frame carries: its protocol, and its octets; 0: the frame has no whole IP packet. Only IPv4
 * without options.
 */
static unsigned payload_of(const struct mangle_frame *frame, const uint8_t **ip, const uint8_t **octets, size_t *count)
{
    size_t at = frame->link == FLOW_LINK_ETHERNET ? ETHERNET : 0, header, total;

    if (frame->captured < at + 20)
        return 0;
    *ip = frame->octets + at;
    header = (*ip)[0] >> 4 == 4 ? 20 : 40;
    total = header == 20 ? octets_get16(*ip + 2) : header + octets_get16(*ip + 4);
    if (frame->captured < at + header || frame->captured < at + total || total < header)
        return 0;
    *octets = *ip + header;
    *count = total - header;
    return header == 20 ? (*ip)[9] : (*ip)[6];
}

/* A chunk that was seen. */
struct seen {
    uint8_t ends[44]; /* addresses, ports, Verification Tag */
    uint32_t tsn;
};

struct seen_list {
    struct seen *list;
    size_t count, room;
};

/* True: it was not there. */
static bool add_seen(struct seen_list *seen, const struct seen *chunk)
{
    for (size_t i = 0; i < seen->count; i++)
        if (memcmp(&seen->list[i], chunk, sizeof(*chunk)) == 0)
            return false;
    if (seen->count == seen->room) {
        seen->room = seen->room == 0 ? 256 : 2 * seen->room;
        seen->list = realloc(seen->list, seen->room * sizeof(*chunk));
        ck_assert_ptr_nonnull(seen->list);
    }
    seen->list[seen->count++] = *chunk;
    return true;
}

static bool is_ddp(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_SEGMENT || ppid == DDP_SCTP_PPID_CONTROL;
}

/* Fragments after the first one have the PPID, too. */
static uint64_t chunk_octets(const struct mangle_frame *frame, struct seen_list *seen)
{
    const uint8_t *ip, *packet, *p, *end;
    struct sctp_chunk chunk;
    struct sctp_data data;
    uint64_t octets = 0;
    size_t count;

    if (payload_of(frame, &ip, &packet, &count) != SCTP_PROTOCOL || count < SCTP_COMMON_OCTETS)
        return 0;
    p = packet + SCTP_COMMON_OCTETS;
    end = packet + count;
    while (p < end && sctp_chunk_parse(&p, end, &chunk) == WIRE_OK) {
        struct seen one = {{0}, 0};

        if (chunk.type != SCTP_DATA || sctp_data_parse(&chunk, &data) != WIRE_OK || !is_ddp(data.ppid))
            continue;
        memcpy(one.ends, ip + (ip[0] >> 4 == 4 ? 12 : 8), ip[0] >> 4 == 4 ? 8 : 32);
        memcpy(one.ends + 32, packet, 8);
        one.tsn = data.tsn;
        if (add_seen(seen, &one))
            octets += data.user_octets;
    }
    return octets;
}

uint64_t mangled_user_octets(const struct mangle_capture *capture)
{
    struct seen_list seen = {NULL, 0, 0};
    uint64_t octets = 0;

    for (size_t i = 0; i < capture->count; i++)
        octets += chunk_octets(&capture->frames[i], &seen);
    free(seen.list);
    return octets;
}

uint64_t mangled_messages(const struct mangle_capture *capture)
{
    enum { UDP_OCTETS = 8, CLASS_AT = 1 };
    uint64_t messages = 0;

    for (size_t i = 0; i < capture->count; i++) {
        const uint8_t *ip, *udp, *bth;
        size_t count;

        if (payload_of(&capture->frames[i], &ip, &udp, &count) != UDP ||
            count < UDP_OCTETS + BTH_OCTETS + DETH_OCTETS + MAD_OCTETS || octets_get16(udp + 2) != ROCE_V2_PORT)
            continue;
        bth = udp + UDP_OCTETS;
        messages += bth_get_OpCode(bth) == BTH_UD_SEND_ONLY && bth_get_DestQP(bth) == BTH_QP_GSI &&
                    bth[BTH_OCTETS + DETH_OCTETS + CLASS_AT] == MAD_CLASS_CM;
    }
    return messages;
}
