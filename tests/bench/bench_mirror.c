/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_mirror IF FILE SECONDS MBIT EVERY: sends the frames of a pcap (Ethernet, IPv4, TCP) to an interface again and again for so long, at most MBIT
 * Mb/s, each time from other addresses: another connection. In each EVERY-th of them one frame has two 16-bit words of
 * its payload exchanged: the checksums of IP and TCP stay right, the CRC of the FPDU in it is wrong. Standard output gets the
 * address of the initiator of each of these, standard error the number of connections, frames and octets at the end.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { FRAMES_MOST = 65536, BATCH = 64, IP_AT = 14, SPOILED_LEAST = 200 };

struct frame {
    uint8_t *octets;
    unsigned length, tcp, payload;
};

static struct frame frames[FRAMES_MOST];
static size_t frame_count, spoiled, spoiled_at;

_Noreturn static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint32_t record[4];
    uint8_t head[24];

    if (file == NULL || fread(head, sizeof(head), 1, file) != 1)
        die(path);
    while (frame_count < FRAMES_MOST && fread(record, sizeof(record), 1, file) == 1) {
        struct frame *frame = &frames[frame_count++];

        frame->length = record[2];
        frame->octets = malloc(record[2]);
        if (frame->octets == NULL || fread(frame->octets, record[2], 1, file) != 1)
            die(path);
        frame->tcp = IP_AT + (frame->octets[IP_AT] & 15) * 4U;
        frame->payload = frame->tcp + (frame->octets[frame->tcp + 12] >> 4) * 4U;
    }
    (void)fclose(file);
}

/* The words that are exchanged are behind the headers of an FPDU that begins in the frame, and differ. */
static void choose_spoiled(void)
{
    for (spoiled = frame_count / 2; spoiled < frame_count; spoiled++) {
        const struct frame *frame = &frames[spoiled];

        for (unsigned at = frame->payload + 60;
             at + 4 < frame->length && frame->length - frame->payload > SPOILED_LEAST; at += 2)
            if (memcmp(frame->octets + at, frame->octets + at + 2, 2) != 0) {
                spoiled_at = at;
                return;
            }
    }
    (void)fprintf(stderr, "bench_mirror: no frame has words to exchange\n");
    exit(EXIT_FAILURE);
}

/* RFC 1624 */
static void update_checksum(uint8_t *sum, const uint8_t *from, const uint8_t *to)
{
    uint32_t total = (uint16_t) ~(unsigned)(sum[0] << 8 | sum[1]);

    for (unsigned i = 0; i < 4; i += 2)
        total += (uint16_t) ~(unsigned)(from[i] << 8 | from[i + 1]) + (uint32_t)(to[i] << 8 | to[i + 1]);
    total = (total & 0xFFFF) + (total >> 16);
    total = (total & 0xFFFF) + (total >> 16);
    sum[0] = (uint8_t)(~total >> 8);
    sum[1] = (uint8_t)~total;
}

/* Both addresses get the number of the connection, and keep their last octet. */
static void renumber(struct frame *frame, uint32_t number)
{
    for (unsigned at = IP_AT + 12; at < IP_AT + 20; at += 4) {
        uint8_t *address = frame->octets + at;
        uint8_t to[4] = {(uint8_t)(11 + (number >> 16)), (uint8_t)(number >> 8), (uint8_t)number, address[3]};

        update_checksum(frame->octets + IP_AT + 10, address, to);
        update_checksum(frame->octets + frame->tcp + 16, address, to);
        memcpy(address, to, sizeof(to));
    }
}

static void exchange(void)
{
    uint8_t word[2], *at = frames[spoiled].octets + spoiled_at;

    memcpy(word, at, 2);
    memcpy(at, at + 2, 2);
    memcpy(at + 2, word, 2);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void send_batch(int out, size_t first, size_t count)
{
    struct mmsghdr messages[BATCH];
    struct iovec pieces[BATCH];
    size_t done = 0;

    memset(messages, 0, sizeof(messages));
    for (size_t i = 0; i < count; i++) {
        pieces[i] = (struct iovec){frames[first + i].octets, frames[first + i].length};
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    while (done < count) {
        int sent = sendmmsg(out, messages + done, (unsigned)(count - done), 0);

        if (sent <= 0)
            die("sendmmsg");
        done += (size_t)sent;
    }
}

static int open_interface(const char *name)
{
    struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(name)};
    int out = socket(AF_PACKET, SOCK_RAW, 0);

    if (out < 0 || place.sll_ifindex == 0 || bind(out, (struct sockaddr *)&place, sizeof(place)) != 0)
        die(name);
    return out;
}

/* Not faster than that; what a stop has cost is not made up for. */
static void keep_pace(uint64_t *due_ns, uint64_t octets, uint64_t mbit)
{
    uint64_t now = now_ns();

    if (*due_ns + UINT64_C(100000000) < now)
        *due_ns = now;
    *due_ns += octets * 8000 / mbit;
    if (*due_ns > now + 1000000)
        (void)nanosleep(&(struct timespec){.tv_nsec = (long)((*due_ns - now) % 1000000000)}, NULL);
}

int main(int argc, char **argv)
{
    uint64_t connections = 0, sent = 0, octets = 0, due, end;
    unsigned long mbit, every;
    int out;

    if (argc != 6)
        return EXIT_FAILURE;
    load(argv[2]);
    choose_spoiled();
    out = open_interface(argv[1]);
    mbit = strtoul(argv[4], NULL, 10);
    every = strtoul(argv[5], NULL, 10);
    due = now_ns();
    for (end = due + strtoul(argv[3], NULL, 10) * UINT64_C(1000000000); now_ns() < end; connections++) {
        bool is_spoiled = connections % every == every - 1;

        for (size_t i = 0; i < frame_count; i++)
            renumber(&frames[i], (uint32_t)connections);
        if (is_spoiled) {
            exchange();
            (void)printf("%u.%u.%u.%u\n", frames[0].octets[26], frames[0].octets[27], frames[0].octets[28],
                         frames[0].octets[29]);
        }
        for (size_t i = 0; i < frame_count; i += BATCH) {
            size_t count = frame_count - i < BATCH ? frame_count - i : BATCH;
            uint64_t batch = 0;

            for (size_t j = i; j < i + count; j++)
                batch += frames[j].length;
            send_batch(out, i, count);
            keep_pace(&due, batch, mbit);
            octets += batch;
            sent += count;
        }
        if (is_spoiled)
            exchange();
    }
    (void)fprintf(stderr, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", connections, sent, octets);
    return EXIT_SUCCESS;
}
