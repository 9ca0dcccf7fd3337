/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receive path of both roles, by messages: the input is a list of them, and each goes out with the header that its
 * opcode asks for - STag, Tagged Offset, MSN and MO as they should be at that point - but for what its flags turn
 * wrong; so does the FPDU around it, with the Markers and the CRC that start-up agreed on. Whatever comes:
 *  - memory of another stream is untouched, and after an error nothing is placed or delivered any more;
 *  - there is one Terminate at most;
 *  - each posted work is completed or flushed, once;
 *  - what the stream says itself is well-formed.
 */
#include "iwarp/stream.h"
#include "tests/fuzz/fuzz.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "base/octets.h"
#include "wire/rdmap.h"

enum {
    OPTIONS = 4,
    BUFFERS = 6,
    BUFFER_OCTETS = 64,
    REGION = 512,
    STAG = 0x01020304,
    FOREIGN_STAG = 0x0A0B0C0D,
    MESSAGES = 64,
    OUTPUT_MAX = 1 << 20,
};

enum {
    WRONG_STAG = 1,
    WRONG_TO = 2,
    WRONG_MSN = 4,
    WRONG_MO = 8,
    WRONG_CRC = 16,
    WRONG_BIT = 32,
    WRONG_VERSION = 64,
    POST = 128
};

struct talk {
    struct iwarp_stream *stream;
    struct iwarp_stream_config config;
    struct fpdu_framing in, out;
    uint64_t region[REGION / 8], at_error[REGION / 8], foreign[REGION / 8];
    uint8_t buffers[BUFFERS][BUFFER_OCTETS];
    uint32_t msn[4], mo[4];
    uint64_t to;
    size_t posted, completed, terminates;
    bool error;
    uint8_t *said; /* OUTPUT_MAX octets */
    size_t said_count, portion;
    uint64_t now;
};

static void listen_to(struct talk *talk)
{
    struct iwarp_output output;
    struct iwarp_event event;

    while (iwarp_stream_output(talk->stream, &output) != 0) {
        size_t left = talk->said_count & 1 ? output.octets : (output.octets + 1) / 2, taken = left;

        FUZZ_HOLDS(talk->said_count + output.octets <= OUTPUT_MAX);
        for (size_t i = 0; i < output.span_count && left != 0; i++) {
            size_t count = output.spans[i].count < left ? output.spans[i].count : left;

            memcpy(talk->said + talk->said_count, output.spans[i].octets, count);
            talk->said_count += count;
            left -= count;
        }
        iwarp_stream_output_done(talk->stream, taken, talk->now);
    }
    while (iwarp_stream_poll(talk->stream, &event)) {
        switch (event.kind) {
        case IWARP_EVENT_RECEIVE: FUZZ_HOLDS(!talk->error && event.octets <= BUFFER_OCTETS); /* fall through */
        case IWARP_EVENT_SEND_DONE:
        case IWARP_EVENT_WRITE_DONE:
        case IWARP_EVENT_READ_DONE:
        case IWARP_EVENT_ATOMIC_DONE:
        case IWARP_EVENT_IMMEDIATE_DONE:
        case IWARP_EVENT_FLUSHED: talk->completed++; break;
        case IWARP_EVENT_TERMINATE_SENT: FUZZ_HOLDS(talk->terminates++ == 0); break;
        case IWARP_EVENT_ERROR:
            if (!talk->error)
                memcpy(talk->at_error, talk->region, REGION);
            talk->error = true;
            break;
        default: break;
        }
    }
    FUZZ_HOLDS(talk->completed <= talk->posted);
}

