/* SPDX-License-Identifier: BSD-2-Clause */
/* CM messages with the RDMA IP CM Service's parts. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/cm.h"

Suite *cm_suite(void);

static void mad_make(uint8_t mad[MAD_OCTETS], uint16_t attribute)
{
    memset(mad, 0, MAD_OCTETS);
    mad_set_BaseVersion(mad, 1);
    mad_set_MgmtClass(mad, MAD_CLASS_CM);
    mad_set_ClassVersion(mad, MAD_CM_VERSION);
    mad_set_Method(mad, MAD_METHOD_SEND);
    mad_set_TransactionID(mad, UINT64_C(0x0123456789ABCDEF));
    mad_set_AttributeID(mad, attribute);
}

/* Annex A11: iSER by TCP port 3260, from 192.0.2.1:49153 to 192.0.2.2. Offsets as in the annex, counted in the MAD. */
static void request_make(uint8_t mad[MAD_OCTETS])
{
    mad_make(mad, CM_REQ);
    /* NOLINTBEGIN(bugprone-not-null-terminated-result): octets, no strings */
    memcpy(mad + 24, "\xAA\xBB\xCC\xDD", 4);
    memcpy(mad + 32, "\x00\x00\x00\x00\x01\x06\x0C\xBC", 8);
    memcpy(mad + 164, "\x00\x40\xC0\x01", 4);
    memcpy(mad + 180, "\xC0\x00\x02\x01", 4);
    memcpy(mad + 196, "\xC0\x00\x02\x02", 4);
    memcpy(mad + 200, "consumer", 8);
    /* NOLINTEND(bugprone-not-null-terminated-result) */
}

START_TEST(req_is_parsed_field_by_field)
{
    uint8_t mad[MAD_OCTETS];
    struct cm_message message;

    request_make(mad);
    mad[59] = 3;    /* Responder Resources */
    mad[63] = 4;    /* Initiator Depth */
    mad[67] = 0x91; /* timeout 18, RC, flow control */
    ck_assert_uint_eq(cm_parse(mad, MAD_OCTETS, &message), WIRE_OK);
    ck_assert_str_eq(message.row->name, "REQ");
    ck_assert_uint_eq(message.transaction, UINT64_C(0x0123456789ABCDEF));
    ck_assert_uint_eq(message.local_id, 0xAABBCCDD);
    ck_assert(message.has_service && ip_cm_in_range(message.service_id));
    ck_assert_uint_eq(ip_cm_service_get_Protocol(message.body + 8), 6);
    ck_assert_uint_eq(ip_cm_service_get_Port(message.body + 8), 3260);
    ck_assert_uint_eq(cm_req_get_Resources(message.body), 3);
    ck_assert_uint_eq(cm_req_get_Depth(message.body), 4);
    ck_assert_uint_eq(cm_req_get_RemoteTimeout(message.body), 18);
    ck_assert_uint_eq(cm_req_get_FlowControl(message.body), 1);
    ck_assert_ptr_eq(message.private_data, mad + 164);
    ck_assert_uint_eq(message.private_octets, 92);
    ck_assert(message.has_ip);
    ck_assert_uint_eq(message.ip.major | message.ip.minor | message.ip.reserved, 0);
    ck_assert_uint_eq(message.ip.ip_version, 4);
    ck_assert_uint_eq(message.ip.source_port, 49153);
    ck_assert_ptr_eq(message.ip.source, mad + 168);
    ck_assert_ptr_eq(message.ip.destination, mad + 184);
    ck_assert_ptr_eq(message.ip.consumer, mad + 200);
    ck_assert_uint_eq(message.ip.consumer_octets, IP_CM_CONSUMER_OCTETS);
    mad[164] = 0x12;
    mad[165] = 0x6F;
    ck_assert_uint_eq(cm_parse(mad, MAD_OCTETS, &message), WIRE_OK);
    ck_assert(message.ip.major == 1 && message.ip.minor == 2 && message.ip.ip_version == 6 &&
              message.ip.reserved == 15);
    mad[36] = 0x02; /* another range: the Private Data is the consumer's */
    ck_assert_uint_eq(cm_parse(mad, MAD_OCTETS, &message), WIRE_OK);
    ck_assert(!message.has_ip);
}
END_TEST

