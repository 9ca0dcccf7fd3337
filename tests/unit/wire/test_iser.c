/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read out of iSER's messages (RFC 7145 9, RFC 7143 11): headers cut at every octet, AHS, keys of a login. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "wire/iser.h"

Suite *iser_suite(void);

START_TEST(a_layout_is_given_for_what_is_there)
{
    uint8_t octets[ISER_PDU_OCTETS] = {ISER_CONTROL << 4};

    for (size_t have = 0; have <= sizeof(octets); have++) {
        ck_assert(iser_layout(octets, have) == (have < ISER_HEADER_OCTETS ? NULL : &iser_control_layout));
        ck_assert(iscsi_layout(octets, have) == (have < ISER_PDU_OCTETS ? NULL : &iscsi_request_layout));
    }
    octets[ISER_HEADER_OCTETS] = ISCSI_RESPONSE;
    ck_assert_ptr_eq(iscsi_layout(octets, sizeof(octets)), &iscsi_response_layout);
    octets[0] = ISER_HELLO_REPLY << 4;
    ck_assert_ptr_eq(iser_layout(octets, sizeof(octets)), &iser_hello_reply_layout);
    ck_assert_ptr_null(iscsi_layout(octets, sizeof(octets)));
    octets[0] = 0xF0;
    ck_assert_ptr_null(iser_layout(octets, sizeof(octets)));
}
END_TEST

/* An AHS of another type in front, with its padding. */
START_TEST(the_read_length_of_a_bidirectional_command_is_found)
{
    static const uint8_t ahs[] = {0, 2, 1, 0, 7, 0, 0, 0, 0, 5, 2, 0, 0, 0, 2, 0x58};
    struct iscsi_pdu pdu = {.head_octets = ISER_PDU_OCTETS + sizeof(ahs)};
    uint8_t *octets = calloc(1, pdu.head_octets);
    uint32_t length = 0;

    ck_assert_ptr_nonnull(octets);
    memcpy(octets + ISER_PDU_OCTETS, ahs, sizeof(ahs));
    ck_assert(iscsi_bidirectional_read(octets, pdu.head_octets, &pdu, &length));
    ck_assert_uint_eq(length, 600);
    ck_assert(!iscsi_bidirectional_read(octets, pdu.head_octets - 1, &pdu, &length));
    for (pdu.head_octets = ISER_PDU_OCTETS; pdu.head_octets < ISER_PDU_OCTETS + sizeof(ahs); pdu.head_octets++)
        ck_assert(!iscsi_bidirectional_read(octets, ISER_PDU_OCTETS + sizeof(ahs), &pdu, &length));
    free(octets);
}
END_TEST

START_TEST(a_key_is_found_by_its_whole_name)
{
    static const char text[] = "XKey=1\0Key2=2\0Key=0xFf\0Bad=12x\0Key4=4294967296\0Most=4294967295\0None=\0Cut=7";
    uint32_t value = 0;

    ck_assert(iscsi_key_number((const uint8_t *)text, sizeof(text), "Key", &value));
    ck_assert_uint_eq(value, 255);
    ck_assert(iscsi_key_number((const uint8_t *)text, sizeof(text), "Most", &value));
    ck_assert_uint_eq(value, UINT32_MAX);
    ck_assert(!iscsi_key_number((const uint8_t *)text, sizeof(text), "Bad", &value));
    ck_assert(!iscsi_key_number((const uint8_t *)text, sizeof(text), "Key4", &value));
    ck_assert(!iscsi_key_number((const uint8_t *)text, sizeof(text), "None", &value));
    ck_assert(!iscsi_key_number((const uint8_t *)text, sizeof(text), "Missing", &value));
    ck_assert(iscsi_key_number((const uint8_t *)text, sizeof(text), "Cut", &value));
    ck_assert(!iscsi_key_number((const uint8_t *)text, sizeof(text) - 1, "Cut", &value)); /* its end may be missing */
}
END_TEST

Suite *iser_suite(void)
{
    Suite *suite = suite_create("iser");
    TCase *tcase = tcase_create("messages");

    tcase_add_test(tcase, a_layout_is_given_for_what_is_there);
    tcase_add_test(tcase, the_read_length_of_a_bidirectional_command_is_found);
    tcase_add_test(tcase, a_key_is_found_by_its_whole_name);
    suite_add_tcase(suite, tcase);
    return suite;
}
