/* SPDX-License-Identifier: BSD-2-Clause */
/* Journals of a run, what rules found over all of them, and how readers and --resume use them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/results/journal.h"
#include "reports/results/results_log.h"
#include "reports/results/rule_pool.h"
#include "tests/unit/sample_results.h"

Suite *journal_suite(void);

static struct journal_rule passed(const char *id, uint64_t count, uint64_t frame)
{
    return (struct journal_rule){.result = {.id = id,
                                            .verdict = VERDICT_PASS,
                                            .by = "rule",
                                            .count = count,
                                            .frame = frame,
                                            .flow = "a>b",
                                            .role = "responder"}};
}

static struct journal_rule found(const char *id, enum verdict verdict, uint64_t count)
{
    return (struct journal_rule){.result = {.id = id,
                                            .verdict = verdict,
                                            .by = "rule",
                                            .script = "function",
                                            .count = count,
                                            .frame = 9,
                                            .flow = "c>d",
                                            .role = "responder",
                                            .expected = "0",
                                            .actual = "5",
                                            .message = "m"}};
}

static struct journal of(const char *id, enum verdict verdict, struct journal_rule *rules, size_t count)
{
    return (struct journal){.id = id,
                            .role = "responder",
                            .found = verdict,
                            .decided = verdict,
                            .evidence = "evidence/X.pcapng",
                            .rules = rules,
                            .rule_count = count};
}

START_TEST(a_journal_comes_back)
{
    struct journal_rule rules[] = {passed("MPA-1", 12, 7), found("MPA-2", VERDICT_FAIL, 3), passed("MPA-3", 1, 2)};
    struct journal journal = of("DDP-1", VERDICT_PASS, rules, 3), read;

    rules[1].judged =
        (struct journal_judged){true, VERDICT_KNOWN, "known deviation", "a finding", "a note", "2027-06-30"};
    rules[2].result.role = NULL;
    journal.traffic.frames = 5;
    summary_add_messages(&journal.traffic, "Send", 2);
    json_t *object = journal_to_json(&journal);
    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(journal_from_json(object, &read), 0);
    ck_assert(journal_is_of(&read, "DDP-1", "responder") && !journal_is_of(&read, "DDP-1", NULL));
    ck_assert_int_eq(read.found, VERDICT_PASS);
    ck_assert_str_eq(read.evidence, "evidence/X.pcapng");
    ck_assert_uint_eq(read.traffic.frames, 5);
    ck_assert_uint_eq(read.traffic.message_count, 1);
    ck_assert_uint_eq(read.traffic.messages[0].count, 2);
    ck_assert_uint_eq(read.rule_count, 3);
    ck_assert_str_eq(read.rules[0].result.id, "MPA-2"); /* findings stand first */
    ck_assert_str_eq(read.rules[0].result.actual, "5");
    ck_assert_int_eq(read.rules[0].result.verdict, VERDICT_FAIL);
    ck_assert(read.rules[0].judged.known);
    ck_assert_int_eq(read.rules[0].judged.verdict, VERDICT_KNOWN);
    ck_assert_str_eq(read.rules[0].judged.finding, "a finding");
    ck_assert_str_eq(read.rules[0].judged.review_by, "2027-06-30");
    ck_assert_str_eq(read.rules[0].judged.deviation, "a note");
    ck_assert_uint_eq(read.rules[1].result.count, 12);
    ck_assert_uint_eq(read.rules[1].result.frame, 7);
    ck_assert_str_eq(read.rules[1].result.role, "responder");
    ck_assert_ptr_null(read.rules[2].result.role);
    ck_assert_str_eq(read.rules[2].result.flow, "a>b");
    journal_free(&read);
    json_decref(object);
}
END_TEST

START_TEST(hostile_journal_is_refused_or_read_safely)
{
    static const char *const refused[] = {"{}", "{\"id\":\"\"}", "{\"id\":\"A\"}", "{\"id\":\"A\",\"found\":\"MAYBE\"}",
                                          "{\"id\":3,\"found\":\"PASS\"}"};
    static const char *const taken[] = {
        "{\"id\":\"A\",\"found\":\"PASS\",\"findings\":7,\"passes\":[],\"flows\":{},\"traffic\":\"x\"}",
        "{\"id\":\"A\",\"found\":\"PASS\",\"findings\":[7,{},{\"id\":\"B\"},{\"id\":\"B\",\"verdict\":\"PASS\"}]}",
        ("{\"id\":\"A\",\"found\":\"PASS\",\"passes\":"
         "{\"B\":[],\"C\":[[1,2]],\"D\":7,\"E\":[[-1,0,0]],\"F\":[[0,0,0],3],\"G\":[1,2,0]}}")};
    struct journal journal;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        json_t *object = json_loads(refused[i], 0, NULL);

        ck_assert_int_eq(journal_from_json(object, &journal), -1);
        json_decref(object);
    }
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        json_t *object = json_loads(taken[i], 0, NULL);

        ck_assert_int_eq(journal_from_json(object, &journal), 0);
        ck_assert_uint_eq(journal.rule_count, 0);
        journal_free(&journal);
        json_decref(object);
    }
    json_t *far = json_loads("{\"id\":\"A\",\"found\":\"PASS\",\"passes\":{\"B\":[[1,2,99999]]}}", 0, NULL);
    ck_assert_int_eq(journal_from_json(far, &journal), 0);
    ck_assert_uint_eq(journal.rule_count, 1);
    ck_assert_ptr_null(journal.rules[0].result.flow);
    journal_free(&journal);
    json_decref(far);
}
END_TEST