static void hear(struct talk *talk, const uint8_t *octets, size_t count)
{
    for (size_t at = 0; at < count;) {
        size_t portion = count - at < talk->portion ? count - at : talk->portion;
        uint8_t *copy = fuzz_copy(octets + at, portion);
        uint8_t *space;
        size_t room = talk->now & 1 ? iwarp_stream_input_space(talk->stream, &space) : 0;

        talk->now++;
        if (room != 0) {
            portion = portion < room ? portion : room;
            memcpy(space, copy, portion);
            iwarp_stream_input_filled(talk->stream, portion, talk->now);
        } else {
            iwarp_stream_input(talk->stream, copy, portion, talk->now);
        }
        free(copy);
        at += portion;
        listen_to(talk);
    }
}

static void post(struct talk *talk, unsigned what)
{
    static const uint8_t payload[100] = {1, 2, 3};
    struct iwarp_send send = {.octets = payload, .count = what * 7 % 100, .solicited = what & 1, .fence = what & 8};
    struct iwarp_write write = {.octets = payload, .count = what % 100, .stag = 7, .fence = what & 8};
    struct iwarp_read read = {.sink_stag = STAG, .sink_to = what, .source_stag = 1, .count = 40};
    struct iwarp_atomic atomic = {.operation = IWARP_ATOMIC_FETCH_ADD, .stag = 5, .data = 1};
    struct iwarp_immediate immediate = {.solicited = true};
    int result;

    switch (what % 6) {
    case 0:
        result = iwarp_stream_post_receive(talk->stream, 0, talk->buffers[what % BUFFERS], BUFFER_OCTETS, NULL);
        break;
    case 1: result = iwarp_stream_post_send(talk->stream, &send, NULL); break;
    case 2: result = iwarp_stream_post_write(talk->stream, &write, NULL); break;
    case 3: result = iwarp_stream_post_read(talk->stream, &read, NULL); break;
    case 4: result = iwarp_stream_post_atomic(talk->stream, &atomic, NULL); break;
    default: result = iwarp_stream_post_immediate(talk->stream, &immediate, NULL); break;
    }
    talk->posted += result == 0;
}

static const uint8_t queues[16] = {[IWARP_RDMAP_READ_REQUEST] = 1,
                                   [IWARP_RDMAP_TERMINATE] = 2,
                                   [IWARP_RDMAP_ATOMIC_REQUEST] = 1,
                                   [IWARP_RDMAP_ATOMIC_RESPONSE] = 3};

/* What is after the DDP and RDMAP headers of `opcode`, before its payload. */
static size_t body(const struct talk *talk, unsigned opcode, unsigned flags, uint8_t wrong, uint8_t *out)
{
    uint32_t stag = flags & WRONG_STAG ? FOREIGN_STAG - (wrong & 1) : STAG;
    uint64_t to = flags & WRONG_TO ? (uint64_t)REGION - wrong : (wrong & 7) * 8u;

    if (opcode == IWARP_RDMAP_READ_REQUEST) {
        memset(out, 0, 28);
        octets_put32(out, 0x77);
        octets_put32(out + 12, wrong);
        octets_put32(out + 16, stag);
        octets_put64(out + 20, to);
        return 28;
    }
    if (opcode == IWARP_RDMAP_ATOMIC_REQUEST) {
        memset(out, 0, 52);
        out[3] = wrong & 0xF;
        octets_put32(out + 4, talk->msn[1]);
        octets_put32(out + 8, stag);
        octets_put64(out + 12, to);
        octets_put64(out + 20, wrong);
        memset(out + 44, wrong, 8);
        return 52;
    }
    if (opcode == IWARP_RDMAP_ATOMIC_RESPONSE) {
        octets_put32(out, flags & WRONG_TO ? wrong : talk->msn[3] - 1);
        octets_put64(out + 4, wrong);
        return 12;
    }
    if (opcode == IWARP_RDMAP_TERMINATE) {
        octets_put32(out, (uint32_t)wrong << 24 | (uint32_t)flags << 8);
        return 4;
    }
    return 0;
}

