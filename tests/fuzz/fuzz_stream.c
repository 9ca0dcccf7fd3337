/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receive path of both roles. The first octets choose options and how the rest is cut into portions; with `fixed`
 * the CRC of what looks like an FPDU is put right, so that the fuzzer gets past it.
 */
#include <stdlib.h>
#include <string.h>

#include "iwarp/stream.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPTIONS = 4, BUFFERS = 4, BUFFER_OCTETS = 256 };

static void drain(struct iwarp_stream *stream, uint64_t now)
{
    struct iwarp_output output;
    struct iwarp_event event;

    while (iwarp_stream_output(stream, &output) != 0) {
        uint32_t state = CRC32C_START;

        for (size_t i = 0; i < output.span_count; i++)
            state = crc32c_update(state, output.spans[i].octets, output.spans[i].count);
        /* Half a piece at times, so that what is left is asked for again. */
        iwarp_stream_output_done(stream, state & 1 ? output.octets : (output.octets + 1) / 2, now);
        iwarp_stream_set_packed(stream, (state >> 8) % 4096);
    }
    while (iwarp_stream_poll(stream, &event)) {
    }
}

/* The next `count` of the `left` octets. */
static void feed(struct iwarp_stream *stream, const uint8_t *options, const uint8_t *octets, size_t left, size_t count,
                 uint64_t *now)
{
    uint8_t *copy = malloc(count);

    if (copy == NULL)
        abort();
    if (options[2] & 0x20) {
        /* All that is still to come lies after a gap, at two places. */
        iwarp_stream_input_early(stream, 1 + options[1] % 64u, octets, left, (options[1] & 64) != 0, *now);
        iwarp_stream_input_early(stream, count, octets + count, left - count, true, *now);
    }
    memcpy(copy, octets, count);
    iwarp_stream_input(stream, copy, count, ++*now);
    free(copy);
    drain(stream, *now);
}

/* Puts the CRCs right of all whole FPDUs without Markers from `octets` on. */
static void repair(uint8_t *octets, size_t count)
{
    while (count >= FPDU_LENGTH_OCTETS + FPDU_CRC_OCTETS) {
        size_t fpdu = fpdu_content(octets_get16(octets));

        if (fpdu > count)
            return;
        octets_put32_little(octets + fpdu - FPDU_CRC_OCTETS, crc32c(octets, fpdu - FPDU_CRC_OCTETS));
        octets += fpdu;
        count -= fpdu;
    }
}

static void configure(struct iwarp_stream_config *config, const uint8_t *options)
{
    iwarp_stream_config_default(config, options[0] & 1 ? IWARP_INITIATOR : IWARP_RESPONDER);
    config->markers = (options[0] & 2) != 0;
    config->crc = (options[0] & 4) != 0;
    config->revision = options[0] & 8 ? 1 : 2;
    config->enhanced = (options[0] & 16) == 0;
    config->peer_to_peer =
        config->role == IWARP_INITIATOR && config->revision == 2 && config->enhanced && options[0] & 32;
    config->accept = (enum iwarp_accept_policy)(options[1] % 3);
    config->ird = options[1] >> 4;
    config->rtr = 1 + options[1] % 7;
    config->number = 1;
}

/* The start-up frame that lets the FPDUs after it through. */
static void introduce(struct iwarp_stream *stream, const struct iwarp_stream_config *config, uint8_t options,
                      uint64_t now)
{
    struct iwarp_mpa_start start = {.kind = config->role == IWARP_RESPONDER ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY,
                                    .revision = config->revision,
                                    .enhanced = config->enhanced && config->revision == 2,
                                    .markers = (options & 1) != 0,
                                    .crc = (options & 2) != 0,
                                    .peer_to_peer = (options & 4) != 0,
                                    .rtr_send = true,
                                    .rtr_write = true,
                                    .rtr_read = true,
                                    .ird = 4,
                                    .ord = 4};
    uint8_t frame[MPA_START_MAX];

    iwarp_stream_input(stream, frame, mpa_start_pack(&start, frame, sizeof(frame)), now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t buffers[BUFFERS][BUFFER_OCTETS];
    struct iwarp_region region = {.stag = 0x01020304, .base = 0, .length = 4096, .access = 15, .stream = 1};
    struct iwarp_read read = {.sink_stag = 0x01020304, .source_stag = 1, .count = 100};
    struct iwarp_stream_config config;
    struct iwarp_device *device;
    struct iwarp_stream *stream;
    uint64_t now = 1;
    uint8_t *octets;
    size_t portion;

    if (size < OPTIONS)
        return 0;
    configure(&config, data);
    portion = data[3] == 0 ? size : data[3];
    device = iwarp_device_new(NULL);
    octets = malloc(size);
    if (device == NULL || octets == NULL)
        abort();
    (void)iwarp_region_register(device, &region, NULL);
    stream = iwarp_stream_new(device, &config, now, NULL);
    if (stream == NULL)
        abort();
    for (uint64_t i = 0; i < BUFFERS; i++)
        (void)iwarp_stream_post_receive(stream, i, buffers[i], BUFFER_OCTETS, NULL);
    (void)iwarp_stream_post_read(stream, &read, NULL);
    size -= OPTIONS;
    memcpy(octets, data + OPTIONS, size);
    drain(stream, now);
    if (data[2] & 0x80) {
        introduce(stream, &config, data[2], now);
        (void)iwarp_stream_accept(stream, NULL, 0, -1, -1, now, NULL);
        if (data[2] & 0x40)
            repair(octets, size);
    }
    for (size_t at = 0; at < size; at += portion)
        feed(stream, data, octets + at, size - at, size - at < portion ? size - at : portion, &now);
    iwarp_stream_input_fin(stream, ++now);
    drain(stream, now);
    iwarp_stream_tick(stream, UINT64_MAX - 1);
    drain(stream, now);
    iwarp_stream_free(stream);
    iwarp_device_free(device);
    free(octets);
    return 0;
}
