/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ULP's side: two streams talk, and every octet is a call of one of them, sensible or not, or a portion of what TCP
 * does between them. Each payload, buffer and region has memory of its own, which is given back as soon as the API says
 * that it may be; each piece of work is reported once.
 */
#include "iwarp/instrument.h"
#include "iwarp/stream.h"
#include "tests/fuzz/fuzz.h"

enum { SIDES = 2, WORKS = 128, REGIONS = 4, REGION_OCTETS = 512, PIPE_OCTETS = 1 << 16 };

struct work {
    uint8_t *memory;
    bool open;
    bool receive;
};

struct side {
    struct iwarp_device *device;
    struct iwarp_stream *stream;
    struct work works[WORKS];
    size_t work_count;
    uint32_t stags[REGIONS];
    uint8_t *memory[REGIONS]; /* of those that the ULP owns */
    size_t sent, delivered;
    bool fin, fin_delivered, reset;
    bool freed; /* the device: it stays while the stream does */
    uint8_t pipe[PIPE_OCTETS];
};

struct talk {
    struct side sides[SIDES];
    const uint8_t *at, *end;
    uint64_t now;
};

static uint8_t next(struct talk *talk)
{
    return talk->at < talk->end ? *talk->at++ : 0;
}

static size_t next_size(struct talk *talk)
{
    uint8_t low = next(talk);

    return low & 0x80 ? (size_t)(low & 0x1F) << 8 | next(talk) : low;
}

static uint8_t *memory_of(size_t octets)
{
    uint8_t *memory = malloc(octets == 0 ? 1 : octets);

    FUZZ_HOLDS(memory != NULL);
    memset(memory, 0x5A, octets);
    return memory;
}

/*
 * --- Work ----------------------------------------------------------------------------------------------------------
 */

/* The next free number, with memory of its own; WORKS: there is none. */
static uint64_t begin(struct side *side, size_t octets, bool receive)
{
    if (side->work_count == WORKS)
        return WORKS;
    side->works[side->work_count] = (struct work){memory_of(octets), true, receive};
    return side->work_count++;
}

static void finish(struct side *side, uint64_t id)
{
    FUZZ_HOLDS(id < side->work_count && side->works[id].open); /* posted, and not reported before */
    side->works[id].open = false;
    free(side->works[id].memory);
}

static void posted(struct side *side, uint64_t id, int result)
{
    if (result != 0)
        finish(side, id);
}

static uint32_t stag_of(struct talk *talk, const struct side *of)
{
    uint8_t which = next(talk);

    return of->stags[which % REGIONS] ^ (which >= 0xF8 ? which : 0);
}

static void post(struct talk *talk, struct side *side, unsigned kind)
{
    const struct side *peer = &talk->sides[side == &talk->sides[0]];
    size_t octets = next_size(talk);
    uint8_t how = next(talk);
    uint64_t to = how & 0x80 ? UINT64_MAX - (how & 0x7F) : (how & 0x3F) * 8u;
    uint64_t id = begin(side, octets, kind == 0);
    const uint8_t *payload = how == 0x7F ? NULL : side->works[id % WORKS].memory;
    struct iwarp_send send = {.id = id, .octets = payload, .count = octets, .opcode = how >= 0x70 ? how - 0x70 : 0};
    struct iwarp_write write = {.id = id, .octets = payload, .count = octets, .to = to};
    struct iwarp_read read = {.id = id, .source_to = to, .count = (uint32_t)octets};
    struct iwarp_atomic atomic = {.id = id, .operation = (enum iwarp_atomic_opcode)(how % 4), .to = to};
    struct iwarp_immediate immediate = {.id = id, .solicited = how & 1};
    struct iwarp_sentence why = {""};
    int result;

    if (id == WORKS)
        return;
    send.solicited = how & 1;
    send.invalidate = how & 2;
    send.fence = write.fence = how & 4;
    send.stag = write.stag = read.source_stag = atomic.stag = stag_of(talk, peer);
    read.sink_stag = kind == 3 ? stag_of(talk, side) : 0;
    switch (kind) {
    case 0: result = iwarp_stream_post_receive(side->stream, id, side->works[id].memory, octets, &why); break;
    case 1: result = iwarp_stream_post_send(side->stream, &send, &why); break;
    case 2: result = iwarp_stream_post_write(side->stream, &write, &why); break;
    case 3: result = iwarp_stream_post_read(side->stream, &read, &why); break;
    case 4: result = iwarp_stream_post_atomic(side->stream, &atomic, &why); break;
    default: result = iwarp_stream_post_immediate(side->stream, &immediate, &why); break;
    }
    FUZZ_HOLDS(result == 0 || (result == -1 && why.text[0] != '\0'));
    posted(side, id, result);
}

