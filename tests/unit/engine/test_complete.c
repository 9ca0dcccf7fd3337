/* SPDX-License-Identifier: BSD-2-Clause */
/* What --help says, read back, and what the completion of shells makes of it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/complete/complete.h"
#include "reference-stack/program/help_text.h"
#include "base/sentence.h"

Suite *complete_suite(void);

static const char root[] = "usage: warpcheck COMMAND [ARGUMENT...]\n\nProves things.\n\n"
                           "  run     judges\n  dump    shows a capture\n  peer    the stack\n\n"
                           "  --version  the version\n";
static const char run[] = "usage: warpcheck run [OPTION...] [SELECT...]\n"
                          "  Judges a device. More of\n  it here.\n"
                          "  --dut PROFILE    the device, or\n"
                          "                   linux-siw\n"
                          "  --simulate       on virtual time\n"
                          "  --a-name-longer-than-the-column\n"
                          "                   said below\n"
                          "  --format F       text, jsonl (an object a line) or md.\n"
                          "  --order F        ports, sequence numbers and so on\n"
                          "  --level L        must, should, or one as the catalogue spells it\n"
                          "  --shard I/N      a part\n"
                          "  --ird N, --ord N Read depths\n"
                          "  -o DIR           there\n"
                          "  SELECT           an id\n";
static const char dump[] = "usage: warpcheck dump [SELECT...] FILE|DIR... [-o OUT]\n"
                           "       warpcheck dump --defect DEFECT ITEM...\n"
                           "  As in:\n    warpcheck dump  x.pcap\n  and so on.\n"
                           "  --defect DEFECT  a defect\n  --other THING    of no known kind\n";
static const char peer[] =
    "usage: peer [OPTION...]\n  --rev 1|2   revision (2)\n  --rtr LIST  messages: send,write,read (all)\n";

static struct iwarp_sentence error;

static char *help_of(void *context, const char *command, struct iwarp_sentence *why)
{
    const char *text = command == NULL                ? root
                       : strcmp(command, "run") == 0  ? run
                       : strcmp(command, "dump") == 0 ? dump
                       : strcmp(command, "peer") == 0 ? peer
                                                      : NULL;

    (void)context;
    if (text == NULL)
        (void)iwarp_sentence_set(why, "no such command");
    return text != NULL ? strdup(text) : NULL;
}

/* The candidates without their meanings, a blank after each. The words are separated by blanks; "_" is an empty one. */
static const char *candidates(const char *line)
{
    static char result[1 << 17];
    const struct completion_source source = {help_of, NULL};
    const char *words[16];
    size_t count = 0, at = 0, size = 0;
    char *copy = strdup(line), *rest = copy, *text = NULL, *word;
    FILE *out = open_memstream(&text, &size);

    while ((word = strsep(&rest, " ")) != NULL)
        words[count++] = strcmp(word, "_") == 0 ? "" : word;
    ck_assert_msg(complete_write(&source, count, words, out, &error) == 0, "%s", error.text);
    ck_assert_int_eq(fclose(out), 0);
    for (const char *p = text; *p != '\0'; p += strcspn(p, "\n") + 1) {
        size_t length = strcspn(p, "\t\n");

        ck_assert_uint_lt(at + length + 2, sizeof(result));
        memcpy(result + at, p, length);
        at += length;
        result[at++] = ' ';
    }
    result[at] = '\0';
    free(text);
    free(copy);
    return result;
}

START_TEST(a_help_is_read_back)
{
    struct help help;
    static const struct help_part parts[] = {
        {HELP_USAGE, "", "warpcheck run [OPTION...] [SELECT...]"},
        {HELP_PARAGRAPH, "", "Judges a device. More of it here."},
        {HELP_ROW, "--dut PROFILE", "the device, or linux-siw"},
        {HELP_ROW, "--simulate", "on virtual time"},
        {HELP_ROW, "--a-name-longer-than-the-column", "said below"},
    };

    ck_assert_int_eq(help_parse(&help, run, &error), 0);
    ck_assert_uint_gt(help.count, sizeof(parts) / sizeof(parts[0]));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ck_assert_int_eq((int)help.parts[i].kind, (int)parts[i].kind);
        ck_assert_str_eq(help.parts[i].term, parts[i].term);
        ck_assert_str_eq(help.parts[i].text, parts[i].text);
    }
    help_free(&help);
    ck_assert_int_eq(help_parse(&help, dump, &error), 0);
    ck_assert_int_eq((int)help.parts[1].kind, (int)HELP_USAGE);
    ck_assert_str_eq(help.parts[1].text, "warpcheck dump --defect DEFECT ITEM...");
    ck_assert_str_eq(help.parts[2].text, "As in:");
    ck_assert_int_eq((int)help.parts[3].kind, (int)HELP_EXAMPLE);
    ck_assert_str_eq(help.parts[3].text, "warpcheck dump  x.pcap");
    ck_assert_int_eq((int)help.parts[4].kind, (int)HELP_PARAGRAPH);
    help_free(&help);
    ck_assert_int_eq(help_parse(&help, root, &error), 0);
    ck_assert_int_eq((int)help.parts[1].kind, (int)HELP_GAP);
    ck_assert_str_eq(help.parts[4].term, "run");
    help_free(&help);
    ck_assert_int_eq(help_parse(&help, "no help\n", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "usage"));
    help_free(&help);
    ck_assert_int_eq(help_parse(&help, "", &error), -1);
    help_free(&help);
}
END_TEST

