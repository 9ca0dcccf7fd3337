/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/script.h"

#include <check.h>
#include <lauxlib.h>
#include <string.h>

#include "conformance/requirements/no_defect.h"
#include "tools/embedded.h"

static struct script_host *host;
static struct iwarp_sentence error;

static void setup(void)
{
    host = script_host_new(&error);
    ck_assert_msg(host != NULL, "%s", error.text);
}

static void teardown(void)
{
    script_host_free(host);
}

static int load(const char *text)
{
    return script_load(host, "dir/some.lua", text, strlen(text), &error);
}

#define CHECK_BEGIN "check {\n  id = \"X-1\",\n  purpose = \"p\",\n  sandwich = \"tcp\",\n  run = function(t)\n"
#define CHECK_END   "\n  end,\n}\n"

START_TEST(check_is_registered)
{
    const struct check *check;

    ck_assert_msg(load("\n\n" CHECK_BEGIN CHECK_END) == 0, "%s", error.text);
    ck_assert_uint_eq(script_check_count(host), 1);
    check = script_check_at(host, 0);
    ck_assert_str_eq(check->id, "X-1");
    ck_assert_str_eq(check->path, "dir/some.lua");
    ck_assert_int_ge(check->line, 3);
    ck_assert(check->responder && !check->initiator && !check->destructive);
    ck_assert_ptr_null(script_check_at(host, 1));
}
END_TEST

START_TEST(check_may_keep_rules_away)
{
    ck_assert_int_eq(load(CHECK_BEGIN CHECK_END), 0);
    ck_assert_int_eq(load("check { id = \"X-2\", purpose = \"p\", rules = false, run = function() end }"), 0);
    ck_assert_int_eq(load("check { id = \"X-3\", purpose = \"p\", rules = true, run = function() end }"), 0);
    ck_assert(!script_check_at(host, 0)->unjudged);
    ck_assert(script_check_at(host, 1)->unjudged);
    ck_assert(!script_check_at(host, 2)->unjudged);
}
END_TEST

START_TEST(check_may_say_that_it_lasts_long)
{
    ck_assert_int_eq(load(CHECK_BEGIN CHECK_END), 0);
    ck_assert_int_eq(load("check { id = \"X-2\", purpose = \"p\", lasts = 2.5, run = function() end }"), 0);
    ck_assert_int_eq(load("check { id = \"X-3\", purpose = \"p\", lasts = 600, run = function() end }"), 0);
    ck_assert_double_eq(script_check_at(host, 0)->lasts, 0);
    ck_assert_double_eq(script_check_at(host, 1)->lasts, 2.5);
    ck_assert_double_eq(script_check_at(host, 2)->lasts, 600);
}
END_TEST

