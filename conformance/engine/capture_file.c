/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "conformance/engine/capture_file.h"

#include <dirent.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BUFFER = 1 << 18, DEPTH_MAX = 64, NANOSECONDS = 1000000000 };

struct capture_file {
    pcap_t *pcap;
    char *path;
    char *buffer; /* of the FILE that pcap reads */
    uint32_t link;
    uint64_t frames;
    bool regular;
};

/* DLT_RAW has other numbers in files than in programs; the rest is the same for what the decoder reads. */
static uint32_t link_of(int dlt)
{
    return dlt == DLT_RAW ? FLOW_LINK_RAW : (uint32_t)dlt;
}

/* Says in our words what libpcap says of files that it does not read. */
static void explain(const char *path, const char *reason, uint64_t frames, struct sentence *error)
{
    if (strstr(reason, "different from the type of the first interface") != NULL)
        sentence_set(error,
                     "%s: its interfaces have different link types, which libpcap does not read: split it, for example "
                     "with tshark -r FILE -Y 'frame.interface_id == 0' -w OUT",
                     path);
    else if (strstr(reason, "different from the snapshot length") != NULL)
        sentence_set(error,
                     "%s: its interfaces have different snapshot lengths, which libpcap does not read: rewrite it, for "
                     "example with editcap -F pcap FILE OUT",
                     path);
    else if (strstr(reason, "unknown file format") != NULL || strstr(reason, "archaic") != NULL)
        sentence_set(error, "%s: is no capture (pcap or pcapng was expected): %s", path, reason);
    else if (strstr(reason, "truncated") != NULL)
        sentence_set(error,
                     "%s: breaks off behind frame %llu (%s): what comes before it counts, capture again for the "
                     "rest",
                     path, (unsigned long long)frames, reason);
    else
        sentence_set(error, "%s: cannot be read further than frame %llu: %s", path, (unsigned long long)frames, reason);
}

