/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on FPDUs, their CRC and Markers (RFC 5044 4): one case each. */
#include <string.h>

#include "tests/unit/rule_case.h"
#include "wire/crc32c.h"
#include "wire/marker.h"

static void close_both(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static void start(struct conversation *c, bool crc, bool markers)
{
    struct iwarp_mpa_start request = plain_request, reply = plain_reply;

    request.crc = reply.crc = crc;
    request.markers = reply.markers = markers;
    conversation_open(c, 1460);
    conversation_start(c, 0, &request);
    conversation_start(c, 1, &reply);
}

static void no_crc(struct conversation *c)
{
    start(c, false, false);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 101); /* 2: 119 octets, pad 3 */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 64);
    close_both(c);
}

static void marked_no_crc(struct conversation *c)
{
    start(c, false, true);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 484);  /* 2: position 0 to 512 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, true, 487);  /* 3: to 1032 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 3, 0, true, 1400); /* 4: Markers at its octets 504, 1016 */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 600);  /* 5 */
    close_both(c);
}

static void too_long(struct conversation *c)
{
    start(c, true, false);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 64760);
    close_both(c);
}

/* 1 + 127 Markers: 65,502 octets. */
static void too_long_marked(struct conversation *c)
{
    start(c, true, true);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 64960);
    close_both(c);
}

/* FPDUs of 56 octets; the Marker at 512 lies in the tenth, at its octet 4. */
static void many_marked_no_crc(struct conversation *c)
{
    start(c, false, true);
    for (uint32_t msn = 1; msn <= 12; msn++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, msn, 0, true, 30);
    close_both(c);
}

/* One FPDU, then `count` octets of another kind. */
static void other_octets(struct conversation *c, bool crc, uint8_t value, size_t count)
{
    uint8_t octets[4000];

    memset(octets, value, sizeof(octets));
    start(c, crc, false);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_octets(c, 0, octets, count);
}

static void zeros(struct conversation *c)
{
    other_octets(c, false, 0, 64);
}

static void garbage(struct conversation *c)
{
    other_octets(c, false, 0xAA, 64);
}

/* ULPDU_Length is 43,690: the receiver waits for the rest, and gives up. */
static void garbage_then_reset(struct conversation *c)
{
    other_octets(c, false, 0xAA, 3096);
    conversation_close(c, 0, true);
}

static void garbage_then_reset_by_peer(struct conversation *c)
{
    other_octets(c, false, 0xAA, 3096);
    conversation_close(c, 1, true);
}

static void garbage_then_resets(struct conversation *c)
{
    other_octets(c, false, 0xAA, 3096);
    conversation_close(c, 1, false);
    conversation_close(c, 1, true);
}

static void no_pad(struct conversation *c)
{
    uint8_t octets[2 + 19 + 4] = {0, 19, 0x41, 0x43};

    start(c, true, false);
    for (uint8_t msn = 1; msn < 3; msn++) {
        octets[15] = msn;
        octets_put32_little(octets + 21, crc32c(octets, 21));
        conversation_octets(c, 0, octets, sizeof(octets));
    }
}

/*
 * Two Sends of `payload` octets from this MSN on, the first with so many pad octets, both with a CRC field of `crc`
 * octets.
 */
static void padded_from(struct conversation *c, uint8_t msn, size_t payload, size_t pad, size_t crc)
{
    uint8_t octets[2][64] = {{0}};
    size_t length = 18 + payload, ends[2];

    for (unsigned i = 0; i < 2; i++) {
        octets[i][1] = (uint8_t)length;
        octets[i][2] = 0x41;
        octets[i][3] = 0x43;
        octets[i][15] = (uint8_t)(msn + i);
        memset(octets[i] + 20, 0x11, payload);
        ends[i] = 2 + length + (i == 0 ? pad : fpdu_pad(length));
        octets_put32_little(octets[i] + ends[i], crc32c(octets[i], ends[i]));
    }
    conversation_octets(c, 0, octets[0], ends[0] + crc);
    conversation_octets(c, 0, octets[1], ends[1] + crc);
}

static void padded(struct conversation *c, size_t payload, size_t pad, size_t crc)
{
    padded_from(c, 1, payload, pad, crc);
}

/* Nobody checks CRCs: the pad of one octet where three are due makes all that follows part of one FPDU. */
static void pad_swallows(struct conversation *c)
{
    start(c, false, false);
    padded(c, 1, 1, 4);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 3, 0, true, 20);
}

static void pads_no_crc(struct conversation *c)
{
    start(c, false, false);
    padded(c, 1, 3, 4);
}

static void pad_too_long(struct conversation *c)
{
    start(c, false, false);
    padded(c, 1, 5, 4);
}

