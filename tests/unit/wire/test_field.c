/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables against accessors, and both against a third reading of the same bits, one bit at a time. */
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/atomic.h"
#include "wire/cm.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "wire/mpa.h"
#include "wire/nvme.h"
#include "wire/port_mapper.h"
#include "wire/rdmap.h"
#include "wire/sctp.h"
#include "wire/iser.h"
#include "wire/rpcrdma.h"
#include "wire/smbd.h"
#include "wire/terminate.h"

enum { HEADER_MAX = 128, ROUNDS = 200 };

Suite *field_suite(void);

/* Every field of every header, with its accessors (those of a string of octets: only where it begins). */
struct accessor {
    const struct wire_layout *layout;
    const char *id;
    uint64_t (*get)(const uint8_t *header);
    void (*set)(uint8_t *header, uint64_t value);
    const uint8_t *(*at)(const uint8_t *header);
};

#define NUMBER_ROW(layout, id, ...) {&layout##_layout, #id, layout##_get_##id, layout##_set_##id, NULL},
#define OCTETS_ROW(layout, id, ...) {&layout##_layout, #id, NULL, NULL, layout##_at_##id},
static const struct accessor accessors[] = {
    MPA_START_FIELDS(NUMBER_ROW, OCTETS_ROW, mpa_start)                             //
    MPA_ENHANCED_FIELDS(NUMBER_ROW, OCTETS_ROW, mpa_enhanced)                       //
    FPDU_FIELDS(NUMBER_ROW, OCTETS_ROW, fpdu)                                       //
    MARKER_FIELDS(NUMBER_ROW, OCTETS_ROW, marker)                                   //
    DDP_TAGGED_FIELDS(NUMBER_ROW, OCTETS_ROW, ddp_tagged)                           //
    DDP_UNTAGGED_FIELDS(NUMBER_ROW, OCTETS_ROW, ddp_untagged)                       //
    RDMAP_CONTROL_FIELDS(NUMBER_ROW, OCTETS_ROW, rdmap_control)                     //
    RDMAP_UNTAGGED_FIELDS(NUMBER_ROW, OCTETS_ROW, rdmap_untagged)                   //
    READ_REQUEST_FIELDS(NUMBER_ROW, OCTETS_ROW, read_request)                       //
    TERMINATE_FIELDS(NUMBER_ROW, OCTETS_ROW, terminate)                             //
    TERMINATE_LENGTH_FIELDS(NUMBER_ROW, OCTETS_ROW, terminate_length)               //
    ATOMIC_REQUEST_FIELDS(NUMBER_ROW, OCTETS_ROW, atomic_request)                   //
    ATOMIC_RESPONSE_FIELDS(NUMBER_ROW, OCTETS_ROW, atomic_response)                 //
    IMMEDIATE_FIELDS(NUMBER_ROW, OCTETS_ROW, immediate)                             //
    SCTP_COMMON_FIELDS(NUMBER_ROW, OCTETS_ROW, sctp_common)                         //
    SCTP_CHUNK_FIELDS(NUMBER_ROW, OCTETS_ROW, sctp_chunk)                           //
    SCTP_DATA_FIELDS(NUMBER_ROW, OCTETS_ROW, sctp_data)                             //
    SCTP_INIT_FIELDS(NUMBER_ROW, OCTETS_ROW, sctp_init)                             //
    SCTP_ADAPTATION_FIELDS(NUMBER_ROW, OCTETS_ROW, sctp_adaptation)                 //
    SCTP_SACK_FIELDS(NUMBER_ROW, OCTETS_ROW, sctp_sack)                             //
    DDP_SCTP_SEGMENT_FIELDS(NUMBER_ROW, OCTETS_ROW, ddp_sctp_segment)               //
    DDP_SCTP_CONTROL_FIELDS(NUMBER_ROW, OCTETS_ROW, ddp_sctp_control)               //
    DDP_SCTP_DRAFT_CONTROL_FIELDS(NUMBER_ROW, OCTETS_ROW, ddp_sctp_draft_control)   //
    LRH_FIELDS(NUMBER_ROW, OCTETS_ROW, lrh)                                         //
    BTH_FIELDS(NUMBER_ROW, OCTETS_ROW, bth)                                         //
    DETH_FIELDS(NUMBER_ROW, OCTETS_ROW, deth)                                       //
    MAD_FIELDS(NUMBER_ROW, OCTETS_ROW, mad)                                         //
    CM_IDS_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_ids)                                   //
    CM_REQ_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_req)                                   //
    CM_REP_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_rep)                                   //
    CM_MRA_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_mra)                                   //
    CM_REJ_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_rej)                                   //
    CM_DREQ_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_dreq)                                 //
    CM_SIDR_REQ_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_sidr_req)                         //
    CM_SIDR_REP_FIELDS(NUMBER_ROW, OCTETS_ROW, cm_sidr_rep)                         //
    IP_CM_PRIVATE_FIELDS(NUMBER_ROW, OCTETS_ROW, ip_cm_private)                     //
    IP_CM_SERVICE_FIELDS(NUMBER_ROW, OCTETS_ROW, ip_cm_service)                     //
    IP_CM_ARI_FIELDS(NUMBER_ROW, OCTETS_ROW, ip_cm_ari)                             //
    SMBD_REQUEST_FIELDS(NUMBER_ROW, OCTETS_ROW, smbd_request)                       //
    SMBD_RESPONSE_FIELDS(NUMBER_ROW, OCTETS_ROW, smbd_response)                     //
    SMBD_DATA_FIELDS(NUMBER_ROW, OCTETS_ROW, smbd_data)                             //
    SMBD_DESCRIPTOR_FIELDS(NUMBER_ROW, OCTETS_ROW, smbd_descriptor)                 //
    RPCRDMA_HEADER_FIELDS(NUMBER_ROW, OCTETS_ROW, rpcrdma_header)                   //
    RPCRDMA_SEGMENT_FIELDS(NUMBER_ROW, OCTETS_ROW, rpcrdma_segment)                 //
    RPCRDMA_READ_SEGMENT_FIELDS(NUMBER_ROW, OCTETS_ROW, rpcrdma_read_segment)       //
    RPCRDMA_PRIVATE_FIELDS(NUMBER_ROW, OCTETS_ROW, rpcrdma_private)                 //
    ISER_CONTROL_FIELDS(NUMBER_ROW, OCTETS_ROW, iser_control)                       //
    ISER_HELLO_FIELDS(NUMBER_ROW, OCTETS_ROW, iser_hello)                           //
    ISER_HELLO_REPLY_FIELDS(NUMBER_ROW, OCTETS_ROW, iser_hello_reply)               //
    ISCSI_REQUEST_FIELDS(NUMBER_ROW, OCTETS_ROW, iscsi_request)                     //
    ISCSI_RESPONSE_FIELDS(NUMBER_ROW, OCTETS_ROW, iscsi_response)                   //
    ISER_PRIVATE_FIELDS(NUMBER_ROW, OCTETS_ROW, iser_private)                       //
    NVME_COMMAND_FIELDS(NUMBER_ROW, OCTETS_ROW, nvme_command)                       //
    NVME_RESPONSE_FIELDS(NUMBER_ROW, OCTETS_ROW, nvme_response)                     //
    NVME_HOST_PRIVATE_FIELDS(NUMBER_ROW, OCTETS_ROW, nvme_host_private)             //
    NVME_CONTROLLER_PRIVATE_FIELDS(NUMBER_ROW, OCTETS_ROW, nvme_controller_private) //
    PORT_MAPPER_FIELDS(NUMBER_ROW, OCTETS_ROW, port_mapper)                         //
    PORT_MAPPER_MAPPED_FIELDS(NUMBER_ROW, OCTETS_ROW, port_mapper_mapped)           //
};
enum { ACCESSORS = sizeof(accessors) / sizeof(accessors[0]), LAYOUTS = 58 };

