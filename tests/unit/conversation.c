/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/conversation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"

enum {
    IP_OCTETS = 20,
    TCP_OCTETS = 20,
    FRAMES_MAX = 512,
    UNIT_MAX = 70000,
    FIN = 0x01,
    SYN = 0x02,
    RST = 0x04,
    ACK = 0x10
};

struct frame {
    uint8_t *octets;
    size_t count;
    unsigned direction;
};

struct conversation {
    struct conversation_change change;
    int unit;
    uint32_t sequence[2];
    uint32_t position[2]; /* from SeqStart */
    struct fpdu_framing framing[2];
    struct iwarp_mpa_start start[2];
    struct frame frames[FRAMES_MAX];
    size_t count;
    size_t lost_at; /* before this frame, from 1, the ring lost some; 0: it did not */
    uint8_t quote[DDP_UNTAGGED_OCTETS];
    size_t quote_length;
    uint8_t unit_octets[UNIT_MAX];
    int spoiled;
    spoil_function *spoil;
    size_t piece;
    uint8_t pending[2][UNIT_MAX];
    size_t pending_octets[2];
};

struct conversation *conversation_create(const struct conversation_change *change)
{
    struct conversation *conversation = calloc(1, sizeof(*conversation));

    if (conversation == NULL)
        abort();
    conversation->change.unit = -1;
    if (change != NULL)
        conversation->change = *change;
    conversation->sequence[0] = 0xFFFFFE00; /* both streams wrap */
    conversation->sequence[1] = 0xFFFFFFF0;
    return conversation;
}

void conversation_free(struct conversation *conversation)
{
    for (size_t i = 0; i < conversation->count; i++)
        free(conversation->frames[i].octets);
    free(conversation);
}

void conversation_frame(struct conversation *c, unsigned direction, const uint8_t *octets, size_t count)
{
    uint8_t *frame = malloc(count);

    if (frame == NULL || c->count == FRAMES_MAX)
        abort();
    memcpy(frame, octets, count);
    c->frames[c->count++] = (struct frame){frame, count, direction};
    /* cppcheck-suppress memleak ; conversation_free() */
}

static void add_frame(struct conversation *c, unsigned direction, uint8_t flags, const uint8_t *option, size_t options,
                      const void *payload, size_t octets)
{
    size_t header = IP_OCTETS + TCP_OCTETS + options;
    uint8_t *frame = calloc(1, header + octets);

    if (frame == NULL || c->count == FRAMES_MAX)
        abort();
    frame[0] = 0x45;
    octets_put16(frame + 2, (uint16_t)(header + octets));
    frame[8] = 64;
    frame[9] = 6;
    octets_put32(frame + 12, direction == 0 ? 0x0A4D0002 : 0x0A4D0003);
    octets_put32(frame + 16, direction == 0 ? 0x0A4D0003 : 0x0A4D0002);
    octets_put16(frame + 20, direction == 0 ? 40000 : 9999);
    octets_put16(frame + 22, direction == 0 ? 9999 : 40000);
    octets_put32(frame + 24, c->sequence[direction]);
    octets_put32(frame + 28, c->sequence[1 - direction]);
    frame[32] = (uint8_t)((TCP_OCTETS + options) / 4 << 4);
    frame[33] = flags;
    octets_put16(frame + 34, 65535);
    if (options != 0)
        memcpy(frame + IP_OCTETS + TCP_OCTETS, option, options);
    if (octets != 0)
        memcpy(frame + header, payload, octets);
    c->frames[c->count++] = (struct frame){frame, header + octets, direction};
    c->sequence[direction] += (uint32_t)octets + ((flags & (SYN | FIN)) != 0);
    /* cppcheck-suppress memleak ; a test ends when memory does */
}

void conversation_open(struct conversation *conversation, uint16_t mss)
{
    uint8_t option[4] = {2, 4, (uint8_t)(mss >> 8), (uint8_t)mss};
    size_t options = mss == 0 ? 0 : sizeof(option);

    add_frame(conversation, 0, SYN, option, options, NULL, 0);
    add_frame(conversation, 1, SYN | ACK, option, options, NULL, 0);
    add_frame(conversation, 0, ACK, NULL, 0, NULL, 0);
}

