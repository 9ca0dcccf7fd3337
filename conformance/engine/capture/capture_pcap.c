/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_pcap.h"

#include <limits.h>
#include <string.h>

#include "conformance/engine/capture/capture_octets.h"

enum {
    FILE_HEADER_OCTETS = 24,
    FRAME_HEADER_OCTETS = 16,
    VERSION_MAJOR = 2,
    VERSION_MINOR = 4,
    SNAP_MOST = 262144, /* of libpcap for Ethernet: what says more is damaged */
    MICROSECOND = 1000,
    SECOND = 1000000000,
};

#define MAGIC_MICROSECONDS UINT32_C(0xA1B2C3D4)
#define MAGIC_NANOSECONDS  UINT32_C(0xA1B23C4D)

static bool is_magic(uint32_t magic)
{
    return magic == MAGIC_MICROSECONDS || magic == MAGIC_NANOSECONDS;
}

bool capture_pcap_open(struct capture_pcap *pcap, struct capture_input *input)
{
    size_t have;
    const uint8_t *header = capture_input_next(input, FILE_HEADER_OCTETS, &have);
    uint32_t snap;

    if (header == NULL)
        return false;
    *pcap = (struct capture_pcap){.input = input};
    pcap->swapped = !is_magic(capture_get32(false, header));
    pcap->nanoseconds = capture_get32(pcap->swapped, header) == MAGIC_NANOSECONDS;
    snap = capture_get32(pcap->swapped, header + 16);
    pcap->snap = snap == 0 || snap > INT_MAX ? SNAP_MOST : snap;
    return is_magic(capture_get32(pcap->swapped, header)) &&
           capture_get16(pcap->swapped, header + 4) == VERSION_MAJOR &&
           capture_get16(pcap->swapped, header + 6) == VERSION_MINOR &&
           capture_get32(pcap->swapped, header + 20) == FLOW_LINK_ETHERNET;
}

/* The input has no more than `have` of so many octets. */
static int cut(const struct capture_pcap *pcap, const char *what, size_t count, size_t have,
               struct iwarp_sentence *reason)
{
    int error = capture_input_error(pcap->input);

    if (error != 0)
        (void)iwarp_sentence_set(reason, "error reading dump file: %s", strerror(error));
    else
        (void)iwarp_sentence_set(reason, "truncated dump file; tried to read %zu %s bytes, only got %zu", count, what,
                                 have);
    return -1;
}

int capture_pcap_next(struct capture_pcap *pcap, struct flow_frame *frame, struct iwarp_sentence *reason)
{
    size_t have = 0;
    const uint8_t *octets = capture_input_next(pcap->input, FRAME_HEADER_OCTETS, &have);
    int64_t seconds, fraction;
    uint32_t captured, length, kept;

    if (octets == NULL)
        return have == 0 && capture_input_error(pcap->input) == 0
                   ? 0
                   : cut(pcap, "header", FRAME_HEADER_OCTETS, have, reason);
    seconds = (int32_t)capture_get32(pcap->swapped, octets); /* signed, as libpcap has them */
    fraction = (int32_t)capture_get32(pcap->swapped, octets + 4);
    captured = capture_get32(pcap->swapped, octets + 8);
    length = capture_get32(pcap->swapped, octets + 12);
    if (captured > SNAP_MOST)
        return iwarp_sentence_set(reason, "invalid packet capture length %u, bigger than %s of %u", (unsigned)captured,
                                  captured > pcap->snap ? "snaplen" : "maximum",
                                  captured > pcap->snap ? (unsigned)pcap->snap : (unsigned)SNAP_MOST);
    kept = captured < pcap->snap ? captured : pcap->snap; /* what is beyond is stepped over */
    octets = capture_input_next(pcap->input, captured, &have);
    if (octets == NULL)
        return cut(pcap, "captured", captured, have, reason);
    pcap->place = capture_input_place(pcap->input) - captured;
    *frame = (struct flow_frame){
        .link = FLOW_LINK_ETHERNET,
        .time_ns = (uint64_t)seconds * SECOND + (uint64_t)(pcap->nanoseconds ? fraction : fraction * MICROSECOND),
        .number = ++pcap->frames,
        .octets = octets,
        .captured = kept,
        .length = length,
    };
    return 1;
}

uint64_t capture_pcap_place(const struct capture_pcap *pcap)
{
    return pcap->place;
}
