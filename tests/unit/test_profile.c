/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD "\"address\": \"192.0.2.7\", \"port\": 9999, \"interface\": \"eth1\", \"own_address\": \"192.0.2.9\""

static struct pics *pics;
static struct profile profile;
static char path[] = "/tmp/warpcheck-profile-XXXXXX";
static struct sentence error;

static void setup(void)
{
    int fd;

    (void)snprintf(path, sizeof(path), "/tmp/warpcheck-profile-XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    memset(&profile, 0, sizeof(profile));
}

static void teardown(void)
{
    profile_free(&profile);
    pics_free(pics);
    unlink(path);
}

static int load(const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    return profile_load(&profile, path, pics, &error);
}

START_TEST(good_profile)
{
    ck_assert_msg(load("{ \"name\": \"dut\", " GOOD ", \"control\": \"192.0.2.7:7471\", \"own_mac\": "
                       "\"02:00:00:00:00:09\", \"capabilities\": { \"mpa.markers\": \"no\", \"ird\": 7 } }") == 0,
                  "%s", error.text);
    ck_assert_str_eq(profile.name, "dut");
    ck_assert_uint_eq(profile.port, 9999);
    ck_assert_uint_eq(profile.control_port, 7471);
    ck_assert_uint_eq(profile.own_mac[5], 9);
    ck_assert(!pics_holds(pics, "mpa.markers"));
    ck_assert_str_eq(pics_find(pics, "ird")->value, "7");
    ck_assert(pics_holds(pics, "upper_tester"));
    ck_assert_msg(!pics_holds(pics, "instrumented"), "a device is not instrumented unless it says so");
}
END_TEST

START_TEST(no_control_means_no_upper_tester)
{
    ck_assert_int_eq(load("{ " GOOD " }"), 0);
    ck_assert(!pics_holds(pics, "upper_tester"));
    ck_assert_uint_eq(profile.control.family, 0);
}
END_TEST

START_TEST(ipv6_control)
{
    ck_assert_int_eq(load("{ " GOOD ", \"control\": \"[fd00::7]:7471\" }"), 0);
    ck_assert_uint_eq(profile.control.family, 6);
}
END_TEST

static const struct {
    const char *text;
    const char *part; /* of the sentence */
} bad[] = {
    {"", "no JSON"},
    {"[]", "is a JSON object"},
    {"{ \"name\": \"x\" }", "\"address\" is missing"},
    {"{ \"address\": \"here\" }", "an IPv4 or IPv6 address was expected"},
    {"{ \"address\": \"192.0.2.7\", \"own_address\": \"fd00::1\" }", "different families"},
    {"{ \"address\": \"192.0.2.7\", \"own_address\": \"192.0.2.9\" }", "\"interface\" is missing"},
    {"{ \"address\": \"192.0.2.7\", \"own_address\": \"192.0.2.9\", \"interface\": \"e\", \"port\": 0 }", "1 to 65535"},
    {"{ " GOOD ", \"control\": \"192.0.2.7\" }", "\"address:port\" was expected"},
    {"{ " GOOD ", \"control\": \"192.0.2.7:x\" }", "a port from 1 to 65535"},
    {"{ " GOOD ", \"own_mac\": \"zz\" }", "own_mac"},
    {"{ " GOOD ", \"capabilities\": { \"telepathy\": \"yes\" } }", "telepathy"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": \"lots\" } }", "ird"},
    {"{ " GOOD ", \"known_deviations\": [ { \"requirement\": \"MPA-7.1-01\" } ] }", "\"reason\" is missing"},
    {"{ " GOOD ", \"known_deviations\": [ { \"requirement\": \"X\", \"reason\": \"a\" } ] }", "YYYY-MM-DD"},
    {"{ " GOOD
     ", \"known_deviations\": [ { \"requirement\": \"X\", \"reason\": \"(\", \"review_by\": \"2030-01-01\" } ] }",
     "no regular expression"},
    {"{ " GOOD ", \"known_deviations\": [ { \"requirement\": \"X\", \"reason\": \"a\", \"verdict\": \"PASS\", "
     "\"review_by\": \"2030-01-01\" } ] }",
     "verdict is FAIL or WARN"},
};

START_TEST(bad_profile)
{
    ck_assert_int_eq(load(bad[_i].text), -1);
    ck_assert_msg(strstr(error.text, bad[_i].part) != NULL, "'%s' lacks '%s'", error.text, bad[_i].part);
    ck_assert_msg(strstr(error.text, path) != NULL, "'%s' does not name the file", error.text);
}
END_TEST

START_TEST(missing_file)
{
    ck_assert_int_eq(profile_load(&profile, "/nonexistent/profile.json", pics, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/profile.json"));
}
END_TEST

#define DEVIATION                                                                                                      \
    "{ " GOOD ", \"known_deviations\": [ { \"requirement\": \"RDMAP-4.8-02\", \"reason\": \"nibbles swapped\", "       \
    "\"note\": \"told them\", \"review_by\": \"2027-06-30\" } ] }"

static const struct {
    const char *id;
    enum verdict verdict;
    const char *message;
    const char *today;
    enum verdict judged;
    const char *part;
} judgements[] = {
    {"RDMAP-4.8-02", VERDICT_FAIL, "the word has its Nibbles Swapped", "2027-06-30", VERDICT_KNOWN, "told them"},
    {"RDMAP-4.8-02", VERDICT_FAIL, "the word has its nibbles swapped", "2027-07-01", VERDICT_FAIL, "date"},
    {"RDMAP-4.8-02", VERDICT_FAIL, "something else", "2027-01-01", VERDICT_FAIL, "something else"},
    {"RDMAP-4.8-02", VERDICT_PASS, NULL, "2027-01-01", VERDICT_FAIL, "unexpected pass"},
    {"RDMAP-4.8-02", VERDICT_INCONCLUSIVE, "nibbles swapped", "2027-01-01", VERDICT_INCONCLUSIVE, "nibbles"},
    {"MPA-7.1-01", VERDICT_FAIL, "nibbles swapped", "2027-01-01", VERDICT_FAIL, "nibbles"},
};

START_TEST(known_deviation)
{
    struct result result = {
        .id = judgements[_i].id, .verdict = judgements[_i].verdict, .by = "rule", .message = judgements[_i].message};
    char text[512];

    ck_assert_msg(load(DEVIATION) == 0, "%s", error.text);
    (void)profile_judge(&profile, &result, judgements[_i].today, text, sizeof(text));
    ck_assert_int_eq(result.verdict, judgements[_i].judged);
    const char *said = result.verdict == VERDICT_KNOWN ? result.finding : result.message;
    ck_assert_msg(strstr(said, judgements[_i].part) != NULL, "'%s'", said);
}
END_TEST

/* Which results an entry is about: RDMAP-4.8-02 of the responder's checks, and a race of MPA-7.1-06. */
#define LIMITED                                                                                                        \
    "{ " GOOD ", \"known_deviations\": [ { \"requirement\": \"RDMAP-4.8-02\", \"reason\": \"swapped\", \"role\": "     \
    "\"responder\", \"by\": \"check\", \"review_by\": \"2030-01-01\" }, { \"requirement\": \"MPA-7.1-06\", "           \
    "\"reason\": "                                                                                                     \
    "\"swapped\", \"sometimes\": true, \"review_by\": \"2030-01-01\" } ] }"

static const struct limit {
    const char *id, *role, *by;
    enum verdict verdict, judged;
} limits[] = {
    {"RDMAP-4.8-02", "responder", "check", VERDICT_FAIL, VERDICT_KNOWN},
    {"RDMAP-4.8-02", "initiator", "check", VERDICT_FAIL, VERDICT_FAIL},
    {"RDMAP-4.8-02", "responder", "rule", VERDICT_FAIL, VERDICT_FAIL},
    {"RDMAP-4.8-02", NULL, "check", VERDICT_FAIL, VERDICT_FAIL},
    {"RDMAP-4.8-02", "initiator", "check", VERDICT_PASS, VERDICT_PASS},
    {"RDMAP-4.8-02", "responder", "check", VERDICT_PASS, VERDICT_FAIL},
    {"MPA-7.1-06", "initiator", "rule", VERDICT_FAIL, VERDICT_KNOWN},
    {"MPA-7.1-06", "initiator", "rule", VERDICT_PASS, VERDICT_PASS},
};

START_TEST(limited_deviation)
{
    const struct limit *limit = &limits[_i];
    struct result result = {
        .id = limit->id, .role = limit->role, .by = limit->by, .verdict = limit->verdict, .message = "swapped"};
    char text[512];

    ck_assert_msg(load(LIMITED) == 0, "%s", error.text);
    (void)profile_judge(&profile, &result, "2027-01-01", text, sizeof(text));
    ck_assert_int_eq(result.verdict, limit->judged);
}
END_TEST

Suite *profile_suite(void);

Suite *profile_suite(void)
{
    Suite *suite = suite_create("profile");
    TCase *tests = tcase_create("profile");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, good_profile);
    tcase_add_test(tests, no_control_means_no_upper_tester);
    tcase_add_test(tests, ipv6_control);
    tcase_add_loop_test(tests, bad_profile, 0, (int)(sizeof(bad) / sizeof(bad[0])));
    tcase_add_test(tests, missing_file);
    tcase_add_loop_test(tests, known_deviation, 0, (int)(sizeof(judgements) / sizeof(judgements[0])));
    tcase_add_loop_test(tests, limited_deviation, 0, (int)(sizeof(limits) / sizeof(limits[0])));
    suite_add_tcase(suite, tests);
    return suite;
}