void conversation_octets(struct conversation *conversation, unsigned direction, const void *octets, size_t count)
{
    add_frame(conversation, direction, ACK, NULL, 0, octets, count);
}

void conversation_close(struct conversation *conversation, unsigned direction, bool reset)
{
    if (conversation->pending_octets[direction] != 0)
        conversation_octets(conversation, direction, conversation->pending[direction],
                            conversation->pending_octets[direction]);
    conversation->pending_octets[direction] = 0;
    add_frame(conversation, direction, reset ? RST | ACK : FIN | ACK, NULL, 0, NULL, 0);
}

bool conversation_drop(struct conversation *conversation, size_t frame)
{
    if (frame >= conversation->count)
        return false;
    free(conversation->frames[frame].octets);
    conversation->count--;
    memmove(conversation->frames + frame, conversation->frames + frame + 1,
            (conversation->count - frame) * sizeof(conversation->frames[0]));
    return true;
}

bool conversation_repeat(struct conversation *conversation, size_t frame)
{
    struct frame copy;

    if (frame >= conversation->count || conversation->count == FRAMES_MAX)
        return false;
    copy = conversation->frames[frame];
    copy.octets = malloc(copy.count);
    if (copy.octets == NULL)
        abort();
    memcpy(copy.octets, conversation->frames[frame].octets, copy.count);
    memmove(conversation->frames + frame + 1, conversation->frames + frame,
            (conversation->count - frame) * sizeof(conversation->frames[0]));
    conversation->frames[frame] = copy;
    conversation->count++;
    return true;
}

/* Neighbours of one direction only: frames of both are in the order in which they were sent. */
static bool exchange(struct conversation *conversation, size_t frame, bool same_direction)
{
    struct frame first;

    if (frame + 1 >= conversation->count ||
        (conversation->frames[frame].direction == conversation->frames[frame + 1].direction) != same_direction)
        return false;
    first = conversation->frames[frame];
    conversation->frames[frame] = conversation->frames[frame + 1];
    conversation->frames[frame + 1] = first;
    return true;
}

bool conversation_exchange(struct conversation *conversation, size_t frame)
{
    return exchange(conversation, frame, true);
}

bool conversation_cross(struct conversation *conversation, size_t frame)
{
    return exchange(conversation, frame, false);
}

void conversation_one_way(struct conversation *conversation, unsigned direction)
{
    size_t kept = 0;

    for (size_t i = 0; i < conversation->count; i++) {
        if (conversation->frames[i].direction == direction)
            free(conversation->frames[i].octets);
        else
            conversation->frames[kept++] = conversation->frames[i];
    }
    conversation->count = kept;
}

void conversation_drop_first(struct conversation *conversation, size_t frames)
{
    for (size_t i = 0; i < frames; i++)
        free(conversation->frames[i].octets);
    conversation->count -= frames;
    memmove(conversation->frames, conversation->frames + frames, conversation->count * sizeof(conversation->frames[0]));
}

bool conversation_lose(struct conversation *conversation, unsigned direction, size_t from)
{
    size_t kept = from;

    for (size_t i = from; i < conversation->count; i++) {
        if (conversation->frames[i].direction == direction)
            free(conversation->frames[i].octets);
        else
            conversation->frames[kept++] = conversation->frames[i];
    }
    if (from >= conversation->count)
        return false;
    conversation->count = kept;
    conversation->lost_at = from + 1;
    return true;
}

/* The change, when it is for this unit and this step of making it. */
static void apply(const struct conversation *conversation, int where, uint8_t *octets, size_t count)
{
    const struct conversation_change *change = &conversation->change;

    if (change->unit != conversation->unit || (int)change->where != where)
        return;
    if (change->offset + change->count > count)
        abort(); /* the test asks for octets that are not there */
    memcpy(octets + change->offset, change->octets, change->count);
}

void conversation_framing(struct conversation *conversation, unsigned direction, bool markers, bool crc)
{
    conversation->framing[direction].markers = markers;
    conversation->framing[direction].crc = crc;
}

