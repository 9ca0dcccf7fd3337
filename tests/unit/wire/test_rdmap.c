/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMAP: the table of opcodes against RFC 5040 Figures 3 and 4 and RFC 7306, and the Read Request Header. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/atomic.h"
#include "wire/rdmap.h"

Suite *rdmap_suite(void);

/* What the texts say of each opcode, written down a second time: model, queue, fixed header, Invalidate STag. */
static const struct {
    const char *name;
    bool tagged;
    unsigned qn, header;
    bool payload, invalidates;
} texts[16] = {
    {"RDMA Write", true, 0, 0, true, false},
    {"RDMA Read Request", false, 1, 28, false, false},
    {"RDMA Read Response", true, 0, 0, true, false},
    {"Send", false, 0, 0, true, false},
    {"Send with Invalidate", false, 0, 0, true, true},
    {"Send with Solicited Event", false, 0, 0, true, false},
    {"Send with Solicited Event and Invalidate", false, 0, 0, true, true},
    {"Terminate", false, 2, 4, false, false},
    {"Immediate Data", false, 0, 8, false, false},
    {"Immediate Data with Solicited Event", false, 0, 8, false, false},
    {"Atomic Request", false, 1, 52, false, false},
    {"Atomic Response", false, 3, 12, false, false},
};

START_TEST(opcode_table_follows_the_rfc)
{
    const struct rdmap_opcode_row *row = &rdmap_opcode_rows[_i];

    if (texts[_i].name == NULL) {
        ck_assert_ptr_null(row->name);
        ck_assert_ptr_null(wire_name_of(rdmap_opcode_names, (uint64_t)_i));
        return;
    }
    ck_assert_str_eq(row->name, texts[_i].name);
    ck_assert_str_eq(wire_name_of(rdmap_opcode_names, (uint64_t)_i), texts[_i].name);
    ck_assert_int_eq(row->tagged, texts[_i].tagged);
    ck_assert_uint_eq(row->qn, texts[_i].qn);
    ck_assert_uint_eq(row->header_octets, texts[_i].header);
    ck_assert_int_eq(row->has_payload, texts[_i].payload);
    ck_assert_int_eq(row->invalidates, texts[_i].invalidates);
    ck_assert(strncmp(row->section, "RFC ", 4) == 0);
    ck_assert_uint_eq(rdmap_control((enum iwarp_rdmap_opcode)_i), 0x40 | _i);
    ck_assert_int_eq(rdmap_is_send((unsigned)_i), _i >= 3 && _i <= 6);
}
END_TEST

/* The table's header sizes are those of the layouts. */
START_TEST(opcode_table_and_layouts)
{
    ck_assert_uint_eq(rdmap_opcode_rows[IWARP_RDMAP_READ_REQUEST].header_octets, read_request_layout.octets);
    ck_assert_uint_eq(rdmap_opcode_rows[IWARP_RDMAP_TERMINATE].header_octets, terminate_layout.octets);
    ck_assert_uint_eq(rdmap_opcode_rows[IWARP_RDMAP_IMMEDIATE].header_octets, immediate_layout.octets);
    ck_assert_uint_eq(rdmap_opcode_rows[IWARP_RDMAP_IMMEDIATE_SE].header_octets, immediate_layout.octets);
    ck_assert_uint_eq(rdmap_opcode_rows[IWARP_RDMAP_ATOMIC_REQUEST].header_octets, atomic_request_layout.octets);
    ck_assert_uint_eq(rdmap_opcode_rows[IWARP_RDMAP_ATOMIC_RESPONSE].header_octets, atomic_response_layout.octets);
}
END_TEST

