/* SPDX-License-Identifier: BSD-2-Clause */
/* tcpdump's expressions choose frames of each link type, and what they leave out is counted. */
#include <check.h>
#include <string.h>

#include "conformance/engine/capture/capture_filter.h"
#include "conformance/engine/capture/capture_series.h"
#include "tests/unit/suites.h"

Suite *capture_filter_suite(void);

/* IPv4 with TCP from port 7174 to port 40000, below a link header. */
static const uint8_t packet[64] = {[0] = 2,   [12] = 0x08, [14] = 0x45, [17] = 50, [22] = 64, [23] = 6,   [26] = 10,
                                   [30] = 10, [34] = 0x1C, 0x06,        0x9C,      0x40,      [46] = 0x50};

static int wants(const char *expression, uint32_t link, size_t skip, struct iwarp_sentence *error)
{
    struct capture_filter *filter = capture_filter_new(expression, error);
    struct flow_frame frame = {link, 1, 1, packet + skip, sizeof(packet) - skip, sizeof(packet) - skip};
    int wanted;

    ck_assert_msg(filter != NULL, "%s", error->text);
    wanted = capture_filter_wants(filter, &frame, error);
    capture_filter_free(filter);
    return wanted;
}

START_TEST(frames_are_chosen_on_each_link)
{
    struct iwarp_sentence error;

    ck_assert_int_eq(wants("tcp port 7174", FLOW_LINK_ETHERNET, 0, &error), 1);
    ck_assert_int_eq(wants("tcp port 7175", FLOW_LINK_ETHERNET, 0, &error), 0);
    ck_assert_int_eq(wants("tcp port 7174", FLOW_LINK_RAW, 14, &error), 1);
    ck_assert_int_eq(wants("tcp port 7174", FLOW_LINK_RAW_12, 14, &error), 1);
    ck_assert_int_eq(wants("udp", FLOW_LINK_IPV4, 14, &error), 0);
    ck_assert_int_eq(wants("", FLOW_LINK_ETHERNET, 0, &error), 1);
}
END_TEST

/* What nobody can decode is accounted for as that, whatever the filter wants. */
START_TEST(frames_of_an_unknown_link_stay)
{
    struct iwarp_sentence error;

    ck_assert_int_eq(wants("udp", 149, 0, &error), 1);
    ck_assert_int_eq(wants("udp", FLOW_LINK_NONE, 0, &error), 1);
}
END_TEST

START_TEST(wrong_expressions_are_named)
{
    struct iwarp_sentence error;

    ck_assert_ptr_null(capture_filter_new("port port", &error));
    ck_assert_ptr_nonnull(strstr(error.text, "--filter \"port port\""));
    ck_assert_int_eq(wants("ether host 02:00:00:00:00:00", FLOW_LINK_ETHERNET, 0, &error), 1);
    ck_assert_int_eq(wants("ether host 02:00:00:00:00:00", FLOW_LINK_RAW, 14, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "link type 101"));
}
END_TEST

/* Numbers of frames stay those of the file; what is left out stands in the account. */
START_TEST(what_is_left_out_is_counted)
{
    struct iwarp_sentence error;
    struct capture_filter *filter = capture_filter_new("tcp[tcpflags] & tcp-syn == 0", &error);
    struct capture_series *series = capture_series_open("pcaps/generated/every-opcode.pcap", NULL, &error);
    struct flow_account account = {0};
    struct flow_frame frame;
    uint64_t first = 0, given = 0, left_out;

    ck_assert(filter != NULL && series != NULL);
    capture_series_filter(series, filter);
    while (capture_series_next(series, &frame, &error) == 1) {
        first = first == 0 ? frame.number : first;
        given++;
    }
    capture_series_account(series, &account);
    left_out = account.row[FLOW_ROW_FILTERED].frames;
    ck_assert_uint_gt(left_out, 0);
    ck_assert_uint_eq(first, left_out + 1); /* both SYNs come first */
    ck_assert_uint_eq(given + left_out, capture_series_frames(series));
    ck_assert_uint_gt(account.row[FLOW_ROW_FILTERED].octets, 0);
    capture_series_close(series);
    capture_filter_free(filter);
}
END_TEST

Suite *capture_filter_suite(void)
{
    Suite *suite = suite_create("capture_filter");
    TCase *tests = tcase_create("capture_filter");

    tcase_add_test(tests, frames_are_chosen_on_each_link);
    tcase_add_test(tests, frames_of_an_unknown_link_stay);
    tcase_add_test(tests, wrong_expressions_are_named);
    tcase_add_test(tests, what_is_left_out_is_counted);
    suite_add_tcase(suite, tests);
    return suite;
}