/* The worse counts, with its own count; passes of checks that are repeated do not. */
START_TEST(rules_are_pooled)
{
    struct journal_rule first[] = {passed("MPA-1", 12, 7), found("MPA-2", VERDICT_WARN, 3)};
    struct journal_rule second[] = {passed("MPA-1", 5, 1), found("MPA-2", VERDICT_FAIL, 2)};
    struct journal_rule third[] = {passed("MPA-1", 100, 1), found("MPA-2", VERDICT_FAIL, 4), passed("MPA-3", 1, 1)};
    struct journal journal = of("DDP-1", VERDICT_PASS, first, 2);
    struct rule_pool *pool = rule_pool_new();
    const struct rule_pool_entry *entry;

    ck_assert_int_eq(rule_pool_add(pool, &journal, false), 0);
    journal = of("MPA-1", VERDICT_PASS, second, 2);
    ck_assert_int_eq(rule_pool_add(pool, &journal, false), 0);
    journal = of("DDP-2", VERDICT_FAIL, third, 3);
    ck_assert_int_eq(rule_pool_add(pool, &journal, true), 0);
    entry = rule_pool_find(pool, "MPA-1", ROLE_RESPONDER);
    ck_assert_uint_eq(entry->result.count, 17);
    ck_assert_uint_eq(entry->result.frame, 7);
    ck_assert(!rule_pool_adds(entry)); /* a check of MPA-1 passed, too */
    entry = rule_pool_find(pool, "MPA-2", ROLE_RESPONDER);
    ck_assert_int_eq(entry->result.verdict, VERDICT_FAIL);
    ck_assert_uint_eq(entry->result.count, 6);
    ck_assert_str_eq(entry->result.evidence, "evidence/X.pcapng");
    ck_assert(rule_pool_adds(entry));
    ck_assert_ptr_null(rule_pool_find(pool, "MPA-3", ROLE_RESPONDER));
    rule_pool_free(pool);
    rule_pool_free(NULL);
}
END_TEST

/* A rule that found worse than its check did counts, and nothing else. */
START_TEST(rules_beside_checks)
{
    static const struct {
        enum verdict check, rule;
        bool adds;
    } rows[] = {{VERDICT_PASS, VERDICT_FAIL, true},        {VERDICT_PASS, VERDICT_PASS, false},
                {VERDICT_FAIL, VERDICT_FAIL, false},       {VERDICT_FAIL, VERDICT_WARN, false},
                {VERDICT_WARN, VERDICT_FAIL, true},        {VERDICT_SKIP, VERDICT_PASS, true},
                {VERDICT_INCONCLUSIVE, VERDICT_PASS, true}};
    struct journal_rule rule = found("MPA-1", rows[_i].rule, 1);
    struct journal journal = of("MPA-1", rows[_i].check, &rule, 1);
    struct rule_pool *pool = rule_pool_new();

    ck_assert_int_eq(rule_pool_add(pool, &journal, false), 0);
    ck_assert(rule_pool_adds(rule_pool_find(pool, "MPA-1", ROLE_RESPONDER)) == rows[_i].adds);
    rule_pool_free(pool);
}
END_TEST

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void write_check(struct results_log *log, const struct journal *journal)
{
    struct result result = {.id = journal->id, .verdict = journal->found, .by = "check", .role = journal->role};
    struct iwarp_sentence error = {""};

    ck_assert_msg(results_log_journal(log, journal, &error) == 0, "%s", error.text);
    ck_assert_msg(results_log_append(log, &result, &error) == 0, "%s", error.text);
}