START_TEST(check_with_several_ids_is_there_for_each)
{
    static const char *const ids[] = {"X-1", "X-2", "X.3", "Y-1"};

    ck_assert_msg(load("check { id = 'X-1', also = { 'X-2', 'X.3' }, role = 'both', purpose = 'p', requires = 'a', "
                       "destructive = true, rules = false, run = function() end }\n"
                       "check { id = 'Y-1', purpose = 'p', run = function() end }") == 0,
                  "%s", error.text);
    ck_assert_uint_eq(script_check_count(host), 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(script_check_at(host, i)->id, ids[i]);
    for (size_t i = 0; i < 3; i++) {
        const struct check *check = script_check_at(host, i);

        ck_assert_str_eq(check->purpose, "p");
        ck_assert_str_eq(check->requires, "a");
        ck_assert_int_eq(check->line, 1);
        ck_assert(check->responder && check->initiator && check->destructive && check->unjudged);
    }
    ck_assert(!script_check_at(host, 3)->destructive);
}
END_TEST

/*
 * What the device's LLP takes while the window is shut: a Write of half of it completes, one of t.large octets does not
 * (and so each check that needs a message under way has one), until the window opens.
 */
START_TEST(large_is_more_than_a_shut_window_lets_pass)
{
    static const enum iwarp_sctp_profile below[] = {IWARP_SCTP_UNDECIDED, IWARP_SCTP_RFC5043};
    struct rig_sim_config config = {.seed = 1, .sctp = below[_i]};
    struct rig *rig = rig_sim_new(&config, &error);
    struct outcome outcome;

    ck_assert_msg(rig != NULL && rig_measure(rig, &error) == 0, "%s", error.text);
    ck_assert_msg(load("check { id = 'X-1', purpose = 'p', llp = 'any', sandwich = 'tcp', run = function(t)\n"
                       "  local wanted = { t.large, rig.send_buffer() // 2 }\n"
                       "  for i, octets in ipairs(wanted) do\n"
                       "    local c, number = t:operating()\n"
                       "    c:window(0)\n"
                       "    t.dut:write { stream = number, stag = 1, length = octets, id = i }\n"
                       "    t:equal('completions', i - 1, #t:collect_events(c, { write_done = true }, 1, t.quiet))\n"
                       "    c:window(65535)\n"
                       "    c:pass_message('the Write')\n"
                       "  end end }") == 0,
                  "%s", error.text);
    script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
    ck_assert_msg(outcome.verdict == VERDICT_PASS, "%s: %s", outcome.message, outcome.actual);
    rig_free(rig);
}
END_TEST

/* The body decides each id in a run of its own, and knows which. */
START_TEST(each_id_has_a_verdict_of_its_own)
{
    struct rig_sim_config config = {.seed = 1};
    struct rig *rig = rig_sim_new(&config, &error);
    struct outcome outcome;

    ck_assert_msg(rig != NULL && rig_measure(rig, &error) == 0, "%s", error.text);
    ck_assert_msg(
        load(
            "local runs = 0\n"
            "check { id = 'X-1', also = { 'X-2' }, purpose = 'p', sandwich = 'tcp',\n"
            "  run = function(t) t:connect() runs = runs + 1 if t.id == 'X-2' then t:fail('run ' .. runs) end end }") ==
            0,
        "%s", error.text);
    script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
    ck_assert_int_eq(outcome.verdict, VERDICT_PASS);
    script_run(host, script_check_at(host, 1), "responder", rig, NULL, &outcome);
    ck_assert_int_eq(outcome.verdict, VERDICT_FAIL);
    ck_assert_str_eq(outcome.message, "run 2");
    rig_free(rig);
}
END_TEST

/* A script that catches the error of a check with a bad list has declared nothing by it. */
START_TEST(check_with_a_bad_list_is_not_there)
{
    ck_assert_msg(
        load("pcall(check, { id = 'X-1', also = { 'X-2', 'no id' }, purpose = 'p', run = function() end })") == 0, "%s",
        error.text);
    ck_assert_uint_eq(script_check_count(host), 0);
}
END_TEST

/* Scripts that must not load, and what the sentence has to name. */
static const struct {
    const char *text;
    const char *part;
} refused[] = {
    {"check {", "dir/some.lua:1"},
    {"\nno_such_function()", "dir/some.lua:2"},
    {"check { purpose = \"p\", run = function() end }", "needs an id"},
    {"check { id = \"a\", run = function() end }", "a purpose"},
    {"check { id = \"a\", purpose = \"p\" }", "run is not a function"},
    {"check { id = \"a\", purpose = \"p\", role = \"king\", run = function() end }", "role is"},
    {"\ncheck { id = \"a\", purpose = \"p\", run = print, also = 1 }", "run is not a function"},
    {"\ncheck { id = 'a', purpose = 'p', run = pcall, also = 1 }",
     "dir/some.lua:2: check a: also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = 'b' }", "also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = {} }", "also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = { x = 'b' } }", "also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = { 'b', 7 } }", "also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = { 'b\\0' } }", "also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = { '../b' } }", "letters, digits"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = { 'b', 'a' } }", "its ids hold a twice"},
    {"check { id = 'a', purpose = 'p', run = pcall, also = { 'b', 'c', 'b' } }", "its ids hold b twice"},
    {"local l = {} for i = 1, 33 do l[i] = 'b' .. i end check { id = 'a', purpose = 'p', run = pcall, also = l }",
     "also is a list of 1 to 32 ids"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = 'long' }", "check a: lasts is a number of seconds"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = '3' }", "lasts is a number of seconds"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = 0 }", "of 0 (excluded) to 600"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = -1 }", "of 0 (excluded) to 600"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = 601 }", "of 0 (excluded) to 600"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = 0 / 0 }", "of 0 (excluded) to 600"},
    {"check { id = 'a', purpose = 'p', run = pcall, lasts = true }", "lasts is a number of seconds"},
    {"defaults { role = \"both\" }", "requires = \"...\", sandwich"},
    {"defaults { sandwich = 1 }", "requires = \"...\", sandwich"},
    {"defaults { \"tcp\" }", "requires = \"...\", sandwich"},
    {"defaults \"tcp\"", "table expected"},
    {"rig.connect {}", "no rig while scripts are loaded"},
    {"while true do end", "does not end"},
    {"while true do pcall(function() while true do end end) end", "does not end"},
    {"local s = string.rep('x', 1 << 30)", "not enough memory"},
    {"local t = {} while true do t[#t + 1] = string.rep('x', 1000000 + #t) end", "not enough memory"},
    {"\033Lua", "dir/some.lua"},
    {"io.open(\"/etc/passwd\")", "dir/some.lua:1"},
    {"os.exit(0)", "dir/some.lua:1"},
    {"load(\"x = 1\")()", "dir/some.lua:1"},
    {"require(\"os\")", "dir/some.lua:1"},
    {"wire.pack(\"ddp_tagged\", { Colour = 1 })", "no field called 'Colour'"},
    {"wire.pack(\"nothing\", {})", "no header layout"},
    {"wire.pack(\"ddp_tagged\", { DV = 4 })", "does not fit"},
    {"wire.pack(\"mpa_start\", { key = \"seventeen octets!\" })", "16 octets"},
    {"wire.triple(\"NO_SUCH\")", "no error of the registries"},
};