static bool bit_of(const uint8_t *octets, size_t bit)
{
    return octets[bit / 8] >> (7 - bit % 8) & 1;
}

static uint64_t bits_of(const uint8_t *octets, size_t bit, size_t bits)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bits; i++)
        value = value << 1 | bit_of(octets, bit + i);
    return value;
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* A field's value with its octets as they stand on the wire, the first one the most significant. */
static uint64_t on_wire(const struct wire_field *field, uint64_t value)
{
    uint64_t turned = 0;

    if (!field->little)
        return value;
    for (unsigned i = 0; i < field->bits; i += 8)
        turned = turned << 8 | (value >> i & 0xFF);
    return turned;
}

/* Fails unless `after` is `before` with `value` in bits [bit, bit + bits), and nothing else changed. */
static void expect_only_changed(const uint8_t *before, const uint8_t *after, size_t octets, size_t bit, size_t bits,
                                uint64_t value)
{
    for (size_t i = 0; i < octets * 8; i++) {
        bool expected = i >= bit && i < bit + bits ? value >> (bit + bits - 1 - i) & 1 : bit_of(before, i);

        EXPECT(bit_of(after, i) == expected, "bit %zu is %d after setting bits %zu to %zu", i, !expected, bit,
               bit + bits - 1);
    }
}