static size_t ulpdu(struct talk *talk, unsigned opcode, bool last, unsigned flags, uint8_t wrong, uint8_t *out)
{
    bool tagged = opcode == IWARP_RDMAP_WRITE || opcode == IWARP_RDMAP_READ_RESPONSE;
    unsigned qn = queues[opcode & 15];

    out[0] = (uint8_t)((tagged ? 0x80 : 0) | (last ? 0x40 : 0) | (flags & WRONG_VERSION ? wrong & 3 : 1));
    out[1] = (uint8_t)((flags & WRONG_VERSION ? wrong & 0xC0 : 0x40) | opcode);
    if (tagged) {
        octets_put32(out + 2, flags & WRONG_STAG ? FOREIGN_STAG - (wrong & 1) : STAG);
        octets_put64(out + 6, flags & WRONG_TO ? (uint64_t)REGION - wrong : talk->to);
        return 14;
    }
    octets_put32(out + 2, flags & WRONG_STAG ? FOREIGN_STAG - (wrong & 1) : STAG);
    octets_put32(out + 6, flags & WRONG_VERSION ? wrong : qn);
    octets_put32(out + 10, flags & WRONG_MSN ? wrong : talk->msn[qn]);
    octets_put32(out + 14, flags & WRONG_MO ? wrong : talk->mo[qn]);
    return 18 + body(talk, opcode, flags, wrong, out + 18);
}

/* One message, or a segment of one; returns what it took of the input. */
static size_t message(struct talk *talk, const uint8_t *data, size_t size)
{
    uint8_t segment[512], fpdu[1024];
    unsigned opcode = data[0] & 15, flags = data[1];
    bool last = (data[0] & 16) == 0;
    size_t payload = size - 4 < data[3] ? size - 4 : data[3], count, octets;

    if (flags & POST)
        post(talk, data[2]);
    if (data[0] & 32) {
        count = payload; /* as it is */
        memcpy(segment, data + 4, payload);
    } else {
        count = ulpdu(talk, opcode, last, flags, data[2], segment);
        memcpy(segment + count, data + 4, payload);
        count += payload;
        if (opcode == IWARP_RDMAP_WRITE || opcode == IWARP_RDMAP_READ_RESPONSE) {
            talk->to = last ? 0 : talk->to + payload;
        } else {
            talk->mo[queues[opcode]] = last ? 0 : talk->mo[queues[opcode]] + (uint32_t)payload;
            talk->msn[queues[opcode]] += last;
        }
    }
    octets = fpdu_pack(segment, count, &talk->in, fpdu, sizeof(fpdu));
    FUZZ_HOLDS(octets != 0);
    talk->in.position += (uint32_t)octets;
    if (flags & WRONG_CRC)
        fpdu[octets - 1] ^= 1;
    if (flags & WRONG_BIT)
        fpdu[data[2] % octets] ^= 0x10;
    hear(talk, fpdu, octets);
    return 4 + payload;
}

/* --- Start-up ---------------------------------------------------------------------------------------------------- */

static void configure(struct talk *talk, const uint8_t *data)
{
    struct iwarp_stream_config *config = &talk->config;

    iwarp_stream_config_default(config, data[0] & 1 ? IWARP_INITIATOR : IWARP_RESPONDER);
    config->markers = data[0] & 2;
    config->crc = !(data[0] & 4);
    config->revision = data[0] & 8 ? 1 : 2;
    config->enhanced = !(data[0] & 16);
    config->peer_to_peer = config->role == IWARP_INITIATOR && config->revision == 2 && config->enhanced && data[0] & 32;
    config->extensions = (enum iwarp_extensions)(data[0] >> 6 == 3 ? 2 : data[0] >> 6);
    config->emss = data[3] & 1 ? 1460 : 128;
    config->number = 1;
}

