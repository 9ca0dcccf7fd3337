/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of the port mapper: their form is their length, their version and that of IP; nothing else has it. */
#include <check.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/port_mapper.h"

Suite *port_mapper_suite(void);

enum { ROOM = PORT_MAPPER_OCTETS + PORT_MAPPER_MAPPED_OCTETS, LONGEST = 128 };

START_TEST(fields_are_where_they_are_sent)
{
    static const uint8_t octets[ROOM] = {0x04, 3, 0xC3, 0x51, 0x11, 0x44, 0x9C,      0x40, 1, 2, 3,         4, 5, 6,
                                         7,    8, 10,   0,    0,    1,    [32] = 10, 0,    0, 2, [48] = 10, 0, 0, 3};
    struct port_mapper_message message;

    ck_assert(port_mapper_read(guard_place(octets, ROOM), ROOM, &message));
    ck_assert_uint_eq(message.version, 0);
    ck_assert_uint_eq(message.type, PORT_MAPPER_REQUEST);
    ck_assert_uint_eq(message.ip_version, 4);
    ck_assert_uint_eq(message.time, 3);
    ck_assert_uint_eq(message.accepting_port, 4420);
    ck_assert_uint_eq(message.connecting_port, 40000);
    ck_assert_uint_eq(message.handle, 0x0102030405060708);
    ck_assert_uint_eq(message.connecting_address[3], 1);
    ck_assert_uint_eq(message.accepting_address[3], 2);
    ck_assert_ptr_nonnull(message.mapped_address);
    ck_assert_uint_eq(message.mapped_address[3], 3);
    ck_assert_uint_eq(message.mapped_port, 50001);
    ck_assert(port_mapper_read(guard_place(octets, PORT_MAPPER_OCTETS), PORT_MAPPER_OCTETS, &message));
    ck_assert_ptr_null(message.mapped_address);
    ck_assert_uint_eq(message.mapped_port, 0);
}
END_TEST

/* Loop: the first octet. Every length: no octet after the last one is read. */
START_TEST(other_forms_are_no_message)
{
    unsigned version = (unsigned)_i >> 6, type = (unsigned)_i >> 4 & 3, ip = (unsigned)_i & 0xF;
    struct port_mapper_message message;

    for (size_t count = 0; count <= LONGEST; count++) {
        uint8_t *octets = guard_place(NULL, count);
        bool fits = count == PORT_MAPPER_OCTETS || (count == ROOM && type == PORT_MAPPER_REQUEST);

        if (count != 0)
            octets[0] = (uint8_t)_i;
        EXPECT(port_mapper_read(octets, count, &message) == (fits && version == 0 && (ip == 4 || ip == 6)),
               "0x%02x, %zu octets", (unsigned)_i, count);
        guard_free(octets, count);
    }
}
END_TEST

Suite *port_mapper_suite(void)
{
    Suite *suite = suite_create("port_mapper");
    TCase *tests = tcase_create("messages");

    tcase_add_test(tests, fields_are_where_they_are_sent);
    tcase_add_loop_test(tests, other_forms_are_no_message, 0, 256);
    suite_add_tcase(suite, tests);
    return suite;
}
