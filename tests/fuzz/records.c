/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/records.h"

#include <endian.h>

#include "conformance/flow/decoder.h"
#include "base/octets.h"

enum { HEAD = 3, PCAP_HEAD = 24, PCAP_RECORD = 16, FRAME_NS = 1000000 };

static const uint32_t links[] = {FLOW_LINK_ETHERNET,   FLOW_LINK_RAW,  FLOW_LINK_NULL,       FLOW_LINK_LINUX_SLL,
                                 FLOW_LINK_LINUX_SLL2, FLOW_LINK_LOOP, FLOW_LINK_INFINIBAND, FLOW_LINK_ERF};

void fuzz_records_begin(struct fuzz_records *records, const uint8_t *data, size_t size)
{
    *records = (struct fuzz_records){.link = FLOW_LINK_ETHERNET, .at = data, .end = data + size};
    if (size != 0)
        records->link = links[*records->at++ % (sizeof(links) / sizeof(links[0]))];
}

bool fuzz_records_next(struct fuzz_records *records, struct flow_frame *frame)
{
    size_t captured;

    if (records->end - records->at < HEAD)
        return false;
    captured = octets_get16(records->at);
    *frame = (struct flow_frame){.link = records->link, .number = ++records->number};
    frame->time_ns = frame->number * FRAME_NS;
    if (captured > (size_t)(records->end - records->at) - HEAD)
        captured = (size_t)(records->end - records->at) - HEAD;
    frame->captured = captured;
    frame->length = captured + records->at[2];
    frame->octets = fuzz_copy(records->at + HEAD, captured);
    records->at += HEAD + captured;
    return true;
}

/* Little-endian: the same input is the same file on each machine. */
static void put32(uint8_t *octets, uint32_t value)
{
    value = htole32(value);
    memcpy(octets, &value, sizeof(value));
}

uint8_t *fuzz_records_pcap(const uint8_t *data, size_t size, size_t *octets)
{
    uint8_t *file = calloc(1, PCAP_HEAD + size / HEAD * PCAP_RECORD + size), *at = file + PCAP_HEAD;
    struct fuzz_records records;
    struct flow_frame frame;

    FUZZ_HOLDS(file != NULL);
    fuzz_records_begin(&records, data, size);
    put32(file, UINT32_C(0xA1B23C4D)); /* nanoseconds */
    put32(file + 4, UINT32_C(0x00040002));
    put32(file + 16, UINT32_C(262144));
    put32(file + 20, records.link);
    while (fuzz_records_next(&records, &frame)) {
        put32(at + 4, (uint32_t)frame.time_ns);
        put32(at + 8, (uint32_t)frame.captured);
        put32(at + 12, (uint32_t)frame.length);
        memcpy(at + PCAP_RECORD, frame.octets, frame.captured);
        at += PCAP_RECORD + frame.captured;
        free((void *)(uintptr_t)frame.octets);
    }
    *octets = (size_t)(at - file);
    return file;
}