START_TEST(accessor_agrees_with_table)
{
    const struct accessor *a = &accessors[_i];
    const struct wire_field *field = wire_layout_field(a->layout, a->id);
    size_t octets = a->layout->octets;
    uint64_t state = (uint64_t)_i;
    uint8_t before[HEADER_MAX], by_accessor[HEADER_MAX];

    ck_assert_ptr_nonnull(field);
    ck_assert_uint_le(octets, HEADER_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        noise_fill(&state, before, octets);
        uint8_t *header = guard_place(before, octets);

        if (a->get == NULL) {
            ck_assert_int_eq(field->kind, WIRE_OCTETS);
            ck_assert_ptr_eq(a->at(header), header + field->bit / 8);
            ck_assert_uint_eq(wire_field_get(field, header), 0);
            wire_field_set(field, header, noise(&state));
            ck_assert_mem_eq(header, before, octets);
        } else {
            uint64_t value = noise(&state);
            uint64_t expected = on_wire(field, bits_of(before, field->bit, field->bits));

            ck_assert_uint_eq(a->get(header), expected);
            ck_assert_uint_eq(wire_field_get(field, header), expected);
            a->set(header, value);
            memcpy(by_accessor, header, octets);
            expect_only_changed(before, header, octets, field->bit, field->bits,
                                on_wire(field, low_bits(value, field->bits)));
            ck_assert_uint_eq(a->get(header), low_bits(value, field->bits));
            memcpy(header, before, octets);
            wire_field_set(field, header, value);
            ck_assert_mem_eq(header, by_accessor, octets);
        }
        guard_free(header, octets);
    }
}
END_TEST

/* Any bit offset and width, not only those that some header happens to have. */
START_TEST(bits_any_place)
{
    unsigned bits = (unsigned)_i;
    uint64_t state = 77;
    uint8_t before[16];

    for (unsigned bit = 0; bit < 24; bit++) {
        size_t octets = (bit + bits + 7) / 8;

        if (bits > 57 && bit % 8 != 0)
            continue;
        for (int round = 0; round < 20; round++) {
            noise_fill(&state, before, octets);
            uint8_t *header = guard_place(before, octets);
            uint64_t value = noise(&state);

            ck_assert_uint_eq(wire_bits_get(header, bit, bits), bits_of(before, bit, bits));
            wire_bits_set(header, bit, bits, value);
            expect_only_changed(before, header, octets, bit, bits, low_bits(value, bits));
            guard_free(header, octets);
        }
    }
}
END_TEST

START_TEST(every_field_has_an_accessor_here)
{
    size_t fields = 0, layouts = 0;

    for (; wire_layouts[layouts] != NULL; layouts++)
        fields += wire_layouts[layouts]->field_count;
    ck_assert_uint_eq(layouts, LAYOUTS);
    ck_assert_uint_eq(fields, ACCESSORS);
}
END_TEST

static void expect_identifier(const char *id)
{
    ck_assert(isalpha((unsigned char)id[0]));
    for (const char *c = id; *c != '\0'; c++)
        ck_assert_msg(isalnum((unsigned char)*c) || *c == '_', "'%s' is no identifier", id);
}

