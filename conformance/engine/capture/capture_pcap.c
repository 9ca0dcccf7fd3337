/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_pcap.h"

#include <limits.h>
#include <string.h>

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

static uint16_t get16(const struct capture_pcap *pcap, const uint8_t *octets)
{
    uint16_t value;

    memcpy(&value, octets, sizeof(value));
    return pcap->swapped ? __builtin_bswap16(value) : value;
}

static uint32_t get32(const struct capture_pcap *pcap, const uint8_t *octets)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return pcap->swapped ? __builtin_bswap32(value) : value;
}

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
    pcap->swapped = !is_magic(get32(pcap, header));
    pcap->nanoseconds = get32(pcap, header) == MAGIC_NANOSECONDS;
    snap = get32(pcap, header + 16);
    pcap->snap = snap == 0 || snap > INT_MAX ? SNAP_MOST : snap;
    return is_magic(get32(pcap, header)) && get16(pcap, header + 4) == VERSION_MAJOR &&
           get16(pcap, header + 6) == VERSION_MINOR && get32(pcap, header + 20) == FLOW_LINK_ETHERNET;
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
    seconds = (int32_t)get32(pcap, octets); /* signed, as libpcap has them */
    fraction = (int32_t)get32(pcap, octets + 4);
    captured = get32(pcap, octets + 8);
    length = get32(pcap, octets + 12);
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