/* Annex A11, the octets of a refusal for the major version. */
START_TEST(refusal_of_a_version_is_parsed)
{
    uint8_t mad[MAD_OCTETS];
    struct cm_message message;

    mad_make(mad, CM_REJ);
    memcpy(mad + 24, "\0\0\0\0\0\x0A\0\x01\0\x0A\0\x1C\0\x01\x01\0\0", 17);
    ck_assert_uint_eq(cm_parse(mad, MAD_OCTETS, &message), WIRE_OK);
    ck_assert_uint_eq(message.local_id, 0);
    ck_assert_uint_eq(message.remote_id, 0x000A0001);
    ck_assert_uint_eq(message.rejected, 0);
    ck_assert_uint_eq(message.info_octets, 5);
    ck_assert_uint_eq(message.reason, CM_REASON_CONSUMER);
    ck_assert_str_eq(wire_name_of(cm_reason_names, message.reason), "Consumer Reject");
    ck_assert(message.has_ari);
    ck_assert_uint_eq(message.ari.layer, IP_CM_LAYER_SERVICE);
    ck_assert_uint_eq(message.ari.code, 1);
    ck_assert_str_eq(wire_name_of(ip_cm_ari_names, message.ari.code), "Major Version");
    ck_assert_uint_eq(message.ari.suggested_octets, 1);
    ck_assert_ptr_eq(message.ari.suggested, mad + 40);
    ck_assert_ptr_eq(message.private_data, mad + 108);
    ck_assert_uint_eq(message.private_octets, 148);
    mad[33] = 0; /* no ARI is valid */
    cm_parse(mad, MAD_OCTETS, &message);
    ck_assert(!message.has_ari);
    mad[33] = 4 << 1; /* the suggested value does not fit */
    cm_parse(mad, MAD_OCTETS, &message);
    ck_assert(!message.has_ari);
    mad[33] = 0xFE; /* 127: more than there can be */
    cm_parse(mad, MAD_OCTETS, &message);
    ck_assert(message.has_ari);
    mad[36] = IP_CM_LAYER_ULP;
    cm_parse(mad, MAD_OCTETS, &message);
    ck_assert(message.has_ari && message.ari.layer == IP_CM_LAYER_ULP && message.ari.suggested == NULL);
    mad[35] = CM_REASON_INVALID_SERVICE_ID;
    cm_parse(mad, MAD_OCTETS, &message);
    ck_assert(!message.has_ari);
}
END_TEST

START_TEST(mad_of_another_class_is_refused)
{
    uint8_t mad[MAD_OCTETS];
    struct cm_message message;

    mad_make(mad, CM_REQ);
    mad_set_MgmtClass(mad, 3);
    ck_assert(wire_is_error(cm_parse(mad, MAD_OCTETS, &message)));
    mad_make(mad, 0x20);
    ck_assert_uint_eq(cm_parse(mad, MAD_OCTETS, &message), WIRE_OK);
    ck_assert_ptr_null(message.row->name);
}
END_TEST