START_TEST(fields_cover_their_header)
{
    const struct wire_layout *layout = wire_layouts[_i];
    size_t next = 0;

    ck_assert(layout->octets > 0 && layout->title[0] != '\0' && layout->section[0] != '\0');
    expect_identifier(layout->id);
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct wire_field *field = &layout->fields[i];

        ck_assert_msg(field->bit == next, "%s.%s begins at bit %u; expected %zu", layout->id, field->id, field->bit,
                      next);
        ck_assert_uint_gt(field->bits, 0);
        next += field->bits;
        ck_assert_msg(field->kind == WIRE_OCTETS || field->bits <= 64, "%s.%s", layout->id, field->id);
        ck_assert_msg(field->kind != WIRE_OCTETS || field->bits % 8 == 0, "%s.%s", layout->id, field->id);
        ck_assert_msg(field->kind != WIRE_FLAG || field->bits == 1, "%s.%s", layout->id, field->id);
        /* wire_bits_get() can read no wider field off an octet boundary. */
        ck_assert_msg(field->kind == WIRE_OCTETS || field->bits <= 57 || field->bit % 8 == 0, "%s.%s", layout->id,
                      field->id);
        ck_assert(field->name[0] != '\0' && field->meaning[0] != '\0');
        ck_assert_msg(strncmp(field->section, "RFC ", 4) == 0 || strncmp(field->section, "IBTA ", 5) == 0 ||
                          strncmp(field->section, "A11", 3) == 0 || strncmp(field->section, "draft-", 6) == 0 ||
                          strncmp(field->section, "MS-", 3) == 0 || strncmp(field->section, "NVMe-oF ", 8) == 0,
                      "%s.%s: section '%s'", layout->id, field->id, field->section);
    }
    ck_assert_msg(next == layout->octets * 8, "%s: fields end at bit %zu; the header has %zu", layout->id, next,
                  layout->octets * 8);
}
END_TEST

START_TEST(identifiers_are_unique_and_found)
{
    const struct wire_layout *layout = wire_layouts[_i];

    ck_assert_ptr_eq(wire_layout_find(layout->id), layout);
    for (size_t i = 0; i < layout->field_count; i++) {
        expect_identifier(layout->fields[i].id);
        ck_assert_ptr_eq(wire_layout_field(layout, layout->fields[i].id), &layout->fields[i]);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(layout->fields[i].name, layout->fields[j].name);
    }
    ck_assert_ptr_null(wire_layout_field(layout, "no_such_field"));
    ck_assert_ptr_null(wire_layout_find("no_such_layout"));
}
END_TEST

START_TEST(value_names_are_unique_and_fit)
{
    const struct wire_layout *layout = wire_layouts[_i];

    for (size_t i = 0; i < layout->field_count; i++) {
        const struct wire_field *field = &layout->fields[i];

        for (const struct wire_name *name = field->names; name != NULL && name->name != NULL; name++) {
            ck_assert_uint_eq(low_bits(name->value, field->bits), name->value);
            /* Found under its own value: no two names for one. */
            ck_assert_ptr_eq(wire_name_of(field->names, name->value), name->name);
        }
    }
    ck_assert_ptr_null(wire_name_of(NULL, 0));
    ck_assert_ptr_null(wire_name_of(rdmap_opcode_names, 0xC));
    ck_assert_str_eq(wire_name_of(rdmap_opcode_names, 0x0), "RDMA Write");
}
END_TEST

Suite *field_suite(void)
{
    Suite *suite = suite_create("field");
    TCase *tables = tcase_create("tables");

    tcase_add_loop_test(tables, accessor_agrees_with_table, 0, ACCESSORS);
    tcase_add_test(tables, every_field_has_an_accessor_here);
    tcase_add_loop_test(tables, fields_cover_their_header, 0, LAYOUTS);
    tcase_add_loop_test(tables, identifiers_are_unique_and_found, 0, LAYOUTS);
    tcase_add_loop_test(tables, value_names_are_unique_and_fit, 0, LAYOUTS);
    suite_add_tcase(suite, tables);

    TCase *bits = tcase_create("bits");
    tcase_add_loop_test(bits, bits_any_place, 1, 65);
    suite_add_tcase(suite, bits);
    return suite;
}
