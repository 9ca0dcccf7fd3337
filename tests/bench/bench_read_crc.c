/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_read_crc FILE: reads a capture and runs CRC32C over what follows the headers of each frame, nothing else: the
 * yardstick for `warpcheck audit`, which cannot do with less. Prints frames, octets and a checksum of the CRCs.
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/crc32c.h"

enum { HEADERS = 54 }; /* Ethernet, IPv4, TCP */

int main(int argc, char **argv)
{
    char error[PCAP_ERRBUF_SIZE];
    uint64_t frames = 0, octets = 0;
    uint32_t sum = 0;
    struct pcap_pkthdr *header;
    const u_char *frame;
    int got;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_read_crc FILE\n");
        return 2;
    }
    pcap_t *capture = pcap_open_offline(argv[1], error);

    if (capture == NULL) {
        (void)fprintf(stderr, "bench_read_crc: %s\n", error);
        return EXIT_FAILURE;
    }
    while ((got = pcap_next_ex(capture, &header, &frame)) == 1) {
        frames++;
        if (header->caplen > HEADERS) {
            sum ^= crc32c(frame + HEADERS, header->caplen - HEADERS);
            octets += header->caplen - HEADERS;
        }
    }
    if (got == PCAP_ERROR)
        (void)fprintf(stderr, "bench_read_crc: %s\n", pcap_geterr(capture));
    pcap_close(capture);
    (void)printf("%" PRIu64 " frames, %" PRIu64 " octets, %08" PRIx32 "\n", frames, octets, sum);
    return got == PCAP_ERROR ? EXIT_FAILURE : EXIT_SUCCESS;
}