/* Loop: attribute 0x10 to 0x1A. Every length is read without a step too far, and Private Data lies where it should. */
START_TEST(mad_of_any_length_is_safe)
{
    const struct cm_attribute_row *row = cm_attribute_row((uint16_t)_i);
    uint8_t mad[MAD_OCTETS];
    struct cm_message message;

    ck_assert_ptr_nonnull(row->name);
    ck_assert_uint_eq(row->private_at + row->private_octets, CM_MESSAGE_OCTETS);
    request_make(mad);
    mad_set_AttributeID(mad, (uint16_t)_i);
    ck_assert_uint_le(cm_layout((uint16_t)_i)->octets, row->private_at);
    for (size_t count = 0; count <= MAD_OCTETS; count++) {
        uint8_t *placed = guard_place(mad, count);

        ck_assert_uint_eq(cm_parse(placed, count, &message), count < MAD_OCTETS ? WIRE_MORE : WIRE_OK);
        ck_assert_int_eq(message.private_data != NULL, count > MAD_HEADER_OCTETS + (size_t)row->private_at);
        if (message.private_data != NULL)
            ck_assert_ptr_eq(message.private_data + message.private_octets, placed + count);
        guard_free(placed, count);
    }
}
END_TEST

/* ---- ICRC -------------------------------------------------------------------------------------------------------- */

/* The seed that both ends of RoCE begin with: the CRC state after eight octets of ones. */
START_TEST(icrc_begins_with_the_roce_seed)
{
    static const uint8_t ones[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

    ck_assert_uint_eq(icrc_update(ICRC_START, ones, 8), 0xDEBB20E3);
    ck_assert_uint_eq(~icrc_update(ICRC_START, (const uint8_t *)"123456789", 9), 0xCBF43926);
}
END_TEST

static uint32_t icrc_of(int kind, const uint8_t *packet, size_t count)
{
    size_t ip = kind == 0 ? 20 : 40;

    return kind < 2 ? icrc_roce_v2(packet, kind == 0 ? 4 : 6, packet + ip, count - ip) : icrc_native(packet, count);
}

/* Loop: 0 RoCEv2 on IPv4, 1 on IPv6, 2 LRH alone, 3 LRH and GRH. Variant fields do not count, everything else does. */
START_TEST(icrc_leaves_variant_fields_out)
{
    static const struct {
        size_t octets;
        uint8_t variant[16]; /* octets all of whose bits are variant; ends with 255 */
        unsigned from, to;   /* and these bits */
    } kinds[4] = {
        {68, {1, 8, 10, 11, 26, 27, 32, 255}, 0, 0},
        {88, {1, 2, 3, 7, 46, 47, 52, 255}, 4, 8},
        {48, {12, 255}, 0, 4},
        {88, {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 15, 52, 255}, 68, 72},
    };
    uint64_t state = (uint64_t)_i;
    uint8_t packet[88], flipped[88];
    uint32_t before;

    noise_fill(&state, packet, sizeof(packet));
    if (_i >= 2)
        lrh_set_LNH(packet, _i == 2 ? LRH_LNH_LOCAL : LRH_LNH_GLOBAL);
    before = icrc_of(_i, packet, kinds[_i].octets);
    for (unsigned bit = 0; bit < kinds[_i].octets * 8; bit++) {
        bool variant = bit >= kinds[_i].from && bit < kinds[_i].to;

        if (_i >= 2 && bit / 8 == 1) /* has LNH, which decides what is masked */
            continue;
        for (unsigned i = 0; kinds[_i].variant[i] != 255; i++)
            variant = variant || kinds[_i].variant[i] == bit / 8;
        memcpy(flipped, packet, sizeof(packet));
        flipped[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        ck_assert_msg((icrc_of(_i, flipped, kinds[_i].octets) == before) == variant, "octet %u, bit %u", bit / 8,
                      bit % 8);
    }
}
END_TEST

Suite *cm_suite(void)
{
    Suite *suite = suite_create("cm");
    TCase *tcase = tcase_create("messages");

    tcase_add_test(tcase, req_is_parsed_field_by_field);
    tcase_add_test(tcase, refusal_of_a_version_is_parsed);
    tcase_add_test(tcase, mad_of_another_class_is_refused);
    tcase_add_loop_test(tcase, mad_of_any_length_is_safe, CM_REQ, CM_APR + 1);
    tcase_add_test(tcase, icrc_begins_with_the_roce_seed);
    tcase_add_loop_test(tcase, icrc_leaves_variant_fields_out, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}
