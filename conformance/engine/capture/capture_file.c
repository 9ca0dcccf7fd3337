/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_file.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/capture/capture_folder.h"
#include "conformance/engine/capture/capture_packed.h"
#include "conformance/engine/capture/capture_pcap.h"
#include "conformance/engine/capture/capture_pcapng.h"
#include "conformance/flow/link/flow_link.h"
#include "base/out_of_memory.h"

enum { READ_BUFFER = 1 << 18, NANOSECONDS = 1000000000 };

struct capture_file {
    pcap_t *pcap;                  /* of a pcap file that libpcap reads, which closes the FILE */
    struct capture_pcapng *pcapng; /* of a pcapng file */
    struct capture_packed *packed; /* of a compressed file */
    struct capture_input *input;   /* of all that libpcap does not read */
    struct capture_pcap plain;     /* of a pcap file, if there is an input, and no `pcapng` */
    FILE *file;                    /* that the input reads */
    char *path;
    char *buffer; /* of the FILE */
    uint32_t link;
    uint64_t frames;
    bool regular;
};

/* DLT_RAW has other numbers in files than in programs; the rest is the same for what the decoder reads. */
static uint32_t link_of(int dlt)
{
    return dlt == DLT_RAW ? FLOW_LINK_RAW : (uint32_t)dlt;
}

/* What decompressing says goes before what became of the octets that it did not give. True: it said something. */
static bool explain_packed(const struct capture_file *capture, struct iwarp_sentence *error)
{
    const char *why = capture_packed_error(capture->packed);

    if (why[0] != '\0')
        (void)iwarp_sentence_set(error, "%s: cannot be read after frame %llu: %s", capture->path,
                                 (unsigned long long)capture->frames, why);
    return why[0] != '\0';
}

/* Says in our words what libpcap says of files that it does not read. */
static void explain(const struct capture_file *capture, const char *reason, struct iwarp_sentence *error)
{
    const char *path = capture->path;
    uint64_t frames = capture->frames;

    if (explain_packed(capture, error))
        return;
    if (strstr(reason, "malloc") != NULL || strstr(reason, "out of memory") != NULL)
        out_of_memory_note();
    if (strstr(reason, "unknown file format") != NULL || strstr(reason, "archaic") != NULL)
        iwarp_sentence_set(error, "%s: is not a capture (pcap or pcapng was expected): %s", path, reason);
    else if (strstr(reason, "file header bytes, only got 0") != NULL)
        iwarp_sentence_set(error, "%s: is empty, a capture was expected (pcap or pcapng)", path);
    else if (strstr(reason, "file header bytes, only got") != NULL)
        iwarp_sentence_set(error, "%s: is too short for a capture (pcap or pcapng was expected)", path);
    else if (strstr(reason, "truncated") != NULL)
        iwarp_sentence_set(error,
                           "%s: ends abruptly after frame %llu (%s): the frames before it count, capture again for the "
                           "rest",
                           path, (unsigned long long)frames, reason);
    else
        iwarp_sentence_set(error, "%s: cannot be read after frame %llu: %s", path, (unsigned long long)frames, reason);
}

/* Standard input, by a descriptor of its own: closing the capture leaves descriptor 0 as it is. */
static FILE *open_input(struct iwarp_sentence *error)
{
    int own = dup(STDIN_FILENO);
    FILE *file = own >= 0 ? fdopen(own, "rb") : NULL;

    if (file != NULL)
        return file;
    (void)iwarp_sentence_set(error, "standard input: %s", strerror(errno));
    if (own >= 0)
        (void)close(own);
    return NULL;
}