START_TEST(bad_check_script_is_refused)
{
    ck_assert_int_eq(load(refused[_i].text), -1);
    ck_assert_msg(strstr(error.text, refused[_i].part) != NULL, "'%s' lacks '%s'", error.text, refused[_i].part);
}
END_TEST

START_TEST(globals_are_a_scripts_own)
{
    ck_assert_int_eq(load("secret = 1"), 0);
    ck_assert_msg(script_load(host, "other.lua", "assert(secret == nil)", 21, &error) == 0, "%s", error.text);
}
END_TEST

START_TEST(defaults_are_for_the_checks_below_them)
{
    static const char text[] =
        "check { id = \"X-1\", purpose = \"p\", run = function() end }\n"
        "defaults { requires = \"upper_tester\", sandwich = \"tcp\" }\n"
        "check { id = \"X-2\", purpose = \"p\", run = function() end }\n"
        "check { id = \"X-3\", purpose = \"p\", requires = \"mpa.rev1\", run = function() end }\n"
        "local c = { id = \"X-4\", purpose = \"p\", sandwich = \"rdma\", run = function() end }\n"
        "check(c) assert(c.sandwich == \"rdma\" and c.requires == \"upper_tester\")\n"
        "c = { id = \"X-5\", purpose = \"p\", run = function() end }\n"
        "check(c) assert(c.sandwich == \"tcp\")\n";

    ck_assert_msg(load(text) == 0, "%s", error.text);
    ck_assert_ptr_null(script_check_at(host, 0)->requires);
    ck_assert_str_eq(script_check_at(host, 1)->requires, "upper_tester");
    ck_assert_str_eq(script_check_at(host, 2)->requires, "mpa.rev1");
    ck_assert_int_eq(load("check { id = \"X-6\", purpose = \"p\", run = function() end }"), 0);
    ck_assert_ptr_null(script_check_at(host, 5)->requires);
}
END_TEST

