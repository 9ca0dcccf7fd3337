/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Markers on a grid of the sender's own (RFC 5044 4.3): a stack of the field leaves the 4 octets of each CRC field out
 * of its count, and has FPDUPTR's octets in reverse order. Each mistake is one finding, and what the FPDUs carry is
 * judged.
 */
#include <string.h>

#include "tests/unit/rule_case.h"
#include "wire/crc32c.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "base/octets.h"

Suite *rules_marker_grid_suite(void);

enum { FPDUS = 14, PAYLOAD = 200, FPDU_MOST = 300 };

/* FPDUPTR of each Marker with its octets exchanged, and the CRC that covers them so. */
static void turn_pointers(uint8_t *octets, size_t count, uint32_t position)
{
    for (size_t at = marker_distance(position); at + MARKER_OCTETS <= count - FPDU_CRC_OCTETS; at += MARKER_SPACING) {
        uint8_t first = octets[at + 2];

        octets[at + 2] = octets[at + 3];
        octets[at + 3] = first;
    }
    octets_put32_little(octets + count - FPDU_CRC_OCTETS, crc32c(octets, count - FPDU_CRC_OCTETS));
}

/* `wrong_msn`: of the last one. */
static void sends(struct conversation *c, bool uncounted, bool turned, bool wrong_msn)
{
    struct iwarp_mpa_start request = plain_request, reply = plain_reply;
    uint8_t ulpdu[DDP_UNTAGGED_OCTETS + PAYLOAD], octets[FPDU_MOST];
    uint32_t position = 0;

    request.markers = reply.markers = request.crc = reply.crc = true;
    conversation_open(c, 1460);
    conversation_start(c, 0, &request);
    conversation_start(c, 1, &reply);
    memset(ulpdu, 'x', sizeof(ulpdu));
    for (uint32_t i = 0; i < FPDUS; i++) {
        struct ddp_segment header = {.last = true,
                                     .version = DDP_VERSION,
                                     .control = rdmap_control(IWARP_RDMAP_SEND),
                                     .msn = DDP_FIRST_MSN + i + (wrong_msn && i == FPDUS - 1)};
        struct fpdu_framing framing = {
            .crc = true, .markers = true, .position = uncounted ? position - i * FPDU_CRC_OCTETS : position};
        size_t count;

        (void)ddp_pack_header(&header, ulpdu);
        count = fpdu_pack(ulpdu, sizeof(ulpdu), &framing, octets, sizeof(octets));
        ck_assert_uint_ne(count, 0);
        if (turned)
            turn_pointers(octets, count, framing.position);
        conversation_octets(c, 0, octets, count);
        position += (uint32_t)count;
    }
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static int verdict_of(const struct verdicts *verdicts, const char *id)
{
    return verdicts->verdict[rule_find(id)->index];
}

/* Loop: bit 0 the CRC does not count, bit 1 pointers are reversed, bit 2 an MSN is wrong besides. */
START_TEST(each_mistake_is_one_finding)
{
    bool uncounted = (_i & 1) != 0, turned = (_i & 2) != 0, wrong_msn = (_i & 4) != 0;
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    sends(conversation, uncounted, turned, wrong_msn);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, "MPA-4.3-04 MPA-4.3-05 DDP-4.3-11", "Markers elsewhere");
    ck_assert_int_eq(verdict_of(&verdicts, "MPA-4.3-04") == RULE_FAIL, uncounted);
    ck_assert_int_eq(verdict_of(&verdicts, "MPA-4.3-05") == RULE_FAIL, turned);
    ck_assert_int_eq(verdict_of(&verdicts, "DDP-4.3-11") == RULE_FAIL, wrong_msn);
    ck_assert_uint_eq(verdicts.passes[rule_find("MPA-4.4-14")->index], FPDUS);
    if (uncounted)
        ck_assert_str_eq(verdicts.cause[rule_find("MPA-4.3-04")->index], "marker-grid-elsewhere");
    if (turned)
        ck_assert_str_eq(verdicts.cause[rule_find("MPA-4.3-05")->index], "marker-pointer-reversed");
}
END_TEST

Suite *rules_marker_grid_suite(void)
{
    Suite *suite = suite_create("rules_marker_grid");
    TCase *tcase = tcase_create("grid");

    tcase_add_loop_test(tcase, each_mistake_is_one_finding, 0, 8);
    suite_add_tcase(suite, tcase);
    return suite;
}