/* Three checks: rules find something in the first, and in the second, which is INCONCLUSIVE. No end. */
static void write_stopped(const char *path)
{
    struct journal_rule first[] = {passed("MPA-1", 12, 7), found("MPA-2", VERDICT_FAIL, 3)};
    struct journal_rule second[] = {passed("MPA-1", 5, 1), found("MPA-3", VERDICT_WARN, 2)};
    struct journal_rule third[] = {passed("MPA-1", 8, 1), passed("DDP-1", 2, 1)};
    struct journal journals[] = {of("DDP-1", VERDICT_PASS, first, 2), of("DDP-2", VERDICT_INCONCLUSIVE, second, 2),
                                 of("DDP-3", VERDICT_PASS, third, 2)};
    struct run_info info = sample_info;
    struct iwarp_sentence error = {""};
    struct results_log *log;

    info.functions = json_pack("{s:s, s:s}", "MPA-1", "one", "DDP-1", "ddp");
    log = results_log_create(PLACE(path), &info, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error.text);
    for (size_t i = 0; i < 3; i++)
        write_check(log, &journals[i]);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    json_decref(info.functions);
}

static int gather(void *user, const struct result *result, json_t *object)
{
    char *text = user;

    ck_assert_ptr_eq(json_string_value(json_object_get(object, "id")), result->id);
    sprintf(text + strlen(text), "%s %s %s %d%s%s;", result->id, result->by, verdict_name(result->verdict),
            (int)result->count, result->script ? " " : "", result->script ? result->script : "");
    return 0;
}

static int gather_journal(void *user, const struct journal *journal, json_t *object)
{
    char *text = user;

    ck_assert_ptr_nonnull(object);
    sprintf(text + strlen(text), "journal %s;", journal->id);
    return 0;
}

static int gather_summary(void *user, const struct run_summary *summary, json_t *object)
{
    char *text = user;

    ck_assert_ptr_nonnull(object);
    sprintf(text + strlen(text), "summary%s;", summary->stopped ? " stopped" : "");
    return 0;
}

/* All that a reader gets of the file. */
static const char *heard(const char *path)
{
    static char text[2000];
    struct results_reader reader = {
        .on_result = gather, .on_journal = gather_journal, .on_summary = gather_summary, .user = text};
    struct iwarp_sentence error = {""};

    text[0] = '\0';
    ck_assert_msg(results_read(path, &reader, &error) == 0, "%s", error.text);
    return text;
}

#define CHECKS                                                                                                         \
    "journal DDP-1;DDP-1 check PASS 1;journal DDP-2;DDP-2 check INCONCLUSIVE 1;journal DDP-3;DDP-3 check PASS 1;"

START_TEST(a_stopped_run_has_its_rules_results)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "results.jsonl");
    struct iwarp_sentence error = {""};
    size_t size;

    write_stopped(path);
    ck_assert_str_eq(heard(path),
                     CHECKS "MPA-2 rule FAIL 3 function;MPA-1 rule PASS 25 one;MPA-3 rule WARN 2 function;");
    text = sample_read(path, &size);
    sample_write(path, text, size - 5); /* the last result torn: the passes of its check are gone */
    ck_assert_str_eq(heard(path), "journal DDP-1;DDP-1 check PASS 1;journal DDP-2;DDP-2 check INCONCLUSIVE 1;"
                                  "journal DDP-3;MPA-2 rule FAIL 3 function;MPA-1 rule PASS 17 one;"
                                  "MPA-3 rule WARN 2 function;");
    free(text);
    write_stopped(path);
    struct results_done *done = NULL;
    struct results_log *log = results_log_resume(PLACE(path), &sample_info, NULL, &done, &error);
    struct result rule = {.id = "MPA-2", .verdict = VERDICT_FAIL, .by = "rule", .script = "function", .count = 3};
    ck_assert_msg(log != NULL, "%s", error.text);
    ck_assert_int_eq(results_log_append(log, &rule, &error), 0);
    struct run_summary summary = *results_log_summary(log);
    summary.stopped = "interrupted";
    ck_assert_int_eq(results_log_finish(log, &summary, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    ck_assert_ptr_nonnull(strstr(heard(path),
                                 "MPA-2 rule FAIL 3 function;MPA-1 rule PASS 20;MPA-3 rule WARN 2 function;"
                                 "summary stopped;"));
    results_done_free(done);
    sample_remove(folder);
}
END_TEST

START_TEST(a_finished_run_has_what_it_wrote)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "results.jsonl");
    struct journal_rule rules[] = {found("MPA-2", VERDICT_FAIL, 3)};
    struct journal journal = of("DDP-1", VERDICT_PASS, rules, 1);
    struct iwarp_sentence error = {""};
    struct results_log *log = results_log_create(PLACE(path), &sample_info, NULL, &error);

    write_check(log, &journal);
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    ck_assert_str_eq(heard(path), "journal DDP-1;DDP-1 check PASS 1;summary;");
    sample_remove(folder);
}
END_TEST

