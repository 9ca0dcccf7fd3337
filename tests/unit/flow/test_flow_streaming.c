/* SPDX-License-Identifier: BSD-2-Clause */
/* A Key among octets that nothing is known of. */
#include <check.h>
#include <string.h>

#include "conformance/flow/mpa/flow_streaming.h"
#include "tests/unit/suites.h"

Suite *flow_streaming_suite(void);

enum { OCTETS = 300, KEY = 9 };

static bool sees(const char *octets, size_t count)
{
    struct flow_connection connection = {0};

    flow_start_look(&connection, (const uint8_t *)octets, count);
    return connection.key_seen;
}

START_TEST(key_is_seen_wherever_it_stands)
{
    static const char fills[] = {'x', 'M', '\0'}; /* the Key's own first octet, again and again, too */

    for (size_t fill = 0; fill < sizeof(fills); fill++)
        for (size_t at = 0; at + KEY <= OCTETS; at++) {
            char octets[OCTETS];

            memset(octets, fills[fill], sizeof(octets));
            ck_assert(!sees(octets, sizeof(octets)));
            memcpy(octets + at, MPA_KEY_REPLY, KEY);
            ck_assert(sees(octets, sizeof(octets)));
            ck_assert(sees(octets, at + KEY));
            ck_assert(!sees(octets, at + KEY - 1)); /* its last octet is not there */
        }
    ck_assert(!sees("", 0));
}
END_TEST

Suite *flow_streaming_suite(void)
{
    Suite *suite = suite_create("flow_streaming");
    TCase *cases = tcase_create("flow_streaming");

    tcase_add_test(cases, key_is_seen_wherever_it_stands);
    suite_add_tcase(suite, cases);
    return suite;
}
