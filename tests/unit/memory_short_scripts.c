/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out for scripts: each allocation while they are loaded and run fails in turn, alone (Lua collects garbage
 * and tries again) or with all that follow. There is an error then, or an outcome that blames nobody; nothing leaks,
 * and the process goes on.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen/gen.h"
#include "conformance/engine/script/script.h"
#include "tests/unit/memory_short_scripts.h"
#include "tests/unit/short_memory.h"

#if OWN_ALLOCATOR

static const char check[] = "check {\n"
                            "  id = \"X-1\", purpose = \"p\", sandwich = \"startup\",\n"
                            "  run = function(t)\n"
                            "    local c = t:open { dut = { rev = 1 } }\n"
                            "    t:note('x' .. 1)\n"
                            "    c:probe()\n"
                            "  end,\n"
                            "}\n";

static const char capture[] = "local f = flow { ipv6 = true } f:connect() f:start()\n"
                              "f.initiator:send(rdmap.send { data = 'hello' }, { comment = 'a' .. 1 })\n"
                              "local s = stacks { initiator = { defects = { 'ddp-qn-unchecked' } } } s:connect()\n"
                              "s.initiator:sent { length = 100 } s:finish()\n";

/* How many fail once one has. */
static const long more[] = {0, 1, SHORT_ALL};

static void short_of(long n, long behind)
{
    short_failed = false;
    short_more = behind;
    short_left = n;
}

/* Nothing fails from here on. True when something has. */
static bool enough(void)
{
    short_left = short_more = 0;
    return short_failed;
}

/* A host with the check. NULL: there is a sentence, and no check. */
static struct script_host *loaded(bool *short_of_memory)
{
    struct iwarp_sentence error = {{0}};
    struct script_host *host = script_host_new(&error);

    *short_of_memory = host == NULL;
    if (host != NULL && script_load(host, "dir/some.lua", check, sizeof(check) - 1, &error) == 0)
        return host;
    if (error.text[0] == '\0' || (host != NULL && script_check_count(host) != 0))
        abort(); /* Check's own assertions take memory */
    *short_of_memory |= host != NULL && script_short_of_memory(host);
    script_host_free(host);
    return NULL;
}

START_TEST(scripts_load_or_fail_without_blame)
{
    bool failed = true, short_of_memory;
    long live;

    script_host_free(loaded(&short_of_memory)); /* what a process keeps of the library is there now */
    live = short_live;
    for (long n = 1; failed; n++) {
        struct script_host *host;

        short_of(n, more[_i]);
        host = loaded(&short_of_memory);
        failed = enough();
        ck_assert_msg(host != NULL || short_of_memory, "allocation %ld: the script is blamed", n);
        ck_assert_msg(host == NULL || script_check_count(host) == 1, "allocation %ld: the check is lost", n);
        ck_assert(host != NULL || failed);
        script_host_free(host);
        ck_assert_msg(short_live == live, "allocation %ld: %ld of them are left", n, short_live - live);
    }
}
END_TEST

START_TEST(checks_run_or_report_lack_of_memory)
{
    struct rig_sim_config config = {.seed = 1};
    struct iwarp_sentence error;
    bool failed = true, short_of_memory;

    for (long n = 1 + _i % 8; failed; n += 8) {
        struct script_host *host = loaded(&short_of_memory);
        struct rig *rig = rig_sim_new(&config, &error);
        struct outcome outcome;

        ck_assert_int_eq(rig_measure(rig, &error), 0);
        short_of(n, more[_i / 8]);
        script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
        failed = enough();
        ck_assert_msg(outcome.verdict == VERDICT_PASS || failed, "%s", outcome.message);
        rig_free(rig);
        script_host_free(host);
    }
}
END_TEST

START_TEST(captures_are_made)
{
    struct gen_writer_config config = {.to = place_at("/dev/null"), .format = GEN_PCAPNG};
    bool failed = true;
    long live = -1;

    for (long n = 0; failed; n++) {
        struct iwarp_sentence error = {{0}};
        enum exit_status status = EXIT_ENVIRONMENT;
        uint64_t written = 0;
        struct gen *gen;

        short_of(n, more[_i]);
        gen = gen_new(1, &error);
        if (gen != NULL)
            status =
                gen_run_script(gen, "dir/some.lua", capture, sizeof(capture) - 1, &config, false, &written, &error);
        gen_free(gen);
        failed = enough() || n == 0;
        ck_assert_msg(status == EXIT_DONE ? written > 5 : error.text[0] != '\0', "allocation %ld: %d", n, status);
        ck_assert_msg(status != EXIT_DONE || !failed || written > 5, "allocation %ld", n);
        if (n == 0)
            live = short_live;
        ck_assert_msg(short_live == live, "allocation %ld: %ld of them are left", n, short_live - live);
    }
}
END_TEST

TCase *memory_short_scripts_case(void)
{
    TCase *tcase = tcase_create("scripts");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, scripts_load_or_fail_without_blame, 0, 3);
    tcase_add_loop_test(tcase, checks_run_or_report_lack_of_memory, 0, 24);
    tcase_add_loop_test(tcase, captures_are_made, 0, 3);
    return tcase;
}

#endif
