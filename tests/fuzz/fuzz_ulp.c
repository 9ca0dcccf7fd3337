/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ULPs out of any messages: the input is a list of messages of either side, Sends in one or more DDP Segments, of a
 * connection whose start-up was right. Decoder, notation and rules read them. Besides not reading past the end:
 *  - a connection on which no ULP was recognised has none, and nothing of it is judged as one;
 *  - both ways of the rule engine agree on how many requirements were exercised, and how often.
 *
 * If the first octet is 'P', the second is the length of Private Data of both start-up frames, which follows. A message:
 * an octet (1: the Responder's; 2: its last segment is missing; 4: a Send with Invalidate; 8: an RDMA Write; both: a Read
 * Request; the upper four bits: so many segments more), an octet with its length, and what follows. A Send: its payload;
 * else STag, the low 16 bits of the Tagged Offset, octets (16 bits); a Send with Invalidate has its STag in front.
 */
#include "conformance/flow/decoder.h"
#include "conformance/flow/notation/notation.h"
#include "conformance/rules/end_cause.h"
#include "conformance/rules/rule.h"
#include "tests/fuzz/fuzz.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

enum { TCP_OCTETS = 20, ROOM = 1024, FLAG_ACK = 0x10, FLAG_SYN = 0x02, FLAG_RST = 0x04 };

struct talk {
    struct flow_decoder *decoder;
    struct rule_engine *rules;
    uint32_t sequence[2];
    uint32_t msn[2], reads[2];
    uint64_t frame;
    unsigned ulps;    /* kinds of ULPs that a flow had: 1 << enum flow_ulp_kind each */
    bool established; /* SMB Direct with both Negotiate messages */
    size_t smbd;      /* requirements on its Data Transfers that were exercised */
    size_t of_ulps;   /* requirements of all ULPs */
    size_t exercised;
    uint64_t times; /* passes and findings */
};

static void count_result(const struct rule_result *result, void *argument)
{
    struct talk *talk = argument;

    talk->exercised++;
    talk->times += result->passes + result->findings;
    talk->of_ulps += strncmp(result->rule->id, "SMBD-", 5) == 0 || strncmp(result->rule->id, "RPCRDMA", 7) == 0 ||
                     strncmp(result->rule->id, "ISER-", 5) == 0 || strncmp(result->rule->id, "NVMEOF-", 7) == 0;
    talk->smbd += strncmp(result->rule->id, "SMBD-3.1.5.8", 12) == 0;
}

static void read_end(const struct flow *flow, const struct end_cause *cause, void *argument)
{
    char text[END_CAUSE_TEXT], cut[32];

    (void)argument;
    FUZZ_HOLDS(strlen(end_cause_text(flow, cause, text, sizeof(text))) < sizeof(text));
    FUZZ_HOLDS(strlen(end_cause_text(flow, cause, cut, sizeof(cut))) < sizeof(cut));
}

static void sink(void *user, const struct flow_event *event)
{
    struct talk *talk = user;
    char text[NOTATION_MAX];

    talk->established |= event->flow->ulp != NULL && event->flow->ulp->established;
    if (event->flow->ulp != NULL)
        talk->ulps |= 1U << event->flow->ulp->kind;
    for (const struct flow_event *one = event; one != NULL; one = one->next)
        FUZZ_HOLDS(strlen(notation_event(one, text, sizeof(text))) < sizeof(text));
    rule_engine_event(talk->rules, event);
    if (event->kind != FLOW_END)
        return;
    (void)rule_engine_flow_results(talk->rules, event->flow, count_result, talk);
    (void)rule_engine_flow_ends(talk->rules, event->flow, read_end, NULL);
    rule_engine_flow_done(talk->rules, event->flow);
}