static void poll(struct side *side, size_t most)
{
    struct iwarp_event event;

    while (most-- != 0 && iwarp_stream_poll(side->stream, &event)) {
        switch (event.kind) {
        case IWARP_EVENT_RECEIVE:
            FUZZ_HOLDS(event.id < WORKS && side->works[event.id].receive);
            FUZZ_HOLDS(event.buffer == side->works[event.id].memory);
            finish(side, event.id);
            break;
        case IWARP_EVENT_SEND_DONE:
        case IWARP_EVENT_WRITE_DONE:
        case IWARP_EVENT_READ_DONE:
        case IWARP_EVENT_ATOMIC_DONE:
        case IWARP_EVENT_IMMEDIATE_DONE:
        case IWARP_EVENT_FLUSHED: finish(side, event.id); break;
        default: break;
        }
    }
}

/*
 * --- Regions -------------------------------------------------------------------------------------------------------
 */

static void reregister(struct talk *talk, struct side *side)
{
    uint8_t how = next(talk);
    size_t which = how % REGIONS;
    struct iwarp_region region = {.length = REGION_OCTETS, .access = next(talk)};

    if (iwarp_region_deregister(side->device, side->stags[which], NULL) == 0) {
        free(side->memory[which]);
        side->memory[which] = NULL;
        side->stags[which] = 0;
    } else if (side->stags[which] != 0) {
        return; /* in use */
    }
    if (how & 0x40)
        return;
    if (how & 0x80)
        region.octets = side->memory[which] = memory_of(REGION_OCTETS);
    if (iwarp_region_register(side->device, &region, NULL) != 0) {
        free(side->memory[which]);
        side->memory[which] = NULL;
        return;
    }
    side->stags[which] = region.stag;
}

static void narrow(struct talk *talk, struct side *side)
{
    uint32_t stag = stag_of(talk, side);
    size_t length = next_size(talk);

    if (length == 0)
        (void)iwarp_region_invalidate(side->device, stag, NULL);
    else
        (void)iwarp_region_set_length(side->device, stag, length, NULL);
}

/*
 * --- TCP -----------------------------------------------------------------------------------------------------------
 */

/* TCP takes so many octets of the next piece. False: there is none. */
static bool output(struct talk *talk, struct side *side, size_t most)
{
    struct iwarp_output output;
    size_t taken = 0;

    if (iwarp_stream_output(side->stream, &output) == 0) {
        side->fin = side->fin || iwarp_stream_wants(side->stream) == IWARP_WANT_CLOSE;
        side->reset = side->reset || iwarp_stream_wants(side->stream) == IWARP_WANT_ABORT;
        return false;
    }
    for (size_t i = 0; i < output.span_count && taken < most; i++) {
        size_t count = output.spans[i].count < most - taken ? output.spans[i].count : most - taken;

        if (count > PIPE_OCTETS - side->sent)
            count = PIPE_OCTETS - side->sent;
        memcpy(side->pipe + side->sent, output.spans[i].octets, count);
        side->sent += count;
        taken += count;
        if (count != output.spans[i].count)
            break;
    }
    iwarp_stream_output_done(side->stream, taken, ++talk->now);
    return true;
}

/* False: nothing is under way. */
static bool deliver(struct talk *talk, struct side *from, size_t most, bool into_space)
{
    struct side *to = &talk->sides[from == &talk->sides[0]];
    size_t waits = from->sent - from->delivered;
    size_t count = most < waits ? most : waits;
    uint8_t *copy, *space = NULL;
    size_t room;

    if (from->reset) {
        iwarp_stream_input_reset(to->stream, ++talk->now);
        return false;
    }
    if (waits == 0 && from->fin && !from->fin_delivered) {
        from->fin_delivered = true;
        iwarp_stream_input_fin(to->stream, ++talk->now);
    }
    if (count == 0)
        return false;
    room = into_space ? iwarp_stream_input_space(to->stream, &space) : 0;
    if (room != 0) {
        count = count < room ? count : room;
        memcpy(space, from->pipe + from->delivered, count);
        iwarp_stream_input_filled(to->stream, count, ++talk->now);
    } else {
        copy = memory_of(count);
        memcpy(copy, from->pipe + from->delivered, count);
        iwarp_stream_input(to->stream, copy, count, ++talk->now);
        free(copy);
    }
    from->delivered += count;
    return true;
}

static void early(struct talk *talk, struct side *from, size_t gap)
{
    struct side *to = &talk->sides[from == &talk->sides[0]];
    size_t waits = from->sent - from->delivered;

    if (gap < waits)
        iwarp_stream_input_early(to->stream, gap, from->pipe + from->delivered + gap, waits - gap, false, ++talk->now);
}

/*
 * --- The rest ------------------------------------------------------------------------------------------------------
 */

static void set(struct talk *talk, struct side *side)
{
    uint8_t what = next(talk);
    size_t value = next_size(talk);

    switch (what % 8) {
    case 0: iwarp_stream_set_emss(side->stream, value); break;
    case 1: iwarp_stream_set_packed(side->stream, value); break;
    case 2: iwarp_stream_set_mulpdu(side->stream, value); break;
    case 3: iwarp_stream_hold_responses(side->stream, value & 1); break;
    case 4: (void)iwarp_stream_reserve_receives(side->stream, value & 1 ? SIZE_MAX - value : value, NULL); break;
    case 5: iwarp_stream_tick(side->stream, talk->now += value << 24); break;
    case 6: (void)iwarp_stream_trace(side->stream, &(struct iwarp_trace){.qn = 0}); break;
    default:
        (void)iwarp_stream_post_ulpdu(side->stream, (const uint8_t *)"\x81\x40 no STag and no Tagged Offset",
                                      value % 32, NULL);
        break;
    }
}