/* What seems to be the pad of the second one is octets of a third. */
static void no_crc_field(struct conversation *c)
{
    start(c, false, false);
    padded_from(c, 1, 1, 3, 0);
    padded_from(c, 3, 1, 3, 0);
}

/* The last FPDU waits for the octet that its pad lacks. */
static void last_without_pad(struct conversation *c)
{
    uint8_t octets[2 + 21 + 4] = {0, 21, 0x41, 0x43};

    start(c, true, false);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    octets[15] = 2; /* MSN */
    octets_put32_little(octets + 23, crc32c(octets, 23));
    conversation_octets(c, 0, octets, sizeof(octets));
}

static void over_mss_marked(struct conversation *c)
{
    struct iwarp_mpa_start request = plain_request, reply = plain_reply;

    request.markers = reply.markers = true;
    conversation_open(c, 536);
    conversation_start(c, 0, &request);
    conversation_start(c, 1, &reply);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 505); /* ULPDU 523, MULPDU 522 */
    close_both(c);
}

static void over_mss(struct conversation *c)
{
    start(c, true, false);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 1437); /* ULPDU 1455, MULPDU 1454 */
    close_both(c);
}

static void many_sends(struct conversation *c)
{
    for (uint32_t msn = 1; msn <= 40; msn++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, msn, 0, true, 76);
    close_both(c);
}

static void aligned(struct conversation *c)
{
    start(c, true, false);
    many_sends(c);
}

static void not_aligned(struct conversation *c)
{
    start(c, true, false);
    conversation_pieces(c, 97); /* FPDUs have 100 octets */
    many_sends(c);
}

static void fin_inside(struct conversation *c)
{
    static const uint8_t begun[] = {0, 40, 0x41, 0x43};

    start(c, true, false);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_octets(c, 0, begun, sizeof(begun));
    close_both(c);
}

/* ---- CRCs over the wrong octets ---------------------------------------------------------------------------------- */

static void put_crc(uint8_t *fpdu, size_t octets, const uint8_t *from, size_t count)
{
    octets_put32_little(fpdu + octets - 4, crc32c(from, count));
}

static void spoil_length(uint8_t *fpdu, size_t octets, uint32_t position)
{
    (void)position;
    put_crc(fpdu, octets, fpdu + 2, octets - 6);
}

static void spoil_pad(uint8_t *fpdu, size_t octets, uint32_t position)
{
    size_t pad = fpdu_pad(octets_get16(fpdu));

    (void)position;
    ck_assert_uint_ne(pad, 0);
    put_crc(fpdu, octets, fpdu, octets - 4 - pad);
}

static void spoil_leading(uint8_t *fpdu, size_t octets, uint32_t position)
{
    ck_assert_uint_eq(marker_distance(position), 0);
    put_crc(fpdu, octets, fpdu + 4, octets - 8);
}

static void spoil_trailing(uint8_t *fpdu, size_t octets, uint32_t position)
{
    ck_assert_uint_eq(marker_distance(position + (uint32_t)octets - 8), 0);
    put_crc(fpdu, octets, fpdu, octets - 8);
}

static void spoil_markers(uint8_t *fpdu, size_t octets, uint32_t position)
{
    uint32_t state = CRC32C_START;

    for (size_t i = 0; i < octets - 4; i++)
        if ((position + i) % MARKER_SPACING >= MARKER_OCTETS)
            state = crc32c_update(state, fpdu + i, 1);
    octets_put32_little(fpdu + octets - 4, crc32c_value(state));
}

static void crc_without_length(struct conversation *c)
{
    conversation_spoil(c, 3, spoil_length);
    plain_conversation(c);
}

static void crc_without_pad(struct conversation *c)
{
    conversation_spoil(c, 2, spoil_pad);
    plain_conversation(c);
}

static void crc_without_leading(struct conversation *c)
{
    conversation_spoil(c, 3, spoil_leading);
    marked_conversation(c);
}

static void crc_without_trailing(struct conversation *c)
{
    conversation_spoil(c, 3, spoil_trailing);
    marked_conversation(c);
}

static void crc_without_markers(struct conversation *c)
{
    conversation_spoil(c, 4, spoil_markers);
    marked_conversation(c);
}

/* ---- Markers ----------------------------------------------------------------------------------------------------- */

static void markers_stop(struct conversation *c)
{
    start(c, true, true);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 100);
    conversation_framing(c, 0, false, true);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, true, 1000);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 3, 0, true, 100);
}

static void responder_without(struct conversation *c)
{
    start(c, true, true);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 100);
    conversation_framing(c, 1, false, true);
    for (uint32_t msn = 1; msn < 4; msn++)
        conversation_send(c, 1, IWARP_RDMAP_SEND, msn, 0, true, 100);
}

static void initiator_without(struct conversation *c)
{
    start(c, true, true);
    conversation_framing(c, 0, false, true);
    for (uint32_t msn = 1; msn < 4; msn++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, msn, 0, true, 100);
}

