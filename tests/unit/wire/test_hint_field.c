/* SPDX-License-Identifier: BSD-2-Clause */
/* One field of one kind of message is one cause, whoever finds it: its name does not change. */
#include <check.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "wire/hint_field.h"
#include "wire/rdmap.h"

Suite *hint_field_suite(void);

START_TEST(hint_names_the_field_of_the_message)
{
    struct hint_field found;

    ck_assert(hint_field(HINT_OF_SEND, "MSN", &found));
    ck_assert_str_eq(found.name, "send-msn");
    ck_assert_str_eq(found.text, "MSN of Sends is another than is due");
    ck_assert(hint_field(HINT_OF_REPLY, "PD_Length", &found));
    ck_assert_str_eq(found.name, "reply-pd-length");
    ck_assert(!hint_field(HINT_OF_SEND, "nothing", &found));
    ck_assert(!hint_field(HINT_OF_COUNT, "MSN", &found));
}
END_TEST

/* Fields of the layer are the layer's in each kind of message: RFC 5041 4.1, RFC 5040 4.1. */
START_TEST(fields_of_a_layer_have_one_hint)
{
    struct hint_field found;

    for (unsigned kind = 0; kind < HINT_OF_COUNT; kind++) {
        ck_assert(hint_field((enum hint_kind_of)kind, "Rsvd", &found));
        ck_assert_str_eq(found.name, "ddp-rsvd");
        ck_assert(hint_field((enum hint_kind_of)kind, "RV", &found));
        ck_assert_str_eq(found.name, "rdmap-rv");
    }
}
END_TEST

/*
 * The four Sends are one kind, and so are both kinds of Immediate Data; an opcode that no document assigns is of RDMAP.
 */
START_TEST(kind_of_a_cause_is_the_longest_word_that_begins_it)
{
    const char *field;

    ck_assert_int_eq(hint_kind_of_cause("read-request-msn", &field), HINT_OF_READ_REQUEST);
    ck_assert_str_eq(field, "msn");
    ck_assert_int_eq(hint_kind_of_cause("request-rev", &field), HINT_OF_REQUEST);
    ck_assert_int_eq(hint_kind_of_cause("sends-msn", &field), HINT_OF_COUNT);
    ck_assert_str_eq(field, "");
    ck_assert_str_eq(hint_kind_words(HINT_OF_SEND), "Sends");
    ck_assert_str_eq(hint_kind_words(HINT_OF_COUNT), "");
}
END_TEST

START_TEST(kinds_of_messages_follow_from_the_opcode)
{
    ck_assert_int_eq(hint_kind_named("send"), HINT_OF_SEND);
    ck_assert_int_eq(hint_kind_named("atomic-response"), HINT_OF_ATOMIC_RESPONSE);
    ck_assert_int_eq(hint_kind_named("?"), HINT_OF_COUNT);
    for (unsigned opcode = IWARP_RDMAP_SEND; opcode <= IWARP_RDMAP_SEND_SE_INVALIDATE; opcode++)
        ck_assert_int_eq(hint_kind_of_opcode(opcode), HINT_OF_SEND);
    ck_assert_int_eq(hint_kind_of_opcode(8), hint_kind_of_opcode(9));
    ck_assert_int_eq(hint_kind_of_opcode(IWARP_RDMAP_TERMINATE), HINT_OF_TERMINATE);
    ck_assert_int_eq(hint_kind_of_opcode(11), HINT_OF_ATOMIC_RESPONSE);
    ck_assert_int_eq(hint_kind_of_opcode(12), HINT_OF_RDMAP);
    ck_assert_int_eq(hint_kind_of_opcode(0xFFFFFFFF), HINT_OF_RDMAP);
}
END_TEST

Suite *hint_field_suite(void)
{
    Suite *suite = suite_create("hint_field");
    TCase *tcase = tcase_create("hint_field");

    tcase_add_test(tcase, hint_names_the_field_of_the_message);
    tcase_add_test(tcase, fields_of_a_layer_have_one_hint);
    tcase_add_test(tcase, kinds_of_messages_follow_from_the_opcode);
    tcase_add_test(tcase, kind_of_a_cause_is_the_longest_word_that_begins_it);
    suite_add_tcase(suite, tcase);
    return suite;
}