/* The peer's frame, and what is agreed with it. */
static void introduce(struct talk *talk, uint8_t options)
{
    const struct iwarp_stream_config *config = &talk->config;
    struct iwarp_mpa_start start = {.kind = config->role == IWARP_RESPONDER ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY,
                                    .revision = config->revision,
                                    .enhanced = config->enhanced && config->revision == 2,
                                    .markers = options & 1,
                                    .crc = (options & 2) == 0,
                                    .peer_to_peer = config->peer_to_peer || options & 4,
                                    .rtr_send = true,
                                    .rtr_write = options & 8,
                                    .rtr_read = options & 16,
                                    .ird = 4,
                                    .ord = 4};
    uint8_t frame[MPA_START_MAX];

    talk->in = (struct fpdu_framing){config->markers, start.crc || config->crc, 0};
    talk->out = (struct fpdu_framing){start.markers, start.crc || config->crc, 0};
    hear(talk, frame, mpa_start_pack(&start, frame, sizeof(frame)));
}

/* One start-up frame, then whole FPDUs. */
static void expect_well_formed(struct talk *talk)
{
    static uint8_t scratch[FPDU_SCRATCH_OCTETS];
    const uint8_t *p = talk->said, *end = talk->said + talk->said_count;
    struct iwarp_mpa_start start;
    struct fpdu fpdu;

    FUZZ_HOLDS(p == end ||
               mpa_start_parse(&p, end, talk->config.role == IWARP_INITIATOR ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY,
                               &start) == WIRE_OK);
    for (const uint8_t *before = p; p != end; before = p) {
        FUZZ_HOLDS(fpdu_parse(&p, end, &talk->out, scratch, &fpdu) == WIRE_OK);
        FUZZ_HOLDS(fpdu.bad_marker == SIZE_MAX && fpdu.pad_zero);
        talk->out.position += (uint32_t)(p - before);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    struct iwarp_region region = {.stag = STAG, .length = REGION, .access = 31, .stream = 1};
    struct iwarp_region foreign = {.stag = FOREIGN_STAG, .length = REGION, .access = 31, .stream = 2};
    struct iwarp_device *device = iwarp_device_new(NULL);
    static const uint64_t zeros[REGION / 8];
    static uint8_t said[OUTPUT_MAX];

    if (talk == NULL || device == NULL)
        abort();
    talk->said = said;
    if (size >= OPTIONS) {
        region.octets = (uint8_t *)talk->region;
        foreign.octets = (uint8_t *)talk->foreign;
        FUZZ_HOLDS(iwarp_region_register(device, &region, NULL) == 0);
        FUZZ_HOLDS(iwarp_region_register(device, &foreign, NULL) == 0);
        configure(talk, data);
        talk->portion = data[2] == 0 ? SIZE_MAX : data[2];
        talk->now = 1;
        for (int i = 0; i < 4; i++)
            talk->msn[i] = 1;
        talk->stream = iwarp_stream_new(device, &talk->config, talk->now, NULL);
        FUZZ_HOLDS(talk->stream != NULL);
        for (unsigned i = 0; i < 4; i++)
            post(talk, 0);
        for (unsigned i = 1; data[3] & 2 && i < 12; i++)
            post(talk, i);
        listen_to(talk);
        introduce(talk, data[1]);
        data += OPTIONS;
        size -= OPTIONS;
        for (size_t i = 0; i < MESSAGES && size >= 4; i++) {
            size_t taken = message(talk, data, size);

            data += taken;
            size -= taken;
        }
        iwarp_stream_input_fin(talk->stream, ++talk->now);
        listen_to(talk);
        iwarp_stream_disconnect(talk->stream, ++talk->now);
        iwarp_stream_tick(talk->stream, UINT64_MAX - 1);
        listen_to(talk);
        FUZZ_HOLDS(talk->completed == talk->posted);
        FUZZ_HOLDS(!talk->error || memcmp(talk->region, talk->at_error, REGION) == 0);
        FUZZ_HOLDS(memcmp(talk->foreign, zeros, REGION) == 0);
        expect_well_formed(talk);
        iwarp_stream_free(talk->stream);
    }
    iwarp_device_free(device);
    free(talk);
    return 0;
}
