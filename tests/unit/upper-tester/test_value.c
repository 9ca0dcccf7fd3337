/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of the upper tester's commands, as docs/upper-tester.md describes them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "upper-tester/value.h"

Suite *value_suite(void);

static json_t *command_of(const char *text)
{
    json_t *command = json_loads(text, 0, NULL);

    ck_assert_msg(json_is_object(command), "%s", text);
    return command;
}

static const struct {
    const char *text;
    uint64_t most, value;
} numbers[] = {
    {"{\"n\":0}", UINT64_MAX, 0},
    {"{\"n\":42}", 42, 42},
    {"{\"n\":\"42\"}", 42, 42},
    {"{\"n\":\"010\"}", 10, 10}, /* never octal */
    {"{\"n\":\"0x10\"}", 16, 16},
    {"{\"n\":\"0XfF\"}", 255, 255},
    {"{\"n\":\"0xFFFFFFFFFFFFF000\"}", UINT64_MAX, UINT64_C(0xFFFFFFFFFFFFF000)},
    {"{\"n\":-1}", UINT64_MAX, UINT64_MAX}, /* two's complement, of 64 bits alone */
    {"{\"m\":1}", 0, 7},                    /* absent: as it was */
};

START_TEST(numbers_are_read)
{
    json_t *command = command_of(numbers[_i].text);
    struct iwarp_sentence why = {{0}};
    uint64_t value = 7;

    ck_assert_msg(upper_number(command, "n", numbers[_i].most, &value, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(value, numbers[_i].value);
    json_decref(command);
}
END_TEST

static const struct {
    const char *text, *why;
} no_numbers[] = {
    {"{\"n\":43}", "'n' is 43, 0 to 42 was expected"},
    {"{\"n\":\"43\"}", "'n' is 43, 0 to 42 was expected"},
    {"{\"n\":-1}", "'n' is -1, 0 to 42 was expected"},
    {"{\"n\":\"-1\"}", "'n' is no number"},
    {"{\"n\":\" 1\"}", "'n' is no number"},
    {"{\"n\":\"1 \"}", "'n' is no number"},
    {"{\"n\":\"+1\"}", "'n' is no number"},
    {"{\"n\":\"\"}", "'n' is no number"},
    {"{\"n\":\"0x\"}", "'n' is no number"},
    {"{\"n\":\"18446744073709551616\"}", "'n' is no number"},
    {"{\"n\":1.5}", "'n' is no number"},
    {"{\"n\":null}", "'n' is no number"},
    {"{\"n\":true}", "'n' is no number"},
};

START_TEST(what_is_no_number_is_refused)
{
    json_t *command = command_of(no_numbers[_i].text);
    struct iwarp_sentence why = {{0}};
    uint64_t value = 7;

    ck_assert_int_eq(upper_number(command, "n", 42, &value, &why), -1);
    ck_assert_str_eq(why.text, no_numbers[_i].why);
    ck_assert_uint_eq(value, 7);
    json_decref(command);
}
END_TEST

START_TEST(flags_and_strings_have_their_type)
{
    json_t *command = command_of("{\"yes\":true,\"no\":false,\"one\":1,\"word\":\"w\"}");
    const char *text = "before";
    struct iwarp_sentence why;
    bool flag = true;

    ck_assert_int_eq(upper_flag(command, "no", &flag, &why), 0);
    ck_assert(!flag);
    ck_assert_int_eq(upper_flag(command, "yes", &flag, &why), 0);
    ck_assert(flag);
    ck_assert_int_eq(upper_flag(command, "one", &flag, &why), -1);
    ck_assert_str_eq(why.text, "'one' is not true or false");
    ck_assert_int_eq(upper_flag(command, "absent", &flag, &why), 0);
    ck_assert(flag);
    ck_assert_int_eq(upper_string(command, "absent", &text, &why), 0);
    ck_assert_str_eq(text, "before");
    ck_assert_int_eq(upper_string(command, "word", &text, &why), 0);
    ck_assert_str_eq(text, "w");
    ck_assert_int_eq(upper_string(command, "one", &text, &why), -1);
    ck_assert_str_eq(why.text, "'one' is no string");
    ck_assert_int_eq(upper_require(command, "one", &why), 0);
    ck_assert_int_eq(upper_require(command, "absent", &why), -1);
    ck_assert_str_eq(why.text, "'absent' was expected");
    json_decref(command);
}
END_TEST

START_TEST(words_are_those_of_the_list)
{
    json_t *command =
        command_of("{\"accept\":\"reject\",\"other\":\"rejects\",\"access\":[\"remote_atomic\",\"local_read\"],"
                   "\"none\":[],\"word\":\"local_read\",\"wrong\":[\"local_read\",\"x\"],\"one\":[1]}");
    struct iwarp_sentence why;
    unsigned value = 99;

    ck_assert_int_eq(upper_word(command, "absent", upper_accept_words, &value, &why), 0);
    ck_assert_int_eq(upper_words(command, "absent", upper_access_words, &value, &why), 0);
    ck_assert_uint_eq(value, 99);
    ck_assert_int_eq(upper_word(command, "accept", upper_accept_words, &value, &why), 0);
    ck_assert_uint_eq(value, UPPER_ACCEPT_REJECT);
    ck_assert_int_eq(upper_word(command, "other", upper_accept_words, &value, &why), -1);
    ck_assert_str_eq(why.text, "'other' is 'rejects', \"auto\", \"manual\" or \"reject\" was expected");
    ck_assert_int_eq(upper_words(command, "access", upper_access_words, &value, &why), 0);
    ck_assert_uint_eq(value, UPPER_LOCAL_READ | UPPER_REMOTE_ATOMIC);
    ck_assert_int_eq(upper_words(command, "none", upper_access_words, &value, &why), 0);
    ck_assert_uint_eq(value, 0);
    value = 99;
    ck_assert_int_eq(upper_words(command, "word", upper_access_words, &value, &why), -1);
    ck_assert_int_eq(upper_words(command, "wrong", upper_access_words, &value, &why), -1);
    ck_assert_int_eq(upper_words(command, "one", upper_rtr_words, &value, &why), -1);
    ck_assert_str_eq(why.text, "'one' is not a list of the words \"send\", \"write\" or \"read\"");
    ck_assert_uint_eq(value, 99);
    json_decref(command);
}
END_TEST

START_TEST(rtr_has_each_kind_once)
{
    static const char *const wrong[] = {"{\"rtr\":[]}", "{\"rtr\":[\"send\",\"send\"]}", "{\"rtr\":\"send\"}",
                                        "{\"rtr\":[\"Send\"]}"};
    json_t *command = command_of("{\"rtr\":[\"read\",\"send\"]}");
    unsigned kinds = UPPER_RTR_WRITE;
    struct iwarp_sentence why;

    ck_assert_int_eq(upper_rtr_kinds(command, &kinds, &why), 0);
    ck_assert_uint_eq(kinds, UPPER_RTR_SEND | UPPER_RTR_READ);
    json_decref(command);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        command = command_of(wrong[i]);
        ck_assert_int_eq(upper_rtr_kinds(command, &kinds, &why), -1);
        ck_assert_ptr_nonnull(strstr(why.text, "'rtr' is not a list"));
        json_decref(command);
    }
    ck_assert_uint_eq(kinds, UPPER_RTR_SEND | UPPER_RTR_READ);
}
END_TEST

START_TEST(octets_are_hex_there_and_back)
{
    json_t *command = command_of("{\"d\":\"00fFA0\",\"odd\":\"0\",\"bad\":\"0g\",\"n\":1,\"empty\":\"\"}"), *hex;
    struct iwarp_sentence why;
    uint8_t *octets;
    size_t count;

    ck_assert_int_eq(upper_octets(command, "d", 3, &octets, &count, &why), 0);
    ck_assert_uint_eq(count, 3);
    hex = upper_hex(octets, count);
    ck_assert_str_eq(json_string_value(hex), "00ffa0");
    json_decref(hex);
    free(octets);
    ck_assert_int_eq(upper_octets(command, "d", 2, &octets, &count, &why), -1);
    ck_assert_str_eq(why.text, "'d' has 3 octets, at most 2 were expected");
    ck_assert_int_eq(upper_octets(command, "odd", 9, &octets, &count, &why), -1);
    ck_assert_int_eq(upper_octets(command, "bad", 9, &octets, &count, &why), -1);
    ck_assert_int_eq(upper_octets(command, "n", 9, &octets, &count, &why), -1);
    ck_assert_ptr_null(octets);
    ck_assert_int_eq(upper_octets(command, "absent", 9, &octets, &count, &why), 0);
    ck_assert_ptr_null(octets);
    ck_assert_int_eq(upper_octets(command, "empty", 9, &octets, &count, &why), 0);
    ck_assert_ptr_nonnull(octets);
    ck_assert_uint_eq(count, 0);
    free(octets);
    json_decref(command);
}
END_TEST

START_TEST(the_pattern_counts_to_250)
{
    uint8_t octets[1100];

    memset(octets, 0xEE, sizeof(octets));
    upper_count(octets, 1000);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(octets[i], i % 251);
    for (size_t i = 1000; i < sizeof(octets); i++)
        ck_assert_uint_eq(octets[i], 0xEE);
}
END_TEST

START_TEST(memory_is_filled_and_data_laid_over_its_front)
{
    static const struct {
        const char *text;
        uint8_t octets[4];
        int result;
    } cases[] = {
        {"{}", {0, 0, 0, 0}, 0},
        {"{\"fill\":7}", {7, 7, 7, 7}, 0},
        {"{\"fill\":\"count\",\"data\":\"aabb\"}", {0xAA, 0xBB, 2, 3}, 0},
        {"{\"data\":\"0102030405\"}", {0, 0, 0, 0}, -1},
        {"{\"fill\":256}", {0xEE, 0xEE, 0xEE, 0xEE}, -1},
        {"{\"fill\":\"counts\"}", {0xEE, 0xEE, 0xEE, 0xEE}, -1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t octets[4] = {0xEE, 0xEE, 0xEE, 0xEE};
        json_t *command = command_of(cases[i].text);
        struct iwarp_sentence why;

        ck_assert_int_eq(upper_fill(command, octets, sizeof(octets), &why), cases[i].result);
        ck_assert_mem_eq(octets, cases[i].octets, sizeof(octets));
        json_decref(command);
    }
}
END_TEST

START_TEST(a_payload_is_given_once)
{
    json_t *both = command_of("{\"data\":\"00\",\"length\":1}"), *one = command_of("{\"length\":1}");
    struct iwarp_sentence why;

    ck_assert_int_eq(upper_payload_once(both, &why), -1);
    ck_assert_str_eq(why.text, "'data' or 'length' was expected, not both");
    ck_assert_int_eq(upper_payload_once(one, &why), 0);
    json_decref(both);
    json_decref(one);
}
END_TEST

START_TEST(a_word_is_whole)
{
    ck_assert(upper_in_list("stream data length", "stream"));
    ck_assert(upper_in_list("stream data length", "length"));
    ck_assert(!upper_in_list("stream data length", "dat"));
    ck_assert(!upper_in_list("stream data length", "ream"));
    ck_assert(!upper_in_list("stream data length", "stream data"));
    ck_assert(!upper_in_list("", "stream"));
}
END_TEST

Suite *value_suite(void)
{
    Suite *suite = suite_create("value");
    TCase *tcase = tcase_create("value");

    tcase_add_loop_test(tcase, numbers_are_read, 0, (int)(sizeof(numbers) / sizeof(numbers[0])));
    tcase_add_loop_test(tcase, what_is_no_number_is_refused, 0, (int)(sizeof(no_numbers) / sizeof(no_numbers[0])));
    tcase_add_test(tcase, flags_and_strings_have_their_type);
    tcase_add_test(tcase, words_are_those_of_the_list);
    tcase_add_test(tcase, rtr_has_each_kind_once);
    tcase_add_test(tcase, octets_are_hex_there_and_back);
    tcase_add_test(tcase, the_pattern_counts_to_250);
    tcase_add_test(tcase, memory_is_filled_and_data_laid_over_its_front);
    tcase_add_test(tcase, a_payload_is_given_once);
    tcase_add_test(tcase, a_word_is_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}