/* What is done, what is repeated, and the findings of that. */
START_TEST(resume_takes_journals_over)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "results.jsonl");
    struct results_done *done = NULL;
    struct iwarp_sentence error = {""};

    write_stopped(path);
    for (int times = 0; times < 3; times++) { /* any number of stops */
        struct results_log *log = results_log_resume(PLACE(path), &sample_info, NULL, &done, &error);

        ck_assert_msg(log != NULL, "%s", error.text);
        ck_assert_uint_eq(results_done_count(done), 2);
        ck_assert(results_done_has(done, "DDP-1", "responder") && results_done_has(done, "DDP-3", "responder"));
        ck_assert_ptr_nonnull(results_done_find(done, "DDP-1", "responder")->journal);
        ck_assert_uint_eq(json_array_size(results_done_repeated(done)), 1);
        ck_assert_uint_eq(results_log_summary(log)->pass, 2);
        ck_assert_int_eq(results_log_close(log, &error), 0);
        results_done_free(done);
        done = NULL;
        ck_assert_str_eq(heard(path), "journal DDP-1;DDP-1 check PASS 1;journal DDP-2;journal DDP-3;DDP-3 check PASS 1;"
                                      "MPA-2 rule FAIL 3 function;MPA-1 rule PASS 20;MPA-3 rule WARN 2 function;");
    }
    sample_remove(folder);
}
END_TEST

/* A check is done when both its lines are whole, wherever the file was cut. */
START_TEST(resume_after_any_octet)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "results.jsonl");
    struct iwarp_sentence error = {""};
    size_t size;

    write_stopped(path);
    text = sample_read(path, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        struct results_done *done = NULL;
        char *last = strstr(text, "\"result\",\"id\":\"DDP-3\"");
        size_t first_line = (size_t)(strchr(text, '\n') - text),
               first = (size_t)(strchr(strstr(text, "\"result\""), '\n') - text);
        size_t third = (size_t)(strchr(last, '\n') - text);

        sample_write(path, text, cut);
        struct results_log *log = results_log_resume(PLACE(path), &sample_info, NULL, &done, &error);
        ck_assert_msg(log != NULL, "cut at %zu: %s", cut, error.text);
        ck_assert_msg(results_done_count(done) == (size_t)(cut > first) + (size_t)(cut > third) || cut == first ||
                          cut == third,
                      "cut at %zu: %zu are done", cut, results_done_count(done));
        ck_assert(cut > first_line || results_done_count(done) == 0);
        ck_assert_int_eq(results_log_close(log, &error), 0);
        results_done_free(done);
    }
    free(text);
    sample_remove(folder);
}
END_TEST

START_TEST(resume_refuses_another_run)
{
    static const char *const words[] = {"another catalogue ('0011223344556677', this one is 'ffff')",
                                        "another target ('10.77.0.2:9999', this one is '192.0.2.1')",
                                        "another seed ('42', this one is '43')",
                                        "another program version ('warpcheck test', this one is 'warpcheck next')",
                                        "another selection ('', this one is 'MPA*')",
                                        "another command ('run', this one is 'audit')",
                                        "another --shard ('1/1', this one is '2/3')"};
    char *folder = sample_folder(), *before, *after;
    const char *path = sample_path(folder, "results.jsonl");
    struct run_info other = sample_info;
    struct results_done *done = NULL;
    struct iwarp_sentence error = {""};

    sample_results(folder, 0);
    before = sample_read(path, NULL);
    if (_i == 0)
        other.catalogue = "ffff";
    else if (_i == 1)
        other.target = "192.0.2.1";
    else if (_i == 2)
        other.seed = 43;
    else if (_i == 3)
        other.tool = "warpcheck next";
    else if (_i == 4)
        other.conditions = json_pack("{s:s}", "selection", "MPA*");
    else if (_i == 5)
        other.command = "audit";
    else
        other.shard = "2/3";
    ck_assert_ptr_null(results_log_resume(PLACE(path), &other, NULL, &done, &error));
    ck_assert_ptr_null(done);
    ck_assert_msg(strstr(error.text, words[_i]) != NULL, "%s", error.text);
    after = sample_read(path, NULL);
    ck_assert_str_eq(before, after);
    json_decref(other.conditions);
    free(before);
    free(after);
    sample_remove(folder);
}
END_TEST

Suite *journal_suite(void)
{
    Suite *suite = suite_create("journal");
    TCase *lines = tcase_create("lines"), *file = tcase_create("file");

    tcase_add_test(lines, a_journal_comes_back);
    tcase_add_test(lines, hostile_journal_is_refused_or_read_safely);
    tcase_add_test(lines, rules_are_pooled);
    tcase_add_loop_test(lines, rules_beside_checks, 0, 7);
    suite_add_tcase(suite, lines);
    tcase_add_test(file, a_stopped_run_has_its_rules_results);
    tcase_add_test(file, a_finished_run_has_what_it_wrote);
    tcase_add_test(file, resume_takes_journals_over);
    tcase_add_test(file, resume_after_any_octet);
    tcase_add_loop_test(file, resume_refuses_another_run, 0, 7);
    suite_add_tcase(suite, file);
    return suite;
}