static FILE *open_octets(const char *path, bool *regular, struct sentence *error)
{
    struct stat status;
    FILE *file;

    if (stat(path, &status) != 0) {
        sentence_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (S_ISDIR(status.st_mode)) {
        sentence_set(error, "%s: is a folder, a capture was expected", path);
        return NULL;
    }
    if (S_ISREG(status.st_mode) && status.st_size == 0) {
        sentence_set(error, "%s: is empty, a capture was expected (pcap or pcapng)", path);
        return NULL;
    }
    *regular = S_ISREG(status.st_mode);
    file = fopen(path, "rb");
    if (file == NULL)
        sentence_set(error, "%s: %s", path, strerror(errno));
    return file;
}

struct capture_file *capture_open(const char *path, struct sentence *error)
{
    struct capture_file *capture = calloc(1, sizeof(*capture));
    char reason[PCAP_ERRBUF_SIZE] = "";
    FILE *file;

    if (capture == NULL || (capture->path = strdup(path)) == NULL) {
        sentence_set(error, "%s: out of memory", path);
        free(capture);
        return NULL;
    }
    file = open_octets(path, &capture->regular, error);
    if (file == NULL) {
        capture_close(capture);
        return NULL;
    }
    capture->buffer = malloc(READ_BUFFER);
    if (capture->buffer != NULL)
        (void)setvbuf(file, capture->buffer, _IOFBF, READ_BUFFER);
    capture->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
    if (capture->pcap == NULL) {
        explain(path, reason, 0, error);
        fclose(file);
        capture_close(capture);
        return NULL;
    }
    capture->link = link_of(pcap_datalink(capture->pcap));
    if (!flow_link_known(capture->link)) {
        const char *name = pcap_datalink_val_to_name(pcap_datalink(capture->pcap));

        sentence_set(error, "%s: link type %u (%s) is not read; Ethernet, Linux cooked, raw IP and loopback are", path,
                     (unsigned)capture->link, name != NULL ? name : "unknown");
        capture_close(capture);
        return NULL;
    }
    return capture;
}

int capture_next(struct capture_file *capture, struct flow_frame *frame, struct sentence *error)
{
    struct pcap_pkthdr *header;
    const u_char *octets;
    int rc = pcap_next_ex(capture->pcap, &header, &octets);

    if (rc == 1) {
        frame->link = capture->link;
        frame->time_ns = (uint64_t)header->ts.tv_sec * NANOSECONDS + (uint64_t)header->ts.tv_usec;
        frame->number = ++capture->frames;
        frame->octets = octets;
        frame->captured = header->caplen;
        frame->length = header->len;
        return 1;
    }
    if (rc == PCAP_ERROR_BREAK)
        return 0;
    explain(capture->path, pcap_geterr(capture->pcap), capture->frames, error);
    return -1;
}

/* Whether the file has those octets there. */
static bool is_there(int file, uint64_t offset, const uint8_t *octets, size_t count)
{
    uint8_t piece[2048];

    for (size_t done = 0; done < count; done += sizeof(piece)) {
        size_t left = count - done < sizeof(piece) ? count - done : sizeof(piece);

        if (pread(file, piece, left, (off_t)(offset + done)) != (ssize_t)left ||
            memcmp(piece, octets + done, left) != 0)
            return false;
    }
    return true;
}

/* The length of the pcapng block that ends at `end`, by the copy of it that closes the block; 0: there is none. */
static uint32_t block_length(int file, uint64_t end)
{
    uint32_t length, front;

    if (end < 12 || pread(file, &length, sizeof(length), (off_t)(end - 4)) != (ssize_t)sizeof(length))
        return 0;
    for (unsigned order = 0; order < 2; order++, length = __builtin_bswap32(length)) {
        uint32_t written = order == 0 ? length : __builtin_bswap32(length);

        if (length >= 12 && length <= end &&
            pread(file, &front, sizeof(front), (off_t)(end - length + 4)) == (ssize_t)sizeof(front) && front == written)
            return length;
    }
    return 0;
}

bool capture_place(const struct capture_file *capture, const struct flow_frame *frame, uint64_t *offset)
{
    enum { SECTION = 0x0A0D0D0A, PACKET = 28, SIMPLE_PACKET = 12 }; /* octets of a block before the frame's */
    FILE *file = pcap_file(capture->pcap);
    off_t end = file != NULL && capture->regular ? ftello(file) : -1; /* of what libpcap has read: the frame's record */
    uint32_t first = 0, length;

    if (end < 0 || pread(fileno(file), &first, sizeof(first), 0) != (ssize_t)sizeof(first))
        return false;
    if (first != SECTION) { /* pcap: nothing behind the octets */
        *offset = (uint64_t)end - frame->captured;
        return (uint64_t)end > frame->captured && is_there(fileno(file), *offset, frame->octets, frame->captured);
    }
    length = block_length(fileno(file), (uint64_t)end);
    *offset = (uint64_t)end - length + PACKET;
    if (length > PACKET && is_there(fileno(file), *offset, frame->octets, frame->captured))
        return true;
    *offset = (uint64_t)end - length + SIMPLE_PACKET;
    return length > SIMPLE_PACKET && is_there(fileno(file), *offset, frame->octets, frame->captured);
}

bool capture_place_of(const char *path, uint64_t number, uint64_t *offset, uint64_t *octets)
{
    struct sentence ignored;
    struct capture_file *capture = capture_open(path, &ignored);
    struct flow_frame frame;
    bool known = false;

    while (capture != NULL && !known && capture->frames < number && capture_next(capture, &frame, &ignored) == 1)
        known = frame.number == number && capture_place(capture, &frame, offset);
    if (known)
        *octets = frame.captured;
    capture_close(capture);
    return known;
}

uint64_t capture_frames(const struct capture_file *capture)
{
    return capture->frames;
}

bool capture_again(const struct capture_file *capture)
{
    return capture->regular;
}

void capture_close(struct capture_file *capture)
{
    if (capture == NULL)
        return;
    if (capture->pcap != NULL)
        pcap_close(capture->pcap); /* closes the FILE, too */
    free(capture->buffer);
    free(capture->path);
    free(capture);
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static int append(struct capture_list *list, const char *path, struct sentence *error)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 16 : list->room * 2;
        char **grown = realloc(list->paths, room * sizeof(*grown));

        if (grown == NULL)
            return sentence_set(error, "%s: out of memory", path);
        list->paths = grown;
        list->room = room;
    }
    list->paths[list->count] = strdup(path);
    if (list->paths[list->count] == NULL)
        return sentence_set(error, "%s: out of memory", path);
    list->count++;
    return 0;
}

bool capture_name(const char *name)
{
    static const char *const endings[] = {".pcap", ".pcapng", ".cap"};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot != NULL && i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static int add_folder(struct capture_list *list, const char *path, unsigned depth, struct sentence *error)
{
    struct dirent **entries;
    int count, rc = 0;

    if (depth > DEPTH_MAX)
        return sentence_set(error, "%s: folders nest deeper than %d", path, DEPTH_MAX);
    count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        return sentence_set(error, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char *below = NULL;
        struct stat status;

        if (rc == 0 && name[0] != '.' && asprintf(&below, "%s/%s", path, name) >= 0) {
            if (lstat(below, &status) == 0 && S_ISDIR(status.st_mode))
                rc = add_folder(list, below, depth + 1, error);
            else if (capture_name(name) && stat(below, &status) == 0 && S_ISREG(status.st_mode))
                rc = append(list, below, error);
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int capture_list_add(struct capture_list *list, const char *path, struct sentence *error)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return sentence_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return append(list, path, error);
    return add_folder(list, path, 0, error);
}

void capture_list_free(struct capture_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct capture_list){0};
}