START_TEST(the_options_of_a_row)
{
    const char *at = "--ird N, --ord N";
    struct help_option option;

    ck_assert(help_option_next(&at, &option));
    ck_assert_int_eq(strncmp(option.name, "--ird", option.name_length), 0);
    ck_assert_uint_eq(option.value_length, 1);
    ck_assert(help_option_next(&at, &option));
    ck_assert_int_eq(strncmp(option.name, "--ord", option.name_length), 0);
    ck_assert(!help_option_next(&at, &option));
    at = "-h, --help";
    ck_assert(help_option_next(&at, &option) && option.value == NULL && option.name_length == 2);
    ck_assert(help_option_next(&at, &option) && option.value == NULL && option.name_length == 6);
    at = "SELECT";
    ck_assert(!help_option_next(&at, &option));
}
END_TEST

static const struct {
    const char *line, *expected;
} lines[] = {
    {"warpcheck _", "run dump peer "},
    {"warpcheck r", "run "},
    {"warpcheck --", "--version "},
    {"warpcheck nope _", ""},
    {"warpcheck run --",
     "--dut --simulate --a-name-longer-than-the-column --format --order --level --shard --ird --ord "},
    {"warpcheck run -o", "-o "},
    {"warpcheck run --s", "--simulate --shard "},
    {"warpcheck run --format _", "text jsonl md "},
    {"warpcheck run --format j", "jsonl "},
    {"warpcheck run --format=j", "--format=jsonl "},
    {"warpcheck run --nope=j", ""},
    {"warpcheck run --simulate=j", ""},
    {"warpcheck run --level _", "must should "},
    {"warpcheck run --level must,s", "must,should "},
    {"warpcheck run --order _", ":files "},
    {"warpcheck run --shard _", ""},
    {"warpcheck run --ord _", ""},
    {"warpcheck run -o _", ":folders "},
    {"warpcheck run --dut l", "linux-siw linux-siw-6.1 linux-siw-6.12 linux-rxe linux-rxe-6.1 linux-rxe-6.12 "
                              "linux-sctp linux-sctp-6.1 linux-sctp-6.12 :files "},
    {"warpcheck run --simulate MPA-7.1.1-02", "MPA-7.1.1-02 "},
    {"warpcheck run mpa-7.1.1-02", "MPA-7.1.1-02 "}, /* as run takes it */
    {"warpcheck run MPA-3-15", ""},                  /* decided by a rule alone: run has no check of it */
    {"warpcheck dump MPA-3-15", "MPA-3-15 :files :folders "},
    {"warpcheck dump mpa.rev2", "mpa.rev2 :files :folders "},
    {"warpcheck dump --defect ddp-qn-wrong", "ddp-qn-wrong-code "},
    {"warpcheck dump --other _", ":files "},
    {"iwarp-peer --r", "--rev --rtr "},
    {"/usr/bin/iwarp-peer --rev _", "1 2 "},
    {"iwarp-peer --rtr _", "send write read "},
    {"iwarp-peer --rtr send,w", "send,write "},
    {"iwarp-peer _", ""},
    {"warpcheck peer --rtr r", "read "},
};

START_TEST(what_may_stand_next)
{
    ck_assert_str_eq(candidates(lines[_i].line), lines[_i].expected);
}
END_TEST

START_TEST(files_go_before_a_thousand_requirements)
{
    const char *found = candidates("warpcheck dump _");

    ck_assert_ptr_null(strstr(found, "MPA-"));
    ck_assert_ptr_nonnull(strstr(found, ":files "));
    ck_assert_ptr_nonnull(strstr(found, "mpa.rev2 "));
    ck_assert_ptr_nonnull(strstr(candidates("warpcheck run _"), "MPA-7.1.1-02 "));
}
END_TEST

START_TEST(missing_help_is_reported)
{
    const struct completion_source source = {help_of, NULL};
    const char *words[] = {"warpcheck"};
    char path[] = "/tmp/warpcheck-help-XXXXXX";
    int fd = mkstemp(path);
    char *text;

    ck_assert_int_eq(complete_write(&source, 1, words, stdout, &error), -1);
    ck_assert_ptr_null(help_ask("/nowhere/warpcheck", NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/warpcheck --help"));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_gt(dprintf(fd, "#!/bin/sh\n[ \"$1\" = list ] && [ \"$2\" = --help ] && echo 'usage: x'\n"), 0);
    close(fd);
    ck_assert_int_eq(chmod(path, 0700), 0);
    text = help_ask(path, "list", &error);
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, "usage: x\n");
    free(text);
    ck_assert_ptr_null(help_ask(path, "other", &error));
    ck_assert_ptr_nonnull(strstr(error.text, " other --help did not end with exit status 0"));
    unlink(path);
}
END_TEST

Suite *complete_suite(void)
{
    Suite *suite = suite_create("complete");
    TCase *words = tcase_create("words");

    tcase_add_test(words, a_help_is_read_back);
    tcase_add_test(words, the_options_of_a_row);
    tcase_add_loop_test(words, what_may_stand_next, 0, (int)(sizeof(lines) / sizeof(lines[0])));
    tcase_add_test(words, files_go_before_a_thousand_requirements);
    tcase_add_test(words, missing_help_is_reported);
    suite_add_tcase(suite, words);
    return suite;
}