/* Lua's own view of wire/: each script asserts for itself. */
static const char *const wire_scripts[] = {
    "assert(hex(rdmap.write { STag = 1, TO = 2, data = 'x' }:octets()) == 'c140000000010000000000000002' .. '78')",
    "assert(hex(rdmap.send { MSN = 1 }:octets()) == '414300000000000000000000000100000000')",
    "assert(hex(rdmap.send_invalidate { MSN = 1, InvalidateSTag = 7 }:octets()):sub(1, 12) == '414400000007')",
    "assert(#rdmap.read_request { MSN = 1, SinkSTag = 1, SinkTO = 0, RDMARDSZ = 0, SrcSTag = 0, SrcTO = 0 }:octets() "
    "== 46)",
    "assert(hex(rdmap.terminate { MSN = 1, Layer = 2, Code = 2 }:octets()) == '414700000000000000020000000100000000' "
    ".. '20020000')",
    "assert(hex(mpa.request {}:octets()) == '4d504120494420526571204672616d65' .. '40010000')",
    "assert(hex(mpa.request { enhanced = { A = 1, C = 1, D = 1, IRD = 4, ORD = 5 } }:octets()):sub(33) == '50020004' "
    ".. '8004c005')",
    "assert(#wire.frame('abc', { crc = true }) == 12)",
    "local n, f = wire.parse_fpdu(wire.frame('abcd', { crc = true }), { crc = true }) assert(n == 12 and f.crc_ok and "
    "f.ulpdu == 'abcd')",
    "local n, f = wire.parse_fpdu(wire.frame('abcd', { crc = true, crc_flip = 1 }), { crc = true }) assert(not "
    "f.crc_ok)",
    "local n, why = wire.parse_fpdu('\\0\\4ab', { crc = true }) assert(n == nil and why == 'more')",
    "local n, f = wire.parse_start(mpa.reply { R = 1, private_data = 'hi' }:octets(), 'reply') assert(n == 22 and f.R "
    "== 1 and f.private_data == 'hi')",
    "local n, why = wire.parse_start('MPA ID Req Frama', 'request') assert(n == nil and why == "
    "wire.triple('MPA_START_FRAME'))",
    "local s = read_segment(rdmap.terminate { MSN = 1, Layer = 1, EType = 2, Code = 1 }:octets()) assert(s.triple == "
    "0x1201)",
    "local into = { Rev = 9, own = 1 } assert(wire.unpack('mpa_start', mpa.request {}:octets(), 1, into) == into and "
    "into.Rev == 1 and into.own == 1)",
    "local into = { own = 1 } assert(wire.unpack('mpa_start', 'short', 1, into) == nil and next(into, 'own') == nil)",
    "assert(not pcall(wire.unpack, 'mpa_start', mpa.request {}:octets(), 1, 'into'))",
    "local all = pattern(70000) for _, at in ipairs { 0, 1, 255, 256, 257, 65535, 65536 } do for _, octets in ipairs "
    "{ 0, 1, 256, 700 } do assert(pattern(octets, at) == all:sub(at + 1, at + octets)) end end "
    "assert(all:sub(1, 256) ~= all:sub(257, 512) and all:sub(1, 4464) ~= all:sub(65537))",
    "assert(wire.crc32c('123456789') == 0xE3069283)",
    "assert(hex('\\0\\xfe') == '00fe' and unhex('00 FE\\n') == '\\0\\xfe' and unhex('') == '')",
    "assert(not pcall(unhex, '0') and not pcall(unhex, '0g'))",
    "assert(not pcall(function() rdmap.send { Colour = 1 }:octets() end))",
    "assert(fits(rdmap.send { data = 'x' }, read_segment(rdmap.send { MSN = 9, data = 'x' }:octets())))",
    "assert(not fits(rdmap.send { data = 'x' }, read_segment(rdmap.send { MSN = 9, data = 'y' }:octets())))",
    "assert(not fits(rdmap.send {}, read_segment(rdmap.send_se { MSN = 9 }:octets())))",
    "assert(fits(tcp.closed(), { kind = 'reset' }) and not fits(tcp.closed(), { kind = 'timeout' }))",
};

START_TEST(wire_in_lua)
{
    ck_assert_msg(load(wire_scripts[_i]) == 0, "%s", error.text);
}
END_TEST