void conversation_start(struct conversation *conversation, unsigned direction, const struct iwarp_mpa_start *start)
{
    uint8_t octets[MPA_START_MAX];
    size_t count = mpa_start_pack(start, octets, sizeof(octets));

    if (count == 0)
        abort();
    apply(conversation, CHANGE_CONTENT, octets, count);
    conversation->unit++;
    conversation_octets(conversation, direction, octets, count);
    conversation->start[direction] = *start;
    conversation->framing[1 - direction].markers = start->markers;
    for (unsigned i = 0; i < 2; i++)
        conversation->framing[i].crc = conversation->framing[i].crc || start->crc;
}

void conversation_segment(struct conversation *conversation, unsigned direction, const struct ddp_segment *header,
                          const void *payload, size_t octets)
{
    static uint8_t ulpdu[UNIT_MAX];
    size_t count = ddp_pack_header(header, ulpdu);

    for (size_t i = 0; i < octets; i++)
        ulpdu[count + i] =
            payload == NULL ? (uint8_t)(i * 7 + (size_t)conversation->unit) : ((const uint8_t *)payload)[i];
    conversation_ulpdu(conversation, direction, ulpdu, count + octets);
}

static void send_unit(struct conversation *conversation, unsigned direction, size_t count)
{
    size_t *pending = &conversation->pending_octets[direction];
    uint8_t *octets = conversation->pending[direction];

    if (conversation->piece == 0) {
        conversation_octets(conversation, direction, conversation->unit_octets, count);
        return;
    }
    memcpy(octets + *pending, conversation->unit_octets, count);
    *pending += count;
    while (*pending >= conversation->piece) {
        conversation_octets(conversation, direction, octets, conversation->piece);
        *pending -= conversation->piece;
        memmove(octets, octets + conversation->piece, *pending);
    }
}

void conversation_pieces(struct conversation *conversation, size_t octets)
{
    conversation->piece = octets;
}

void conversation_spoil(struct conversation *conversation, int unit, spoil_function *spoil)
{
    conversation->spoiled = unit;
    conversation->spoil = spoil;
}

void conversation_ulpdu(struct conversation *conversation, unsigned direction, const void *content, size_t count)
{
    static uint8_t ulpdu[UNIT_MAX];

    memmove(ulpdu, content, count);
    apply(conversation, CHANGE_CONTENT, ulpdu, count);
    memset(conversation->quote, 0, sizeof(conversation->quote));
    memcpy(conversation->quote, ulpdu, count < DDP_UNTAGGED_OCTETS ? count : DDP_UNTAGGED_OCTETS);
    conversation->quote_length = count;
    conversation->framing[direction].position = conversation->position[direction];
    count = fpdu_pack(ulpdu, count, &conversation->framing[direction], conversation->unit_octets, UNIT_MAX);
    if (count == 0)
        abort();
    apply(conversation, CHANGE_FRAMED, conversation->unit_octets, count);
    if (conversation->spoil != NULL && conversation->spoiled == conversation->unit)
        conversation->spoil(conversation->unit_octets, count, conversation->position[direction]);
    conversation->unit++;
    conversation->position[direction] += (uint32_t)count;
    send_unit(conversation, direction, count);
}

const uint8_t *conversation_quote(const struct conversation *conversation, size_t *ulpdu_length)
{
    *ulpdu_length = conversation->quote_length;
    return conversation->quote;
}

void conversation_send(struct conversation *conversation, unsigned direction, enum iwarp_rdmap_opcode opcode,
                       uint32_t msn, uint32_t mo, bool last, size_t octets)
{
    struct ddp_segment segment = {
        .last = last, .version = DDP_VERSION, .control = rdmap_control(opcode), .msn = msn, .mo = mo};

    segment.ulp_word = rdmap_opcode_rows[opcode].invalidates ? 0x12345678 : 0;
    conversation_segment(conversation, direction, &segment, NULL, octets);
}

void conversation_tagged(struct conversation *conversation, unsigned direction, enum iwarp_rdmap_opcode opcode,
                         uint32_t stag, uint64_t to, bool last, size_t octets)
{
    struct ddp_segment segment = {
        .tagged = true, .last = last, .version = DDP_VERSION, .control = rdmap_control(opcode), .stag = stag, .to = to};

    conversation_segment(conversation, direction, &segment, NULL, octets);
}