static void give(struct talk *talk, unsigned side, uint8_t flags, const uint8_t *payload, size_t count)
{
    static const uint8_t address[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
    uint8_t *segment = malloc(TCP_OCTETS + count);
    struct flow_packet packet = {.time_ns = talk->frame,
                                 .number = ++talk->frame,
                                 .family = 4,
                                 .source = address[side],
                                 .destination = address[1 - side],
                                 .octets = segment,
                                 .captured = TCP_OCTETS + count,
                                 .length = TCP_OCTETS + count};

    if (segment == NULL)
        abort();
    memset(segment, 0, TCP_OCTETS);
    octets_put16(segment, (uint16_t)(1000 + side));
    octets_put16(segment + 2, (uint16_t)(1001 - side));
    octets_put32(segment + 4, talk->sequence[side]);
    octets_put32(segment + 8, talk->sequence[1 - side]);
    segment[12] = 5 << 4;
    segment[13] = flags;
    octets_put16(segment + 14, 0xFFFF);
    if (count != 0)
        memcpy(segment + TCP_OCTETS, payload, count);
    talk->sequence[side] += (uint32_t)count + ((flags & FLAG_SYN) != 0);
    (void)flow_decoder_segment(talk->decoder, &packet, NULL);
    free(segment);
}

static void begin(struct talk *talk, const uint8_t *private_data, size_t octets)
{
    for (unsigned side = 0; side < 2; side++)
        give(talk, side, side == 0 ? FLAG_SYN : FLAG_SYN | FLAG_ACK, NULL, 0);
    for (unsigned side = 0; side < 2; side++) {
        struct iwarp_mpa_start start = {.kind = side == 0 ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY, .revision = 1};
        start.private_data = private_data;
        start.private_octets = (uint16_t)octets;
        uint8_t frame[MPA_START_MAX];
        size_t count = mpa_start_pack(&start, frame, sizeof(frame));

        give(talk, side, FLAG_ACK, frame, count);
    }
}

static void give_segment(struct talk *talk, unsigned side, const struct ddp_segment *header, const uint8_t *payload,
                         size_t count)
{
    const struct fpdu_framing framing = {.crc = false};
    uint8_t ulpdu[ROOM], fpdu[ROOM];
    size_t octets = ddp_pack_header(header, ulpdu);

    if (count != 0)
        memcpy(ulpdu + octets, payload, count);
    octets = fpdu_pack(ulpdu, octets + count, &framing, fpdu, sizeof(fpdu));
    FUZZ_HOLDS(octets != 0);
    give(talk, side, FLAG_ACK, fpdu, octets);
}

/* An RDMA Write, or a Read Request. */
static void give_access(struct talk *talk, uint8_t flags, const uint8_t *said, size_t count)
{
    unsigned side = flags & 1;
    static const uint8_t zeros[ROOM / 2];
    struct ddp_segment header = {.last = true, .version = DDP_VERSION, .tagged = true, .control = 0x40};
    struct read_request request = {.sink_stag = 1, .sink_to = 0x1000};
    uint8_t packed[READ_REQUEST_OCTETS];

    if (count < 8)
        return;
    header.stag = request.source_stag = octets_get32(said);
    header.to = request.source_to = octets_get16(said + 4);
    request.octets = octets_get16(said + 6);
    if ((flags & 4) == 0) {
        give_segment(talk, side, &header, zeros, request.octets < sizeof(zeros) ? request.octets : sizeof(zeros));
        return;
    }
    header = (struct ddp_segment){.last = true, .version = DDP_VERSION, .control = 0x41, .qn = DDP_QN_READ_REQUEST};
    header.msn = ++talk->reads[side];
    read_request_pack(&request, packed);
    give_segment(talk, side, &header, packed, sizeof(packed));
}

static void give_send(struct talk *talk, uint8_t flags, const uint8_t *payload, size_t count)
{
    unsigned side = flags & 1;
    size_t more = flags >> 4, piece = count / (more + 1);
    struct ddp_segment header = {.version = DDP_VERSION, .control = 0x43, .msn = ++talk->msn[side]};

    if ((flags & 4) != 0 && count >= 4) {
        header.control = 0x44;
        header.ulp_word = octets_get32(payload);
        payload += 4;
        count -= 4;
        piece = count / (more + 1);
    }
    for (size_t i = 0; i <= more; i++) {
        size_t now = i < more ? piece : count - i * piece;

        header.last = i == more;
        header.mo = (uint32_t)(i * piece);
        if (!header.last || (flags & 2) == 0)
            give_segment(talk, side, &header, payload + header.mo, now);
    }
}

static void play(struct talk *talk, const uint8_t *data, size_t size, bool thorough)
{
    struct flow_config config = {.rule_state_octets = rule_state_octets()};
    struct rule_config rules = {.thorough = thorough};

    *talk = (struct talk){.rules = rule_engine_create(&rules)};
    talk->decoder = flow_decoder_create(&config, sink, talk);
    if (talk->decoder == NULL || talk->rules == NULL)
        abort();
    if (size >= 2 && data[0] == 'P') {
        size_t octets = data[1] < size - 2 ? data[1] : size - 2;

        begin(talk, data + 2, octets);
        data += 2 + octets;
        size -= 2 + octets;
    } else {
        begin(talk, NULL, 0);
    }
    while (size >= 2) {
        size_t count = data[1] < size - 2 ? data[1] : size - 2;

        ((data[0] & 8) != 0 ? give_access : give_send)(talk, data[0], data + 2, count);
        data += 2 + count;
        size -= 2 + count;
    }
    give(talk, 1, FLAG_RST | FLAG_ACK, NULL, 0);
    flow_decoder_finish(talk->decoder);
    flow_decoder_destroy(talk->decoder);
    rule_engine_free(talk->rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct talk quick, thorough;

    play(&quick, data, size, false);
    play(&thorough, data, size, true);
    FUZZ_HOLDS(quick.exercised == thorough.exercised && quick.smbd == thorough.smbd);
    FUZZ_HOLDS(quick.times == thorough.times);
    FUZZ_HOLDS(quick.established || quick.smbd == 0);
    FUZZ_HOLDS(quick.ulps != 0 || quick.of_ulps == 0);
    return 0;
}