/* What a check does, and the verdict that follows, on the correct stack in simulation. */
static const struct {
    const char *body;
    enum verdict verdict;
    const char *message; /* part of it, or NULL */
} outcomes[] = {
    {"", VERDICT_INCONCLUSIVE, "script error: dir/some.lua:1: the check ends without having asked the device"},
    {"t:connect()", VERDICT_PASS, NULL},
    {"t:fail(\"wrong\", \"this\", \"that\")", VERDICT_FAIL, "wrong"},
    {"t:warn(\"hm\")", VERDICT_WARN, "hm"},
    {"t:skip(\"cannot\")", VERDICT_SKIP, "cannot"},
    {"t:ambiguous(\"the first reading\")", VERDICT_AMBIGUOUS, NULL},
    {"t:inconclusive(\"no idea\")", VERDICT_INCONCLUSIVE, "no idea"},
    {"local x = nil + 1", VERDICT_INCONCLUSIVE, "script error: dir/some.lua:6"},
    {"while true do end", VERDICT_INCONCLUSIVE, "does not end"},
    {"t:equal(\"sum\", 4, 5)", VERDICT_FAIL, "sum"},
    {"local c = t:connect() c:start_as_initiator() c:probe()", VERDICT_PASS, NULL},
    {"local c = t:connect() c:start_as_initiator() c:send(rdmap.send { QN = 9 }) "
     "c:expect_terminate(\"DDP_INVALID_QN\")",
     VERDICT_PASS, NULL},
    {"local c = t:connect() c:start_as_initiator() c:send(rdmap.send { QN = 9 }) c:expect_terminate(\"DDP_TOO_LONG\")",
     VERDICT_FAIL, NULL},
    {"local c = t:connect() c:expect_close { within = 0.1 }", VERDICT_FAIL, NULL},
    {"t:connect { port = 1 }", VERDICT_INCONCLUSIVE, "no TCP connection"},
    {"t.dut:no_such_verb {}", VERDICT_INCONCLUSIVE, "the upper tester could not no_such_verb"},
};

START_TEST(check_gives_verdict)
{
    struct rig_sim_config config = {.seed = 1};
    struct rig *rig = rig_sim_new(&config, &error);
    struct outcome outcome;
    char text[1024];

    ck_assert_msg(rig != NULL, "%s", error.text);
    ck_assert_int_eq(rig_measure(rig, &error), 0);
    (void)snprintf(text, sizeof(text), "%s%s%s", CHECK_BEGIN, outcomes[_i].body, CHECK_END);
    ck_assert_msg(load(text) == 0, "%s", error.text);
    script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
    ck_assert_msg(outcome.verdict == outcomes[_i].verdict, "%s instead of %s: %s", verdict_name(outcome.verdict),
                  verdict_name(outcomes[_i].verdict), outcome.message != NULL ? outcome.message : "");
    if (outcomes[_i].message != NULL)
        ck_assert_msg(strstr(outcome.message, outcomes[_i].message) != NULL, "'%s'", outcome.message);
    if (outcome.verdict == VERDICT_FAIL)
        ck_assert_int_eq(outcome.line, 6);
    rig_free(rig);
}
END_TEST

START_TEST(every_script_loads)
{
    ck_assert_msg(script_load_embedded(host, &error) == 0, "%s", error.text);
    ck_assert_uint_gt(script_check_count(host), 0);
}
END_TEST

/* What no device can break draws no FAIL: the check says so, and the list of those rows is the only reason for that. */
START_TEST(what_no_device_can_break_cannot_fail)
{
    struct no_defect row;

    ck_assert_msg(script_load_embedded(host, &error) == 0, "%s", error.text);
    for (size_t i = 0; i < script_check_count(host); i++) {
        const struct check *check = script_check_at(host, i);

        bool excused = no_defect_find(check->id, &row) && strncmp(row.reason, "configured: ", 12) != 0;

        ck_assert_msg(check->frees == excused, "%s: %s", check->id,
                      check->frees ? "frees = true, and no line of defects-none.tsv"
                                   : "a line of defects-none.tsv, and no frees = true");
    }
}
END_TEST