void conversation_read(struct conversation *conversation, unsigned direction, uint32_t msn, uint32_t sink_stag,
                       uint64_t sink_to, uint32_t octets)
{
    struct ddp_segment segment = {.last = true,
                                  .version = DDP_VERSION,
                                  .control = rdmap_control(IWARP_RDMAP_READ_REQUEST),
                                  .qn = DDP_QN_READ_REQUEST,
                                  .msn = msn};
    struct read_request request = {sink_stag, sink_to, octets, 0xABCD0001, 0x4000};
    uint8_t header[READ_REQUEST_OCTETS];

    read_request_pack(&request, header);
    conversation_segment(conversation, direction, &segment, header, sizeof(header));
}

void conversation_terminate(struct conversation *conversation, unsigned direction, const struct terminate *terminate)
{
    struct ddp_segment segment = {.last = true,
                                  .version = DDP_VERSION,
                                  .control = rdmap_control(IWARP_RDMAP_TERMINATE),
                                  .qn = DDP_QN_TERMINATE,
                                  .msn = DDP_FIRST_MSN};
    uint8_t octets[IWARP_TERMINATE_MAX + 64] = {0};
    size_t count = terminate_pack(terminate, octets, sizeof(octets));

    conversation_segment(conversation, direction, &segment, octets, count + terminate->excess);
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

struct judging {
    struct rule_engine *engine;
    struct flow_decoder *decoder;
    struct verdicts *verdicts;
};

static void keep_result(const struct rule_result *result, void *argument)
{
    struct verdicts *verdicts = argument;
    size_t i = result->rule->index;

    if ((int)result->verdict > verdicts->verdict[i])
        verdicts->verdict[i] = (int)result->verdict;
    verdicts->passes[i] += result->passes;
    verdicts->findings[i] += result->findings;
    if (result->verdict == RULE_PASS)
        return;
    verdicts->cause[i] = result->cause;
    verdicts->direction[i] = (int)result->direction;
    verdicts->frame[i] = result->frame;
    (void)snprintf(verdicts->message[i], sizeof(verdicts->message[i]), "%s", result->message);
}

static void sink(void *ctx, const struct flow_event *event)
{
    struct judging *judging = ctx;

    rule_engine_event(judging->engine, event);
    if (event->kind != FLOW_END)
        return;
    judging->verdicts->flows++;
    (void)rule_engine_flow_results(judging->engine, event->flow, keep_result, judging->verdicts);
    rule_engine_flow_done(judging->engine, event->flow);
}

void conversation_judge_with(const struct conversation *conversation, const struct rule_config *config,
                             struct verdicts *verdicts)
{
    struct flow_config flow = {.rule_state_octets = rule_state_octets()};
    struct judging judging = {.verdicts = verdicts};

    memset(verdicts, 0, sizeof(*verdicts));
    for (size_t i = 0; i < sizeof(verdicts->verdict) / sizeof(verdicts->verdict[0]); i++)
        verdicts->verdict[i] = -1;
    judging.engine = rule_engine_create(config);
    judging.decoder = flow_decoder_create(&flow, sink, &judging);
    if (judging.engine == NULL || judging.decoder == NULL)
        abort();
    for (size_t i = 0; i < conversation->count; i++) {
        struct flow_frame frame = {FLOW_LINK_RAW,
                                   (i + 1) * UINT64_C(1000000),
                                   i + 1,
                                   conversation->frames[i].octets,
                                   conversation->frames[i].count,
                                   conversation->frames[i].count};

        if (conversation->lost_at == i + 1)
            flow_decoder_dropped(judging.decoder, 1);
        flow_decoder_frame(judging.decoder, &frame);
    }
    if (conversation->lost_at > conversation->count)
        flow_decoder_dropped(judging.decoder, 1);
    flow_decoder_finish(judging.decoder);
    flow_decoder_destroy(judging.decoder);
    rule_engine_free(judging.engine);
}

void conversation_judge(const struct conversation *conversation, bool thorough, struct verdicts *verdicts)
{
    struct rule_config config = {.thorough = thorough};

    conversation_judge_with(conversation, &config, verdicts);
}
