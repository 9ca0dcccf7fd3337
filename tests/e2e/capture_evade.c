/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_evade ATTACK FRAME IN OUT: a classic pcap file of Ethernet and IPv4 with segments that its receivers' TCP
 * does not accept, before FRAME (from 1), which carries octets of the stream. What follows them must count as before.
 * ATTACK:
 *
 *     syn     a SYN with another number       ahead   six segments beyond the window
 *     ack     six acknowledgments of octets that nobody has sent
 *     no-ack  other octets, without ACK       reset   an RST outside the window
 *     fin     a FIN far ahead                 sum     other octets, with a wrong checksum
 *     twice   other octets in FRAME's place, of which nobody knows whether the receiver took them
 *     both    an acknowledgment far ahead, then eight segments beyond the window, which it seems to confirm
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 24, RECORD = 16, IP = 14, TCP = 34, FRAME_MAX = 65536 };
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

struct record {
    uint8_t head[RECORD];
    uint8_t octets[FRAME_MAX];
    uint32_t captured;
};

static uint32_t get32_little(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void add32(uint8_t *at, uint32_t count)
{
    uint32_t value = ((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]) + count;

    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t sum(const uint8_t *octets, size_t count)
{
    uint32_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += i % 2 == 0 ? (uint32_t)octets[i] << 8 : octets[i];
    return total;
}

/* The TCP checksum, `spoil` added. */
static void set_checksum(struct record *record, uint8_t spoil)
{
    size_t length = (size_t)(record->octets[IP + 2] << 8 | record->octets[IP + 3]) - 20;
    uint32_t total;

    record->octets[TCP + 16] = record->octets[TCP + 17] = 0;
    total = sum(record->octets + IP + 12, 8) + 6 + (uint32_t)length + sum(record->octets + TCP, length);
    while (total >> 16 != 0)
        total = (total & 0xFFFF) + (total >> 16);
    record->octets[TCP + 16] = (uint8_t)(~total >> 8);
    record->octets[TCP + 17] = (uint8_t)(~total ^ spoil);
}

/* Leaves the TCP header alone. */
static void empty(struct record *record)
{
    size_t header = (size_t)(record->octets[TCP + 12] >> 4) * 4;

    record->octets[IP + 2] = 0;
    record->octets[IP + 3] = (uint8_t)(20 + header);
    record->captured = (uint32_t)(TCP + header);
    for (unsigned i = 0; i < 4; i++)
        record->head[8 + i] = record->head[12 + i] = (uint8_t)(record->captured >> (8 * i));
}

static void garble(struct record *record)
{
    size_t header = (size_t)(record->octets[TCP + 12] >> 4) * 4;

    for (size_t i = TCP + header + 2; i < record->captured; i++)
        record->octets[i] ^= 0xA5;
}

static void put(FILE *out, struct record *record, uint8_t spoil)
{
    set_checksum(record, spoil);
    fwrite(record->head, 1, RECORD, out);
    fwrite(record->octets, 1, record->captured, out);
}

static void put_ahead(FILE *out, const struct record *frame, unsigned count)
{
    static struct record record;
    uint8_t *tcp = record.octets + TCP;

    record = *frame;
    garble(&record);
    add32(tcp + 4, 1 << 18);
    for (unsigned i = 0; i < count; i++) {
        put(out, &record, 0);
        add32(tcp + 4, record.captured - TCP - (uint32_t)(tcp[12] >> 4) * 4);
    }
}

/* Acknowledgments by the other side of `ahead` octets more than it had. */
static void put_acks(FILE *out, const struct record *frame, uint32_t ahead, unsigned count)
{
    static struct record record;
    uint8_t *tcp = record.octets + TCP;

    record = *frame;
    empty(&record);
    memcpy(record.octets + IP + 12, frame->octets + IP + 16, 4);
    memcpy(record.octets + IP + 16, frame->octets + IP + 12, 4);
    memcpy(tcp, frame->octets + TCP + 2, 2);
    memcpy(tcp + 2, frame->octets + TCP, 2);
    memcpy(tcp + 4, frame->octets + TCP + 8, 4);
    memcpy(tcp + 8, frame->octets + TCP + 4, 4);
    tcp[13] = ACK;
    add32(tcp + 8, ahead);
    for (unsigned i = 0; i < count; i++)
        put(out, &record, 0);
}

/* Writes what comes before the frame; -1: there is no such attack. */
static int attack(FILE *out, const char *name, const struct record *frame)
{
    static struct record record;
    uint8_t *tcp = record.octets + TCP;

    record = *frame;
    if (strcmp(name, "syn") == 0 || strcmp(name, "reset") == 0 || strcmp(name, "fin") == 0) {
        empty(&record);
        tcp[13] = name[0] == 's' ? SYN : name[0] == 'r' ? RST : FIN | ACK;
        add32(tcp + 4, name[0] == 's' ? 0x40000000 : 1 << 18);
        put(out, &record, 0);
    } else if (strcmp(name, "ahead") == 0) {
        put_ahead(out, frame, 6);
    } else if (strcmp(name, "ack") == 0) {
        put_acks(out, frame, 5000, 6);
    } else if (strcmp(name, "both") == 0) {
        put_acks(out, frame, 1 << 19, 1);
        put_ahead(out, frame, 8);
    } else if (strcmp(name, "no-ack") == 0 || strcmp(name, "sum") == 0 || strcmp(name, "twice") == 0) {
        garble(&record);
        if (name[0] == 'n')
            tcp[13] = 0;
        put(out, &record, name[0] == 's' ? 1 : 0);
    } else {
        return -1;
    }
    return 0;
}

int main(int count, char **words)
{
    static struct record record;
    uint8_t head[HEAD];
    FILE *in, *out;
    unsigned long at;

    if (count != 5 || (in = fopen(words[3], "rb")) == NULL || (out = fopen(words[4], "wb")) == NULL ||
        fread(head, 1, HEAD, in) != HEAD || get32_little(head) != 0xA1B2C3D4)
        return 2;
    at = strtoul(words[2], NULL, 10);
    fwrite(head, 1, HEAD, out);
    for (unsigned long number = 1; fread(record.head, 1, RECORD, in) == RECORD; number++) {
        record.captured = get32_little(record.head + 8);
        if (record.captured > FRAME_MAX || fread(record.octets, 1, record.captured, in) != record.captured)
            return 2;
        if (number == at && attack(out, words[1], &record) != 0)
            return 2;
        fwrite(record.head, 1, RECORD, out);
        fwrite(record.octets, 1, record.captured, out);
    }
    return fclose(in) != 0 || fclose(out) != 0 ? 2 : 0;
}
