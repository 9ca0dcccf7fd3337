/* SPDX-License-Identifier: BSD-2-Clause */
/* A session as a check. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "conformance/engine/explore/session_text.h"
#include "tests/unit/suites.h"

Suite *session_text_suite(void);

static char *text_of(const struct session *session, const char *id, const char *purpose)
{
    char *text = NULL;
    size_t octets = 0;
    FILE *out = text_stream_open(&text, &octets);

    ck_assert_ptr_nonnull(out);
    session_print(session, id, purpose, out);
    ck_assert(text_stream_close(out, &text));
    return text;
}

START_TEST(each_part_is_printed)
{
    static const char expected[] =
        "check {\n"
        "  id = \"explored-7-12\",\n"
        "  role = \"initiator\",\n"
        "  purpose = \"an octet of  a   peer \",\n"
        "  destructive = true,\n"
        "  run = function(t)\n"
        "    t:follow {\n"
        "      open = { own = { C = false, enhanced = { IRD = 4 } }, device = { rev = 2 }, cut = 30 },\n"
        "      regions = { { octets = 64, access = { \"read\" } } },\n"
        "      { \"device send\", octets = 5 },\n"
        "      { \"write\", region = 1, at = 0x123456789abcdef, wrong = { frame = 2, field = \"TO\", add = -1, "
        "fpdu = { crc_flip = 9 } } },\n"
        "      atomics = true,\n"
        "      reactions = { \"closes\", \"terminate 1100\" },\n"
        "      untouched = true,\n"
        "      ends = \"reset\",\n"
        "    }\n"
        "  end,\n"
        "}\n";
    static struct session session = {
        .seed = 7, .number = 12, .initiator = true, .atomics = true, .untouched = true, .ends = "reset"};
    struct session_step *step;
    char *text;

    session_add_flag(&session.own, "C", false);
    session_add(&session.word, "IRD", 4);
    session_add(&session.device, "rev", 2);
    session_add(&session.open, "cut", 30);
    session.region_count = 1;
    session_add(&session.regions[0].members, "octets", 64);
    session.regions[0].access = "{ \"read\" }";
    session_add(&session_add_step(&session, "device send")->members, "octets", 5);
    step = session_add_step(&session, "write");
    session_add(&step->members, "region", 1);
    session_add(&step->members, "at", 0x123456789abcdef);
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 2);
    session_add_word(&step->wrong.what, "field", "TO");
    session_add(&step->wrong.what, "add", -1);
    session_add(&step->wrong.frame, "crc_flip", 9);
    session_allow(&session, "closes");
    session_allow(&session, "terminate 1100");
    text = text_of(&session, NULL, "an octet of\n a \"\\peer\x80");
    ck_assert_str_eq(text, expected);
    free(text);
}
END_TEST

START_TEST(an_id_of_its_own)
{
    static struct session session = {.seed = 1};
    char *text = text_of(&session, "DDP-7.1-01", "short");

    ck_assert_ptr_nonnull(strstr(text, "id = \"DDP-7.1-01\""));
    ck_assert_ptr_nonnull(strstr(text, "open = { own = { }, device = { } }"));
    ck_assert_ptr_null(strstr(text, "destructive"));
    ck_assert_ptr_null(strstr(text, "reactions"));
    free(text);
}
END_TEST

START_TEST(over_sctp_a_check_names_its_layer)
{
    static struct session session = {.seed = 1, .sctp = IWARP_SCTP_DRAFT02};
    struct session_step *step = session_add_step(&session, "send");
    char *text;

    step->wrong.present = true;
    session_add_flag(&step->wrong.frame, "gap", true);
    text = text_of(&session, NULL, "short");
    ck_assert_ptr_nonnull(strstr(text, "over = \"sctp-draft02\""));
    ck_assert_ptr_nonnull(strstr(text, "{ \"send\", wrong = { chunk = { gap = true } } }"));
    free(text);
    session.sctp = IWARP_SCTP_RFC5043;
    text = text_of(&session, NULL, "short");
    ck_assert_ptr_nonnull(strstr(text, "over = \"sctp\""));
    free(text);
}
END_TEST

Suite *session_text_suite(void)
{
    Suite *suite = suite_create("session_text");
    TCase *tcase = tcase_create("text");

    tcase_add_test(tcase, each_part_is_printed);
    tcase_add_test(tcase, an_id_of_its_own);
    tcase_add_test(tcase, over_sctp_a_check_names_its_layer);
    suite_add_tcase(suite, tcase);
    return suite;
}
