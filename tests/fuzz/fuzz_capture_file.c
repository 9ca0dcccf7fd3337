/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of anybody's that is read as a capture: pcap in both orders of octets and both units of time, and pcapng
 * with its blocks. Every frame that comes out goes through the decoder, whatever its link type. What does not hold
 * together is said once, in a sentence that begins with the path.
 *
 * A frame's place in the file is where its octets stand.
 */
#include "conformance/engine/capture/capture_file.h"
#include "conformance/flow/decoder.h"
#include "tests/fuzz/fuzz.h"

enum { FRAMES_MAX = 256, BLOCK_HEAD = 12, SECTION = 0x0A0D0D0A };

static void sink(void *user, const struct flow_event *event)
{
    (void)user;
    FUZZ_HOLDS(event->flow != NULL && event->frame != 0);
}

static void check_error(const char *path, const struct iwarp_sentence *error)
{
    FUZZ_HOLDS(strncmp(error->text, path, strlen(path)) == 0 && strchr(error->text, '\n') == NULL);
}

static void check_frame(const struct capture_file *capture, const struct flow_frame *frame, const uint8_t *data,
                        size_t size)
{
    uint64_t offset;

    FUZZ_HOLDS(frame->number == capture_frames(capture));
    fuzz_touch(frame->octets, frame->captured);
    if (!capture_place(capture, frame, &offset))
        return;
    FUZZ_HOLDS(offset <= size && frame->captured <= size - offset);
    FUZZ_HOLDS(frame->captured == 0 || memcmp(data + offset, frame->octets, frame->captured) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flow_config config = {.flows_max = 16, .half_buffer_max = 4096};
    const char *path = fuzz_file(0, data, size);
    struct iwarp_sentence error = {""};
    struct capture_file *capture = capture_open(path, &error);
    struct flow_decoder *decoder;
    struct flow_frame frame;
    int rc = 0;

    if (capture == NULL) {
        check_error(path, &error);
        return 0;
    }
    FUZZ_HOLDS(capture_is_rereadable(capture));
    decoder = flow_decoder_create(&config, sink, NULL);
    FUZZ_HOLDS(decoder != NULL);
    while (capture_frames(capture) < FRAMES_MAX && (rc = capture_next(capture, &frame, &error)) == 1) {
        check_frame(capture, &frame, data, size);
        flow_decoder_frame(decoder, &frame);
    }
    if (rc < 0)
        check_error(path, &error);
    flow_decoder_finish(decoder);
    FUZZ_HOLDS(flow_totals_balanced(flow_decoder_totals(decoder)));
    flow_decoder_destroy(decoder);
    capture_close(capture);
    return 0;
}

/*
 * ---- mutations ----------------------------------------------------------------------------------------------------
 */

static uint32_t get32(const uint8_t *octets, bool swapped)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return swapped ? __builtin_bswap32(value) : value;
}

static void put32(uint8_t *octets, uint32_t value, bool swapped)
{
    if (swapped)
        value = __builtin_bswap32(value);
    memcpy(octets, &value, sizeof(value));
}

/*
 * A block of pcapng says its length at its beginning and at its end, and libpcap reads no further where they differ:
 * what the mutation did to one of them is done to the other, and a block that has grown or shrunk is as long as it is.
 */
static void fix_blocks(uint8_t *data, size_t size)
{
    bool swapped = size >= BLOCK_HEAD && get32(data + 8, false) == UINT32_C(0x4D3C2B1A);

    for (size_t at = 0; at + BLOCK_HEAD <= size;) {
        size_t length = get32(data + at + 4, swapped);

        length = length < BLOCK_HEAD ? BLOCK_HEAD : length - length % 4;
        if (length > size - at)
            length = (size - at) - (size - at) % 4;
        put32(data + at + 4, (uint32_t)length, swapped);
        put32(data + at + length - 4, (uint32_t)length, swapped);
        at += length;
    }
}

/* The captured lengths of a pcap file's records: what does not fit gets as long as it can. */
static void fix_records(uint8_t *data, size_t size)
{
    uint32_t magic = get32(data, false);
    bool swapped = magic == UINT32_C(0xD4C3B2A1) || magic == UINT32_C(0x4D3CB2A1);

    for (size_t at = 24; at + 16 <= size;) {
        size_t length = get32(data + at + 8, swapped);

        if (length > size - at - 16) {
            length = size - at - 16;
            put32(data + at + 8, (uint32_t)length, swapped);
        }
        at += 16 + length;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint32_t choices = seed;

    size = LLVMFuzzerMutate(data, size, room);
    if (fuzz_choice(&choices, 8) == 0 || size < BLOCK_HEAD)
        return size;
    if (get32(data, false) == SECTION)
        fix_blocks(data, size);
    else
        fix_records(data, size);
    return size;
}