static void markers_undemanded(struct conversation *c)
{
    start(c, true, false);
    conversation_framing(c, 0, true, true);
    for (uint32_t msn = 1; msn < 4; msn++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, msn, 0, true, 100);
}

static void no_length(struct conversation *c)
{
    static const uint8_t octets[] = {0, 5, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0};

    start(c, false, false);
    conversation_octets(c, 0, octets, sizeof(octets));
    close_both(c);
}

const struct rule_case rules_fpdu_cases[] = {
    {"MPA-3-06", plain_conversation, too_long, NO_CHANGE, RULE_FAIL, "MPA-4.5-02 MPA-7.1.2-24", 0, NULL},
    {"MPA-3-09", marked_conversation, too_long_marked, NO_CHANGE, RULE_FAIL, "MPA-3-06 MPA-4.5-01 MPA-7.1.2-23", 0,
     NULL},
    {"MPA-4.1-01", plain_conversation, garbage, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-01", plain_conversation, garbage_then_reset, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-01", plain_conversation, garbage_then_reset_by_peer, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-01", plain_conversation, garbage_then_resets, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-01", plain_conversation, zeros, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-06", plain_conversation, pad_swallows, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-06", plain_conversation, pad_too_long, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-01", pads_no_crc, no_crc_field, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-06", plain_conversation, last_without_pad, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-03", no_crc, NULL, FRAMED(2, 121, 1), RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.1-06", plain_conversation, no_pad, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.3-01", marked_conversation, crc_without_markers, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.4-14", plain_conversation, NULL, FRAMED(3, 84, 1, 2, 3, 4), RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.4-15", plain_conversation, crc_without_length, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.4-15", plain_conversation, crc_without_pad, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.4-16", marked_conversation, crc_without_trailing, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.4-18", marked_conversation, crc_without_leading, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.5-01", marked_conversation, over_mss_marked, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"MPA-4.5-02", plain_conversation, over_mss, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"MPA-5.1-04", aligned, not_aligned, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"MPA-7.1.1-13", plain_conversation, NULL, FRAMED(3, 84, 0, 0, 0, 0), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.2-01", plain_conversation, fin_inside, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.2-02", marked_no_crc, NULL, FRAMED(4, 504, 1), RULE_FAIL, NULL, 0, NULL},
    {"MPA-4.2-05", marked_no_crc, NULL, FRAMED(4, 507, 0xF9), RULE_FAIL, "MPA-4.3-05 MPA-4.3-16 MPA-4.3-17", 0, NULL},
    {"MPA-4.3-04", marked_conversation, markers_stop, NO_CHANGE, RULE_FAIL, "MPA-4.3-07", 0, NULL},
    {"MPA-4.3-07", marked_conversation, markers_stop, NO_CHANGE, RULE_FAIL, "MPA-4.3-04", 0, NULL},
    {"MPA-4.3-05", marked_no_crc, NULL, FRAMED(4, 507, 0xF4), RULE_FAIL, "MPA-4.3-16 MPA-4.3-17", 0, NULL},
    {"MPA-4.3-14", marked_no_crc, NULL, FRAMED(2, 3, 4), RULE_FAIL, "MPA-7.1.2-23", 0, NULL},
    {"MPA-4.3-16", marked_no_crc, NULL, FRAMED(4, 1019, 0xF4), RULE_FAIL, "MPA-4.3-05", 0, NULL},
    {"MPA-4.3-17", many_marked_no_crc, NULL, FRAMED(11, 7, 0x08), RULE_FAIL, "MPA-4.3-05", 0, NULL},
    {"MPA-4.3-18", marked_no_crc, NULL, FRAMED(3, 2, 2), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-07", marked_conversation, responder_without, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-08", marked_conversation, initiator_without, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-09", plain_conversation, markers_undemanded, NO_CHANGE, RULE_FAIL, "MPA-7.1.2-24", 0, NULL},
    {"MPA-7.1.2-23", marked_no_crc, NULL, FRAMED(2, 3, 4), RULE_FAIL, "MPA-4.3-14", 0, NULL},
    {"MPA-7.1.2-24", plain_conversation, no_length, NO_CHANGE, RULE_FAIL, "DDP-4.4-01", 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, 0, NULL, 0, NULL},
};

START_TEST(case_of_the_fpdu_rules)
{
    rule_case_run(&rules_fpdu_cases[_i]);
}
END_TEST

Suite *rules_fpdu_suite(void);

Suite *rules_fpdu_suite(void)
{
    Suite *suite = suite_create("rules_fpdu");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_fpdu_rules, 0,
                        (int)(sizeof(rules_fpdu_cases) / sizeof(rules_fpdu_cases[0])) - 1);
    suite_add_tcase(suite, cases);
    return suite;
}