static FILE *open_octets(const char *path, bool *regular, struct iwarp_sentence *error)
{
    struct stat status;
    FILE *file;

    *regular = false;
    if (strcmp(path, CAPTURE_INPUT) == 0)
        return open_input(error);
    if (stat(path, &status) != 0) {
        iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (S_ISDIR(status.st_mode)) {
        iwarp_sentence_set(error, "%s: is a folder; a capture was expected", path);
        return NULL;
    }
    if (S_ISREG(status.st_mode) && status.st_size == 0) {
        iwarp_sentence_set(error, "%s: is empty, a capture was expected (pcap or pcapng)", path);
        return NULL;
    }
    *regular = S_ISREG(status.st_mode);
    file = fopen(path, "rb");
    if (file == NULL)
        iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    return file;
}

/* Whether a pcapng section begins there; what was read of it is put back when not. */
static bool is_pcapng(FILE *file)
{
    static const uint8_t section[PCAPNG_MAGIC_OCTETS] = {0x0A, 0x0D, 0x0D, 0x0A};
    uint8_t magic[PCAPNG_MAGIC_OCTETS];
    size_t have = fread(magic, 1, sizeof(magic), file);

    if (have == sizeof(magic) && memcmp(magic, section, sizeof(section)) == 0)
        return true;
    while (have > 0)
        if (ungetc(magic[--have], file) == EOF)
            return false; /* libpcap finds no capture then */
    return false;
}

static int open_pcap(struct capture_file *capture, FILE *file, struct iwarp_sentence *error)
{
    char reason[PCAP_ERRBUF_SIZE] = "";

    capture->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
    if (capture->pcap == NULL) {
        const char *obstacle = capture->regular ? capture_obstacle(capture->path) : NULL; /* a pipe is read once */

        if (obstacle != NULL)
            iwarp_sentence_set(error, "%s: %s", capture->path, obstacle);
        else
            explain(capture, reason, error);
        (void)fclose(file);
        return -1;
    }
    capture->link = link_of(pcap_datalink(capture->pcap));
    if (!flow_link_known(capture->link)) {
        const char *name = pcap_datalink_val_to_name(pcap_datalink(capture->pcap));

        return iwarp_sentence_set(
            error, "%s: link type %u (%s) is not supported; Ethernet, Linux cooked, raw IP and loopback are",
            capture->path, (unsigned)capture->link, name != NULL ? name : "unknown");
    }
    return 0;
}

static int open_pcapng(struct capture_file *capture, struct iwarp_sentence *error)
{
    capture->input = capture_input_new(capture->file, capture->regular && capture->packed == NULL, PCAPNG_MAGIC_OCTETS);
    if (capture->input == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", capture->path);
    capture->pcapng = capture_pcapng_open(capture->input, capture->path, error);
    if (capture->pcapng != NULL)
        return 0;
    (void)explain_packed(capture, error);
    return -1;
}

/* Whether it is a pcap file that can be read in place; the stream still stands at its beginning if not. */
static bool open_plain(struct capture_file *capture, FILE *file)
{
    if (!capture->regular || capture->packed != NULL)
        return false;
    capture->input = capture_input_new(file, true, 0);
    if (capture->input != NULL && capture_pcap_open(&capture->plain, capture->input))
        return true;
    capture_input_free(capture->input);
    capture->input = NULL;
    return false;
}

struct capture_file *capture_open(const char *path, struct iwarp_sentence *error)
{
    struct capture_file *capture = calloc(1, sizeof(*capture));
    FILE *file;
    bool opened;

    if (capture == NULL || (capture->path = strdup(path)) == NULL) {
        iwarp_sentence_set(error, "%s: out of memory", path);
        free(capture);
        return NULL;
    }
    file = open_octets(path, &capture->regular, error);
    if (file == NULL) {
        capture_close(capture);
        return NULL;
    }
    capture->buffer = malloc(READ_BUFFER);
    if (capture->buffer != NULL) /* before anything is read of it */
        (void)setvbuf(file, capture->buffer, _IOFBF, READ_BUFFER);
    file = capture_packed_open(file, &capture->packed, error);
    if (file == NULL) {
        iwarp_sentence_set(error, "%s: out of memory", path);
        capture_close(capture);
        return NULL;
    }
    if (is_pcapng(file)) {
        capture->file = file;
        opened = open_pcapng(capture, error) == 0;
    } else if (open_plain(capture, file)) {
        capture->file = file;
        opened = true;
    } else {
        opened = open_pcap(capture, file, error) == 0;
    }
    if (opened)
        return capture;
    capture_close(capture);
    return NULL;
}

/* A pcap file that is read in place. */
static int plain_next(struct capture_file *capture, struct flow_frame *frame, struct iwarp_sentence *error)
{
    struct iwarp_sentence reason;
    int rc = capture_pcap_next(&capture->plain, frame, &reason);

    capture->frames += rc == 1;
    if (rc < 0)
        explain(capture, reason.text, error);
    return rc;
}

int capture_next(struct capture_file *capture, struct flow_frame *frame, struct iwarp_sentence *error)
{
    struct pcap_pkthdr *header;
    const u_char *octets;
    int rc;

    if (capture->pcapng != NULL) {
        rc = capture_pcapng_next(capture->pcapng, frame, error);
        capture->frames += rc == 1;
        if (rc < 0)
            (void)explain_packed(capture, error);
        return rc;
    }
    if (capture->input != NULL)
        return plain_next(capture, frame, error);
    rc = pcap_next_ex(capture->pcap, &header, &octets);
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
    explain(capture, pcap_geterr(capture->pcap), error);
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

bool capture_place(const struct capture_file *capture, const struct flow_frame *frame, uint64_t *offset)
{
    FILE *file = capture->pcap != NULL ? pcap_file(capture->pcap) : NULL;
    off_t end;

    if (!capture->regular || capture->packed != NULL)
        return false;
    if (capture->pcapng != NULL) {
        *offset = capture_pcapng_place(capture->pcapng);
        return true;
    }
    if (capture->input != NULL) {
        *offset = capture_pcap_place(&capture->plain);
        return true;
    }
    end = file != NULL ? ftello(file) : -1; /* of what libpcap has read: nothing stands after the frame's octets */
    if (end < 0 || (uint64_t)end <= frame->captured)
        return false;
    *offset = (uint64_t)end - frame->captured;
    return is_there(fileno(file), *offset, frame->octets, frame->captured);
}

bool capture_place_of(const char *path, uint64_t number, uint64_t *offset, uint64_t *octets)
{
    struct iwarp_sentence ignored;
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

void capture_account(const struct capture_file *capture, struct flow_account *account)
{
    if (capture->pcapng != NULL)
        capture_pcapng_account(capture->pcapng, account);
}

bool capture_is_empty(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

uint64_t capture_frames(const struct capture_file *capture)
{
    return capture->frames;
}

bool capture_is_rereadable(const struct capture_file *capture)
{
    return capture->regular;
}

void capture_close(struct capture_file *capture)
{
    if (capture == NULL)
        return;
    if (capture->pcap != NULL)
        pcap_close(capture->pcap); /* closes the FILE, too */
    capture_pcapng_close(capture->pcapng);
    capture_input_free(capture->input);
    if (capture->file != NULL)
        (void)fclose(capture->file);
    capture_packed_free(capture->packed);
    free(capture->buffer);
    free(capture->path);
    free(capture);
}