static void end(struct talk *talk, struct side *side)
{
    switch (next(talk)) {
    case 1: iwarp_stream_disconnect(side->stream, talk->now); break;
    case 2: iwarp_stream_abort(side->stream, talk->now); break;
    case 3: (void)iwarp_stream_terminate(side->stream, IWARP_TERMINATE_TRIPLE(0, 2, 0xFF), talk->now, NULL); break;
    case 4: iwarp_stream_catastrophe(side->stream, (enum iwarp_catastrophe)(next(talk) % 4), talk->now); break;
    case 5: iwarp_stream_input_reset(side->stream, talk->now); break;
    case 6: iwarp_stream_input_fin(side->stream, talk->now); break;
    case 7: iwarp_stream_input(side->stream, (const uint8_t *)"octets out of nowhere", 21, talk->now); break;
    case 8: iwarp_stream_input_filled(side->stream, next_size(talk), talk->now); break;
    case 9:
        iwarp_device_free(side->device);
        side->freed = true;
        break;
    default: break;
    }
}

static void decide(struct talk *talk, struct side *side)
{
    uint8_t how = next(talk);
    const uint8_t data[8] = {how};

    if (how & 1)
        (void)iwarp_stream_reject(side->stream, data, how & 7, talk->now, NULL);
    else
        (void)iwarp_stream_accept(side->stream, how & 8 ? NULL : data, how & 7, (how >> 4) - 2, -1, talk->now, NULL);
}

/* All that there is, both ways, until both are quiet or have had two turns. */
static void all(struct talk *talk, bool into_space)
{
    for (int i = 0, quiet = 0; i < 4 && quiet < 2; i++) {
        bool sent = output(talk, &talk->sides[i % 2], SIZE_MAX);

        quiet = deliver(talk, &talk->sides[i % 2], SIZE_MAX, into_space) || sent ? 0 : quiet + 1;
    }
}

static void call(struct talk *talk)
{
    uint8_t what = next(talk);
    struct side *side = &talk->sides[what >> 7];

    switch (what & 0x1F) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: post(talk, side, what & 7); break;
    case 6: reregister(talk, side); break;
    case 7: narrow(talk, side); break;
    case 8: (void)output(talk, side, next_size(talk)); break;
    case 9: (void)deliver(talk, side, next_size(talk), false); break;
    case 10: (void)deliver(talk, side, next_size(talk), true); break;
    case 11: early(talk, side, next_size(talk)); break;
    case 12: poll(side, next(talk)); break;
    case 13: set(talk, side); break;
    case 14: end(talk, side); break;
    case 15: decide(talk, side); break;
    default: all(talk, what & 1); break;
    }
}

static void open(struct talk *talk, int which)
{
    struct side *side = &talk->sides[which];
    struct iwarp_stream_config config;
    uint8_t options = next(talk);

    iwarp_stream_config_default(&config, which == 0 ? IWARP_RESPONDER : IWARP_INITIATOR);
    config.markers = options & 1;
    config.crc = !(options & 2);
    config.accept = options & 4 ? IWARP_ACCEPT_ASK : IWARP_ACCEPT;
    config.peer_to_peer = which == 1 && options & 8;
    config.ord = options >> 6;
    config.trace = options & 16;
    config.extensions = options & 32 ? IWARP_EXTENSIONS_DRAFT03 : IWARP_EXTENSIONS_RFC7306;
    side->device = iwarp_device_new(NULL);
    side->stream = iwarp_stream_new(side->device, &config, talk->now, NULL);
    FUZZ_HOLDS(side->stream != NULL);
    for (size_t i = 0; i < REGIONS; i++) {
        struct iwarp_region region = {.length = REGION_OCTETS, .access = 31, .stag = (uint32_t)(i + 1) << 8};

        FUZZ_HOLDS(iwarp_region_register(side->device, &region, NULL) == 0);
        side->stags[i] = region.stag;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct talk memory; /* kept: of a pipe only what was sent is looked at */
    struct talk *talk = &memory;

    talk->at = data;
    talk->end = data + size;
    talk->now = 1;
    for (int i = 0; i < SIDES; i++) {
        memset(&talk->sides[i], 0, offsetof(struct side, pipe));
        open(talk, i);
    }
    while (talk->at < talk->end)
        call(talk);
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &talk->sides[i];

        iwarp_stream_abort(side->stream, talk->now);
        poll(side, SIZE_MAX);
        for (size_t w = 0; w < side->work_count; w++)
            FUZZ_HOLDS(!side->works[w].open); /* it was reported */
        iwarp_stream_free(side->stream);
        for (size_t r = 0; r < REGIONS; r++)
            free(side->memory[r]);
        if (!side->freed)
            iwarp_device_free(side->device);
    }
    return 0;
}