/* _i: the control octet. Every one, in both models, on every queue. */
START_TEST(every_control_octet)
{
    unsigned version = (unsigned)_i >> 6, opcode = (unsigned)_i & 0xF;

    for (unsigned model = 0; model < 6; model++) {
        bool is_tagged = model == 0;
        uint32_t qn = model == 5 ? 0xFFFFFFFF : model - 1;
        struct ddp_segment segment = {.tagged = is_tagged,
                                      .version = 1,
                                      .control = (uint8_t)_i,
                                      .qn = is_tagged ? 0 : qn,
                                      .ulp_word = 0xCAFEF00D,
                                      .payload_octets = 64};
        struct rdmap_message message;
        wire_result expected = WIRE_OK;

        if (version != 1)
            expected = TERM_RDMAP_VERSION;
        else if (texts[opcode].name == NULL || texts[opcode].tagged != is_tagged ||
                 (!is_tagged && texts[opcode].qn != qn))
            expected = TERM_RDMAP_OPCODE;
        ck_assert_uint_eq(rdmap_parse(&segment, &message), expected);
        ck_assert_uint_eq(message.version, version);
        ck_assert_uint_eq(message.reserved, _i >> 4 & 3);
        ck_assert_uint_eq(message.opcode, opcode);
        ck_assert_uint_eq(message.invalidate_stag, 0xCAFEF00D);
        ck_assert_ptr_eq(message.row, &rdmap_opcode_rows[opcode]);
        if (expected == WIRE_OK)
            for (size_t octets = 0; octets <= 64; octets++) {
                segment.payload_octets = octets;
                ck_assert_uint_eq(rdmap_parse(&segment, &message), octets < texts[opcode].header ? WIRE_MORE : WIRE_OK);
            }
    }
}
END_TEST

START_TEST(read_request_round_trip)
{
    static const uint8_t octets[28] = {0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26,
                                       0x27, 0x28, 0xFF, 0xFE, 0xFD, 0xFC, 0x31, 0x32, 0x33, 0x34,
                                       0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48};
    struct read_request request;
    uint8_t packed[28];

    for (size_t count = 0; count <= 28; count++) {
        uint8_t *placed = guard_place(octets, count);
        const uint8_t *p = placed;

        ck_assert_uint_eq(read_request_parse(&p, placed + count, &request), count < 28 ? WIRE_MORE : WIRE_OK);
        ck_assert_uint_eq((size_t)(p - placed), count < 28 ? 0 : 28);
        guard_free(placed, count);
    }
    ck_assert_uint_eq(request.sink_stag, 0x11121314);
    ck_assert_uint_eq(request.sink_to, UINT64_C(0x2122232425262728));
    ck_assert_uint_eq(request.octets, 0xFFFEFDFC);
    ck_assert_uint_eq(request.source_stag, 0x31323334);
    ck_assert_uint_eq(request.source_to, UINT64_C(0x4142434445464748));
    read_request_pack(&request, packed);
    ck_assert_mem_eq(packed, octets, 28);
}
END_TEST

/* RFC 6581's RTR messages, octet for octet, out of the packers. */
START_TEST(rtr_messages_match_octet_for_octet)
{
    static const uint8_t send[18] = {0x41, 0x43, [13] = 1};
    static const uint8_t read[46] = {0x41, 0x41, [9] = 1, [13] = 1};
    struct ddp_segment segment = {.last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = 1};
    struct read_request request = {0};
    uint8_t packed[46];

    ck_assert_uint_eq(ddp_pack_header(&segment, packed), 18);
    ck_assert_mem_eq(packed, send, 18);
    segment.control = rdmap_control(IWARP_RDMAP_READ_REQUEST);
    segment.qn = DDP_QN_READ_REQUEST;
    ck_assert_uint_eq(ddp_pack_header(&segment, packed), 18);
    read_request_pack(&request, packed + 18);
    ck_assert_mem_eq(packed, read, 46);
    segment.tagged = true;
    segment.control = rdmap_control(IWARP_RDMAP_WRITE);
    ck_assert_uint_eq(ddp_pack_header(&segment, packed), 14);
    ck_assert_mem_eq(packed, "\xC1\x40\0\0\0\0\0\0\0\0\0\0\0\0", 14);
}
END_TEST

Suite *rdmap_suite(void)
{
    Suite *suite = suite_create("rdmap");
    TCase *tcase = tcase_create("rdmap");

    tcase_add_loop_test(tcase, opcode_table_follows_the_rfc, 0, 16);
    tcase_add_test(tcase, opcode_table_and_layouts);
    tcase_add_loop_test(tcase, every_control_octet, 0, 256);
    tcase_add_test(tcase, read_request_round_trip);
    tcase_add_test(tcase, rtr_messages_match_octet_for_octet);
    suite_add_tcase(suite, tcase);
    return suite;
}
