/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of SCTP itself: packets that leave otherwise than libusrsctp has made them, and packets that do not leave. */
#include <check.h>
#include <string.h>

#include "reference-stack/defects/defect.h"
#include "reference-stack/defects/peer_faults.h"
#include "tests/unit/suites.h"
#include "base/octets.h"
#include "wire/sctp.h"

Suite *defect_sctp_packet_suite(void);

enum { INIT_OCTETS = 20, COOKIE_OCTETS = 7, ROOM = 64 };

static struct iwarp_sentence sentence;

static struct defect_set *set_of(struct defect_list **list, const char *defect)
{
    struct defect_set *set;

    *list = defect_list_embedded(&sentence);
    set = defect_set_new(*list, &defect, 1, &sentence);
    ck_assert_msg(set != NULL, "%s", sentence.text);
    return set;
}

/* A packet with one chunk of this type, which ends with a parameter of 7 octets; its pad is left out where `cut`. */
static size_t packet_of(uint8_t *packet, uint8_t type, bool cut)
{
    size_t chunk = INIT_OCTETS + COOKIE_OCTETS;
    uint8_t *p = packet + SCTP_COMMON_OCTETS;

    memset(packet, 0, ROOM);
    p[0] = type;
    octets_put16(p + 2, (uint16_t)chunk);
    octets_put32(p + 4, 0x11223344); /* Initiate Tag */
    octets_put32(p + 8, 65536);      /* a_rwnd */
    octets_put16(p + 12, 10);        /* OS */
    octets_put16(p + 14, 10);        /* MIS */
    octets_put16(p + INIT_OCTETS, SCTP_PARAMETER_COOKIE);
    octets_put16(p + INIT_OCTETS + 2, COOKIE_OCTETS);
    return SCTP_COMMON_OCTETS + chunk + !cut;
}

START_TEST(addresses_follow_what_is_there)
{
    struct defect_list *list;
    struct defect_set *set = set_of(&list, "sctp-addresses-listed");
    const uint8_t types[] = {SCTP_INIT, SCTP_INIT_ACK};
    uint8_t packet[ROOM];

    for (int i = 0; i < 4; i++) {
        size_t octets = packet_of(packet, types[i / 2], i % 2);
        size_t with = hook_sctp_leaving(set, packet, octets, sizeof(packet));
        const uint8_t *p = packet + SCTP_COMMON_OCTETS;
        struct sctp_chunk chunk;
        struct sctp_init init;

        ck_assert_uint_eq(with, SCTP_COMMON_OCTETS + INIT_OCTETS + COOKIE_OCTETS + 1 + 2 * 8);
        ck_assert_int_eq(sctp_chunk_parse(&p, packet + with, &chunk), WIRE_OK);
        ck_assert_int_eq(sctp_init_parse(&chunk, &init), WIRE_OK);
        ck_assert_uint_eq(chunk.octets, with - SCTP_COMMON_OCTETS);
        ck_assert_uint_eq(init.addresses, 2);
        ck_assert_uint_eq(init.tag, 0x11223344);
        ck_assert_uint_eq(octets_get32(packet + with - 4), 0xC0000202);
    }
    defect_set_free(set);
    defect_list_free(list);
}
END_TEST

START_TEST(others_are_left_as_they_are)
{
    struct defect_list *list;
    struct defect_set *set = set_of(&list, "sctp-addresses-listed");
    uint8_t packet[ROOM];
    size_t octets = packet_of(packet, SCTP_COOKIE_ACK, false);
    size_t with = octets + 2 * 8;

    ck_assert_uint_eq(hook_sctp_leaving(set, packet, octets, sizeof(packet)), octets);
    ck_assert_uint_eq(hook_sctp_leaving(set, packet, SCTP_COMMON_OCTETS - 1, sizeof(packet)), SCTP_COMMON_OCTETS - 1);
    octets = packet_of(packet, SCTP_INIT, false);
    ck_assert_uint_eq(hook_sctp_leaving(set, packet, octets, with - 1), octets);
    ck_assert_uint_eq(hook_sctp_leaving(set, packet, octets, with), with);
    defect_set_free(set);
    defect_list_free(list);
}
END_TEST

/* A SACK alone does not leave, one beside another chunk does; an ABORT does not. */
START_TEST(some_do_not_leave)
{
    static const struct {
        const char *defect;
        uint8_t type;
    } withheld[] = {{"sctp-sack-withheld", SCTP_SACK}, {"sctp-abort-withheld", SCTP_ABORT}};

    for (size_t i = 0; i < 2; i++) {
        struct defect_list *list;
        struct defect_set *set = set_of(&list, withheld[i].defect);
        uint8_t packet[2 * ROOM], second[ROOM];
        size_t octets = packet_of(packet, withheld[i].type, false), two;

        ck_assert_uint_eq(hook_sctp_leaving(set, packet, octets, sizeof(packet)), 0);
        two = packet_of(second, SCTP_DATA, false) - SCTP_COMMON_OCTETS;
        memcpy(packet + octets, second + SCTP_COMMON_OCTETS, two);
        ck_assert_uint_eq(hook_sctp_leaving(set, packet, octets + two, sizeof(packet)), octets + two);
        octets = packet_of(packet, withheld[1 - i].type, false);
        ck_assert_uint_eq(hook_sctp_leaving(set, packet, octets, sizeof(packet)), octets);
        defect_set_free(set);
        defect_list_free(list);
    }
}
END_TEST

Suite *defect_sctp_packet_suite(void)
{
    Suite *suite = suite_create("defect_sctp_packet");
    TCase *tcase = tcase_create("packets");

    tcase_add_test(tcase, addresses_follow_what_is_there);
    tcase_add_test(tcase, others_are_left_as_they_are);
    tcase_add_test(tcase, some_do_not_leave);
    suite_add_tcase(suite, tcase);
    return suite;
}