START_TEST(check_that_frees_does_not_fail)
{
    struct rig *rig = rig_sim_new(&(struct rig_sim_config){.seed = 1}, &error);
    struct outcome outcome;

    ck_assert_msg(rig != NULL && rig_measure(rig, &error) == 0, "%s", error.text);
    ck_assert_int_eq(load("check { id = 'X-1', purpose = 'p', sandwich = 'tcp', frees = true,\n"
                          "  run = function(t) t:connect() t:fail('a thing', 'this', 'that') end }"),
                     0);
    script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
    ck_assert_int_eq(outcome.verdict, VERDICT_INCONCLUSIVE);
    ck_assert_ptr_nonnull(strstr(outcome.message, "leaves free"));
    ck_assert_ptr_nonnull(strstr(outcome.message, "a thing: this was expected, not that"));
    rig_free(rig);
}
END_TEST

/* 0 when these are the next octets of what is left. */
static int is_next(lua_State *lua, const void *octets, size_t count, void *context)
{
    struct embedded_file *left = context;

    (void)lua;
    if (count > left->size || memcmp(octets, left->octets, count) != 0)
        return 1;
    left->octets += count;
    left->size -= count;
    return 0;
}

/* What the build compiled is what this Lua makes of the text; a chunk for another Lua would never be used. */
START_TEST(every_script_has_its_chunk)
{
    const struct embedded_file *ident = embedded_find(embedded_chunks, embedded_chunk_count, "lua_ident");
    lua_State *lua = luaL_newstate();

    ck_assert_str_eq((const char *)ident->octets, lua_ident);
    ck_assert_uint_eq(embedded_chunk_count, embedded_script_count + embedded_capture_count + 1);
    for (size_t i = 0; i < embedded_script_count; i++) {
        const struct embedded_file *script = &embedded_scripts[i];
        const struct embedded_file *chunk = embedded_find(embedded_chunks, embedded_chunk_count, script->path);
        struct embedded_file left = {0};

        ck_assert_msg(chunk != NULL, "%s", script->path);
        lua_pushfstring(lua, "@%s", script->path);
        ck_assert_int_eq(luaL_loadbufferx(lua, (const char *)script->octets, script->size, lua_tostring(lua, -1), "t"),
                         LUA_OK);
        left = *chunk;
        ck_assert_msg(lua_dump(lua, is_next, &left, 0) == 0 && left.size == 0, "%s", script->path);
        lua_settop(lua, 0);
    }
    lua_close(lua);
}
END_TEST

Suite *script_suite(void);

Suite *script_suite(void)
{
    Suite *suite = suite_create("script");
    TCase *tests = tcase_create("script");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, check_is_registered);
    tcase_add_test(tests, check_may_say_that_it_lasts_long);
    tcase_add_test(tests, check_may_keep_rules_away);
    tcase_add_test(tests, check_with_several_ids_is_there_for_each);
    tcase_add_loop_test(tests, large_is_more_than_a_shut_window_lets_pass, 0, 2);
    tcase_add_test(tests, each_id_has_a_verdict_of_its_own);
    tcase_add_test(tests, check_with_a_bad_list_is_not_there);
    tcase_add_loop_test(tests, bad_check_script_is_refused, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tests, globals_are_a_scripts_own);
    tcase_add_test(tests, defaults_are_for_the_checks_below_them);
    tcase_add_loop_test(tests, wire_in_lua, 0, (int)(sizeof(wire_scripts) / sizeof(wire_scripts[0])));
    tcase_add_loop_test(tests, check_gives_verdict, 0, (int)(sizeof(outcomes) / sizeof(outcomes[0])));
    tcase_add_test(tests, every_script_loads);
    tcase_add_test(tests, what_no_device_can_break_cannot_fail);
    tcase_add_test(tests, check_that_frees_does_not_fail);
    tcase_add_test(tests, every_script_has_its_chunk);
    suite_add_tcase(suite, tests);
    return suite;
}
