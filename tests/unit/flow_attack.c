/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/flow_attack.h"

#include "generator/packet/packet.h"
#include "tests/unit/guard.h"

static const uint8_t garbage[ATTACK_GARBAGE] = {0xEE, 0x01, 0xEE, 0x02};

struct talk *attack_talk(int loop)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, true);
    for (unsigned i = 0; i < ATTACK_FPDUS; i++)
        talk_send(talk, 0, ATTACK_SIZE);
    if (loop % 2 != 0) {
        talk->isn[0] = (uint32_t)(0 - talk->boundary[0][ATTACK_MIDDLE] - 50);
        talk->isn[1] = (uint32_t)(0 - talk->octets[1] - 1);
    }
    return talk;
}

void attack_fpdus(struct talk *talk, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        talk_segment_with(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1], TCP_FLAG_ACK, talk->octets[1]);
        talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, talk->boundary[0][i + 1]);
    }
}

void attack_begin(struct talk *talk)
{
    talk_segment_with(talk, 0, 0, talk->start[0], TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 1, 0, talk->start[1], TCP_FLAG_ACK, talk->start[0]);
    attack_fpdus(talk, 0, ATTACK_MIDDLE);
}

size_t attack_middle(struct talk **talk, int loop)
{
    *talk = attack_talk(loop);
    talk_syn(*talk);
    attack_begin(*talk);
    return (*talk)->boundary[0][ATTACK_MIDDLE];
}

void attack_inject(struct talk *talk, unsigned side, size_t at, uint8_t flags, size_t octets)
{
    size_t acked = side == 0 ? talk->octets[1] : talk->boundary[0][ATTACK_MIDDLE];

    talk_build(talk, side, talk->isn[side] + 1 + (uint32_t)at, talk->isn[1 - side] + 1 + (uint32_t)acked, flags,
               garbage, octets);
    talk_give(talk);
}

void attack_expect_all(struct talk *talk, const char *what)
{
    uint64_t sum;

    talk_finish(talk);
    EXPECT(talk->good[0] == ATTACK_FPDUS && talk->wrong == 0 && talk->gaps == 0, "%s: %u FPDUs: %s | %s", what,
           talk->good[0], talk->log[0], talk->log[1]);
    EXPECT(talk->headers[0] == ATTACK_FPDUS, "%s: %s", what, talk->log[0]);
    EXPECT(talk->flows == 1, "%s: %u flows", what, talk->flows);
    EXPECT(talk->before == 0, "%s: out of order: %s | %s", what, talk->log[0], talk->log[1]);
    for (unsigned side = 0; side < 2; side++) {
        const struct flow_octets *octets = &talk->sent[side];

        sum = octets->delivered + octets->cut + octets->again + octets->late + octets->held;
        for (unsigned why = 0; why < FLOW_REFUSALS; why++)
            sum += octets->refused[why];
        EXPECT(sum == octets->sent && octets->held == 0, "%s: octets do not add up", what);
        EXPECT(octets->lost == 0 && octets->cut == 0, "%s: octets are lost", what);
    }
}

void attack_expect_rest(struct talk *talk, const char *what)
{
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS);
    attack_expect_all(talk, what);
}
