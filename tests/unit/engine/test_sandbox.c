/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts that mean harm: none of them ends, stops or changes what is around it. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen/gen_internal.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/script/script_internal.h"

Suite *sandbox_suite(void);

/* A fifth of what a script has: these tests use all of it. */
enum { WORK = 10000000 };

static struct script_host *host;
static struct iwarp_sentence error;

static void setup(void)
{
    host = script_host_new(&error);
    ck_assert_msg(host != NULL, "%s", error.text);
    host->work = WORK;
}

static void teardown(void)
{
    script_host_free(host);
}

static int load(const char *text)
{
    return script_load(host, "dir/some.lua", text, strlen(text), &error);
}

#define FOR_EVER "function() while true do end end"

/* Scripts that do not load, and what the sentence says. "": they load, and that did not take for ever. */
static const struct {
    const char *text;
    const char *part;
} hostile[] = {
    /* what would run where no instruction is counted */
    {"setmetatable({}, { __gc = " FOR_EVER " })", "may not have __gc"},
    {"setmetatable({}, { __gc = true })", "may not have __gc"},
    {"local m = {} setmetatable({}, m) m.__gc = " FOR_EVER, ""},
    {"xpcall(" FOR_EVER ", " FOR_EVER ")", "does not end"},
    {"xpcall(error, function() xpcall(error, " FOR_EVER ") end)", "does not end"},
    {"local x <close> = setmetatable({}, { __close = " FOR_EVER " }) while true do end", "does not end"},
    {"while true do pcall(function() local x <close> = setmetatable({}, { __close = " FOR_EVER " }) error(1) end) end",
     "does not end"},
    {"error(setmetatable({}, { __tostring = " FOR_EVER " }))", "the error has type table"},
    {"error()", "the error has type nil"},
    {"error(setmetatable({}, { __index = " FOR_EVER " }))", "the error has type table"},

    /* functions of the library that go on and on */
    {"string.rep('', 1 << 62)", ""},
    {"string.rep('', 1 << 62, '')", ""},
    {"(('a'):rep(40)):find(('a*'):rep(20) .. 'b')", "does not end"},
    {"(('a'):rep(40)):match(('a*'):rep(20) .. 'b')", "does not end"},
    {"(('a'):rep(40)):gsub(('a*'):rep(20) .. 'b', '')", "does not end"},
    {"for _ in (('a'):rep(40)):gmatch(('a*'):rep(20) .. 'b') do end", "does not end"},
    {"local s = ('a'):rep(1 << 20) s:find('.-.-b')", "does not end"},
    {"local s = ('a'):rep(1 << 22) while true do s:find(('a'):rep(1 << 21) .. 'b', 1, true) end", "does not end"},
    {"local s = ('('):rep(1 << 22) while true do s:find('%b()') end", "does not end"},
    {"('x'):rep(1 << 20):gsub('', string.rep)", "bad argument"},
    {"while true do pcall(string.gsub, ('x'):rep(1 << 20), '', type) end", "does not end"},
    {"while true do string.packsize((' '):rep(1 << 20)) end", "does not end"},
    {"while true do ('x'):rep(1 << 20) end", "does not end"},
    {"local t = setmetatable({}, { __len = function() return 1 << 60 end, __index = getmetatable, __metatable = '' })\n"
     "table.concat(t)",
     "without __len"},
    {"table.concat(setmetatable({}, { __index = getmetatable, __metatable = '' }), '', 1, 1 << 60)", "does not end"},
    {"table.move({}, 1, 1 << 60, 2, setmetatable({}, { __newindex = type }))", "does not end"},
    {"table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 1)", "without __len"},
    {"table.insert({}, -(1 << 62), 1)", "does not end"},
    {"table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)", "without __len"},
    {"table.unpack(setmetatable({}, { __len = function() return 1 << 60 end }))", "without __len"},
    {"while true do pcall(table.unpack, {}, 1, 900000) end", "does not end"},
    {"local a, b, t = ('x'):rep(1 << 24) .. 'a', ('x'):rep(1 << 24) .. 'b', {}\n"
     "for i = 1, 1000 do t[i] = i % 2 == 0 and a or b end table.sort(t)",
     "does not end"},
    {"local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, " FOR_EVER ")", "does not end"},

    /* what scripts hold */
    {"local t = {} while true do t[#t + 1] = string.rep('x', 30000000 + #t) end", "scripts may hold 256 MiB"},
    {"pcall(string.rep, 'x', 1 << 29)", "scripts may hold 256 MiB"},
    {"while pcall(string.rep, 'x', 1 << 29) do end", "scripts may hold 256 MiB"},
    {"local function f() return f() + 1 end f()", "stack overflow"},
    {"local function f() return pcall(f) end f()", ""},
    {"local t = {} for i = 1, 100000 do t = { t } end wire.frame('', t)", ""},

    /* doors of the sandbox */
    {"string.dump(function() end)", "dir/some.lua:1"},
    {"debug.getregistry()", "dir/some.lua:1"},
    {"coroutine.wrap(" FOR_EVER ")()", "dir/some.lua:1"},
    {"package.loadlib('x', 'y')", "dir/some.lua:1"},
    {"io.open('/etc/passwd')", "dir/some.lua:1"},
    {"os.exit(0)", "dir/some.lua:1"},
    {"load('x = 1')()", "dir/some.lua:1"},
    {"loadfile('/etc/passwd')", "dir/some.lua:1"},
    {"dofile('/etc/passwd')", "dir/some.lua:1"},
    {"require('os')", "dir/some.lua:1"},
    {"collectgarbage('stop')", "dir/some.lua:1"},
    {"print('x')", "dir/some.lua:1"},
    {"utf8.char(1)", "dir/some.lua:1"},
    {"getmetatable('').__index = {}", "dir/some.lua:1"},
    {"setmetatable('', {})", "dir/some.lua:1"},
    {"_G.load('x = 1')", "dir/some.lua:1"},
    {"getmetatable(_ENV).__index.load('x = 1')", "dir/some.lua:1"},

    /* ids that would lead out of the output folder, or out of a command's quotes */
    {"check { id = '../x', purpose = 'p', run = print }", "dir/some.lua:1: check: an id"},
    {"\ncheck { id = 'a/b', purpose = 'p', run = print }", "dir/some.lua:2: check: an id"},
    {"check { id = '', purpose = 'p', run = print }", "an id"},
    {"check { id = '.x', purpose = 'p', run = print }", "an id"},
    {"check { id = '-x', purpose = 'p', run = print }", "an id"},
    {"check { id = 'a b', purpose = 'p', run = print }", "an id"},
    {"check { id = \"a'b\", purpose = 'p', run = print }", "an id"},
    {"check { id = 'a\\27[2J', purpose = 'p', run = print }", "an id"},
    {"check { id = ('a'):rep(65), purpose = 'p', run = print }", "an id"},
};

START_TEST(script_does_no_harm_while_it_loads)
{
    int status = load(hostile[_i].text);

    if (hostile[_i].part[0] == '\0') {
        ck_assert_msg(status == 0, "'%s': %s", hostile[_i].text, error.text);
        return;
    }
    ck_assert_msg(status == -1, "'%s' loads", hostile[_i].text);
    ck_assert_msg(strstr(error.text, hostile[_i].part) != NULL, "'%s': '%s' lacks '%s'", hostile[_i].text, error.text,
                  hostile[_i].part);
    ck_assert_uint_eq(script_check_count(host), 0);
    ck_assert_int_eq(load("assert(harness.run and ('x'):upper() == 'X')"), 0);
}
END_TEST

/*
 * A chain of `or` takes the compiler time that grows with the square of its length: how long one may be does not depend
 * on time.
 */
static int load_chain(size_t count)
{
    char *text = malloc(count + 1);
    int status;

    ck_assert_ptr_nonnull(text);
    memcpy(text, "x = ", 4);
    for (size_t at = 4; at < count; at++)
        text[at] = "y or "[(at - 4) % 5];
    text[count] = '\0';
    memcpy(text + count - 2, "y ", 2);
    status = script_load(host, "dir/some.lua", text, count, &error);
    free(text);
    return status;
}

START_TEST(compiler_is_counted)
{
    ck_assert_msg(load_chain(4 + 5 * 1000 + 2) == 0, "%s", error.text);
    ck_assert_int_eq(load_chain(((size_t)1 << 20) - 10), -1);
    ck_assert_msg(strstr(error.text, "does not end") != NULL, "%s", error.text);
    ck_assert_int_eq(load("x = 1"), 0);
}
END_TEST

/* ---- while a check runs ------------------------------------------------------------------------------------------ */

#define CHECK_BEGIN "check {\n  id = \"X-1\",\n  purpose = \"p\",\n  sandwich = \"tcp\",\n  run = function(t)\n"
#define CHECK_END   "\n  end,\n}\n"
#define CLOSING                                                                                                        \
    "setmetatable({}, { __index = function() c:close() return nil end, __len = function() c:close() return 1 end })"

static const struct {
    const char *body;
    enum verdict verdict;
    const char *part; /* of the message, or NULL */
} running[] = {
    {"error({ verdict = 'FAIL', message = setmetatable({}, { __tostring = " FOR_EVER " }) })", VERDICT_INCONCLUSIVE,
     "does not end"},
    {"error(setmetatable({}, { __tostring = " FOR_EVER " }))", VERDICT_INCONCLUSIVE, "does not end"},
    {"error(setmetatable({}, { __tostring = function() return {} end }))", VERDICT_INCONCLUSIVE,
     "must return a string"},
    {"error(setmetatable({}, { __tostring = error }))", VERDICT_INCONCLUSIVE, "script error"},
    {"error(setmetatable({}, { __index = function() return 'FAIL' end }))", VERDICT_INCONCLUSIVE, "script error"},
    {"error()", VERDICT_INCONCLUSIVE, "script error"},
    {"return { verdict = 'FAIL', message = {} }", VERDICT_FAIL, "table"},
    {"return { verdict = 'FAIL', message = 7 }", VERDICT_FAIL, "7"},
    {"return { verdict = 'NONSENSE' }", VERDICT_INCONCLUSIVE, "script error"},
    {"pcall(string.rep, 'x', 1 << 29)", VERDICT_INCONCLUSIVE, "scripts may hold 256 MiB"},
    {"pcall(string.rep, 'x', 1 << 29) t:fail('wrong')", VERDICT_INCONCLUSIVE, "scripts may hold 256 MiB"},
    {"check { id = 'Y', purpose = 'p', run = print }", VERDICT_INCONCLUSIVE, "cannot be added while checks run"},
    {"harness.after = nil harness = nil", VERDICT_INCONCLUSIVE, "script error"},
    {"t:connect() _G.harness = nil", VERDICT_PASS, NULL},
    {"while true do rig.wait(80000) end", VERDICT_INCONCLUSIVE, "does not end"},
    {"while true do t:connect { port = 1 } end", VERDICT_INCONCLUSIVE, NULL},
    {"while true do rig.connect {} end", VERDICT_INCONCLUSIVE, "all connections that it may use"},
    {"while true do rig.note('x') end", VERDICT_INCONCLUSIVE, "all notes that it may use"},
    {"local c, x = t:connect().tcp, ('x'):rep(1000) while true do c:raw { octets = x } end", VERDICT_INCONCLUSIVE,
     "all octets to send that it may use"},
    {"t.dut:reg_mr(setmetatable({}, { __pairs = " FOR_EVER " }))", VERDICT_INCONCLUSIVE, NULL},
    {"rig.command(setmetatable({ verb = 'x' }, { __index = " FOR_EVER " }))", VERDICT_PASS, NULL},
    {"local l = {} for i = 1, 1 << 18 do l[i] = i end rig.command { verb = 'x', list = l }", VERDICT_INCONCLUSIVE,
     "a command for the upper tester contains"},
    {"local l = {} l[1] = l rig.command { verb = 'x', list = l }", VERDICT_INCONCLUSIVE,
     "a command for the upper tester contains"},
    /* a connection that is closed while a call on it reads its arguments */
    {"c = t:connect().tcp c:raw(" CLOSING ")", VERDICT_INCONCLUSIVE, "closed by this script"},
    {"c = t:connect().tcp c:segments('x', " CLOSING ")", VERDICT_INCONCLUSIVE, "number expected"},
    {"c = t:connect().tcp c:segments('x', setmetatable({ 1 }, { __len = function() c:close() return 1 end }))",
     VERDICT_INCONCLUSIVE, "closed by this script"},
    {"c = t:connect().tcp rig.connect(setmetatable({}, { __index = function() c:close() end })) c:send('x')",
     VERDICT_INCONCLUSIVE, "closed by this script"},
    {"c = t:connect().tcp while true do c:consume(1 << 40) end", VERDICT_INCONCLUSIVE, "does not end"}, /* of nothing */
    /* octets that did not come earn nothing: what a call has without them is less than this loop */
    {"c = t:connect().tcp c:consume(1 << 40) for i = 1, 30000000 do end", VERDICT_INCONCLUSIVE, "does not end"},
    {"c = t:connect().tcp getmetatable(c).__gc(c)", VERDICT_INCONCLUSIVE, "script error"},
    {"c = t:connect().tcp setmetatable(c, {})", VERDICT_INCONCLUSIVE, "script error"},
};

static struct rig *rig_made(void)
{
    struct rig_sim_config config = {.seed = 1};
    struct rig *rig = rig_sim_new(&config, &error);

    ck_assert_msg(rig != NULL, "%s", error.text);
    ck_assert_int_eq(rig_measure(rig, &error), 0);
    return rig;
}

START_TEST(script_does_no_harm_while_it_runs)
{
    struct rig *rig = rig_made();
    struct outcome outcome;
    char text[1024];

    (void)snprintf(text, sizeof(text), "%s%s%s", CHECK_BEGIN, running[_i].body, CHECK_END);
    ck_assert_msg(load(text) == 0, "%s", error.text);
    ck_assert_msg(load(CHECK_BEGIN "t:connect()" CHECK_END) == 0, "%s", error.text);
    script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
    ck_assert_msg(outcome.verdict == running[_i].verdict, "%s: %s instead of %s: %s", running[_i].body,
                  verdict_name(outcome.verdict), verdict_name(running[_i].verdict),
                  outcome.message != NULL ? outcome.message : "");
    if (running[_i].part != NULL)
        ck_assert_msg(outcome.message != NULL && strstr(outcome.message, running[_i].part) != NULL, "'%s'",
                      outcome.message);
    /* the next script sees nothing of it */
    script_run(host, script_check_at(host, 1), "responder", rig, NULL, &outcome);
    ck_assert_msg(outcome.verdict == VERDICT_PASS, "%s", outcome.message);
    rig_free(rig);
}
END_TEST

/* ---- one script and the next ------------------------------------------------------------------------------------- */

static const char *const spoilers[] = {
    "string.format, string.pack = nil",
    "for name in pairs(string) do string[name] = nil end",
    "_G.harness = nil _G.rig = nil _G.check = nil _G.pairs = nil",
    "local shared = getmetatable(_ENV).__index for name in shared.pairs(shared) do shared[name] = nil end",
    "harness.run = function() end harness.before = harness.run harness.after = harness.run",
    "getmetatable(harness.test).__index = nil",
    "Test.fail = function() end",
    "rdmap.send({}).defaults.tagged = true",
    "setmetatable(_G, { __index = error, __newindex = error })",
};

START_TEST(script_spoils_itself_alone)
{
    struct rig *rig = rig_made();
    struct outcome outcome;

    (void)load(spoilers[_i]);
    ck_assert_msg(load(CHECK_BEGIN "t:open() t:fail(('%d'):format(7))" CHECK_END) == 0, "%s", error.text);
    ck_assert_msg(script_load_embedded(host, &error) == 0, "%s", error.text);
    script_run(host, script_check_at(host, 0), "responder", rig, NULL, &outcome);
    ck_assert_int_eq(outcome.verdict, VERDICT_FAIL);
    ck_assert_str_eq(outcome.message, "7");
    rig_free(rig);
}
END_TEST

/* What the host keeps of a check is its own: the script may change its table, and collect what was in it. */
START_TEST(check_survives_its_table)
{
    ck_assert_msg(
        load("local t = { id = 'X-' .. 1, purpose = 'p' .. 'q', requires = 'r' .. 's', run = function() end }\n"
             "check(t) t.id, t.purpose, t.requires = nil\n"
             "for i = 1, 200000 do local s = 'a' .. i end") == 0,
        "%s", error.text);
    ck_assert_str_eq(script_check_at(host, 0)->id, "X-1");
    ck_assert_str_eq(script_check_at(host, 0)->purpose, "pq");
    ck_assert_str_eq(script_check_at(host, 0)->requires, "rs");
}
END_TEST

/* Every limit of memory up to what loading and running takes: a sentence, or a verdict that is not the device's. */
START_TEST(memory_ends_anywhere)
{
    static const char text[] = CHECK_BEGIN "local c = t:open() c:probe() t:note('x' .. 1)" CHECK_END;
    size_t step = 1531, needed = 0;

    for (size_t most = 0; needed == 0 && most < (size_t)16 << 20; most += step) {
        struct script_host *small = script_host_new(&error);
        struct outcome outcome = {.verdict = VERDICT_INCONCLUSIVE};

        ck_assert_ptr_nonnull(small);
        small->account.memory_max = most;
        error.text[0] = '\0';
        if (script_load(small, "dir/some.lua", text, sizeof(text) - 1, &error) != 0) {
            ck_assert_str_ne(error.text, "");
            ck_assert_uint_eq(script_check_count(small), 0);
        } else {
            struct rig *rig = rig_made();

            script_run(small, script_check_at(small, 0), "responder", rig, NULL, &outcome);
            rig_free(rig);
            ck_assert(outcome.verdict == VERDICT_PASS || outcome.verdict == VERDICT_INCONCLUSIVE);
            ck_assert(outcome.verdict == VERDICT_PASS || strstr(outcome.message, "not enough memory") != NULL);
        }
        if (outcome.verdict == VERDICT_PASS)
            needed = most;
        script_host_free(small);
    }
    ck_assert_uint_ne(needed, 0);
}
END_TEST

/*
 * ---- what a call earns --------------------------------------------------------------------------------------------
 */

enum { SMALL = 1000, MOST = 9 * SMALL }; /* what a call has, and what it has with all that it can earn */

/* Earns without end, and spends `argument`. */
static int earn_and_spend(lua_State *lua)
{
    const int64_t *units = lua_touserdata(lua, 1);

    for (unsigned i = 0; i < 5; i++)
        lua_sandbox_earn(lua, i == 0 ? SMALL : UINT64_MAX);
    lua_sandbox_spend(lua, (uint64_t)*units);
    return 0;
}

START_TEST(what_a_call_earns_ends)
{
    int64_t within = MOST - 1, beyond = MOST + 1;
    struct lua_account account = {.memory_max = (size_t)16 << 20};
    struct lua_sandbox sandbox = {0};

    ck_assert_msg(lua_sandbox_open(&sandbox, &account, WORK, NULL, &error) == 0, "%s", error.text);
    sandbox.work = SMALL;
    ck_assert_msg(lua_sandbox_do(&sandbox, earn_and_spend, &within, NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(lua_sandbox_do(&sandbox, earn_and_spend, &beyond, NULL, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "does not end"));
    ck_assert_msg(lua_sandbox_do(&sandbox, earn_and_spend, &within, NULL, &error) == 0, "%s", error.text);
    lua_sandbox_close(&sandbox);
}
END_TEST

/*
 * ---- how long a call takes ----------------------------------------------------------------------------------------
 */

enum looks { COUNTS, TURNS, HANGS };

/* The timer of run_stop_watch() comes again and again; what happens in between is the argument. */
static int is_looked_at(lua_State *lua)
{
    const enum looks *looks = lua_touserdata(lua, 1);

    for (unsigned i = 0; i < (*looks == HANGS ? 1 : 9); i++) {
        if (*looks == COUNTS)
            lua_sandbox_spend(lua, WORK / 10);
        for (unsigned j = 0; j < 1000 && *looks == TURNS; j++)
            lua_sandbox_turn(lua);
        ck_assert_int_eq(raise(SIGPROF), 0);
    }
    lua_sandbox_spend(lua, 0);
    return 0;
}

/* A call that counts what it does has no limit of time, on the slowest machine; one that does not is ended. */
START_TEST(time_alone_ends_nothing)
{
    enum looks looks = (enum looks)_i;
    struct lua_account account = {.memory_max = (size_t)16 << 20};
    struct lua_sandbox sandbox = {0};

    run_stop_install("test");
    ck_assert_msg(lua_sandbox_open(&sandbox, &account, WORK, NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(lua_sandbox_do(&sandbox, is_looked_at, &looks, NULL, &error), looks == HANGS ? -1 : 0);
    if (looks == HANGS)
        ck_assert_ptr_nonnull(strstr(error.text, "does not end"));
    lua_sandbox_close(&sandbox);
}
END_TEST

/* ---- capture scripts --------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum exit_status status;
    const char *part;
} captures[] = {
    {"setmetatable({}, { __gc = " FOR_EVER " })", EXIT_USAGE, "may not have __gc"},
    {"error(setmetatable({}, { __tostring = " FOR_EVER " }))", EXIT_USAGE, "does not end"},
    {"xpcall(" FOR_EVER ", " FOR_EVER ")", EXIT_USAGE, "does not end"},
    {"return setmetatable({}, { __index = " FOR_EVER " })", EXIT_USAGE, "does not end"},
    {"arg = setmetatable({}, { __index = error }) gen.begin = nil", EXIT_DONE, ""},
    {"gen.stacks { initiator = setmetatable({}, { __index = " FOR_EVER " }) }", EXIT_DONE, ""},
    {"gen.stacks(setmetatable({}, { __index = " FOR_EVER " }))", EXIT_USAGE, "does not end"},
    {"pcall(string.rep, 'x', 1 << 29) packet('x')", EXIT_USAGE, "scripts may hold 256 MiB"},
    {"getmetatable(gen.stacks {}).__gc()", EXIT_USAGE, "dir/some.lua:1"},
};

START_TEST(capture_script_does_no_harm)
{
    struct gen_writer_config config = {.to = place_at("/dev/null"), .format = GEN_RAW};
    struct gen *gen = gen_new(1, &error);
    uint64_t written;

    ck_assert_msg(gen != NULL, "%s", error.text);
    gen->work = WORK;
    error.text[0] = '\0';
    ck_assert_int_eq(gen_run_script(gen, "dir/some.lua", captures[_i].text, strlen(captures[_i].text), &config, true,
                                    &written, &error),
                     captures[_i].status);
    ck_assert_msg(strstr(error.text, captures[_i].part) != NULL, "'%s': '%s'", captures[_i].text, error.text);
    ck_assert_int_eq(gen_run_script(gen, "next.lua", "packet('x')", 11, &config, true, &written, &error), EXIT_DONE);
    ck_assert_uint_eq(written, 1);
    gen_free(gen);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

Suite *sandbox_suite(void)
{
    Suite *suite = suite_create("sandbox");
    TCase *tests = tcase_create("sandbox");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, script_does_no_harm_while_it_loads, 0, COUNT(hostile));
    tcase_add_test(tests, compiler_is_counted);
    tcase_add_loop_test(tests, script_does_no_harm_while_it_runs, 0, COUNT(running));
    tcase_add_loop_test(tests, script_spoils_itself_alone, 0, COUNT(spoilers));
    tcase_add_test(tests, check_survives_its_table);
    tcase_add_test(tests, memory_ends_anywhere);
    tcase_add_test(tests, what_a_call_earns_ends);
    tcase_add_loop_test(tests, time_alone_ends_nothing, COUNTS, HANGS + 1);
    tcase_add_loop_test(tests, capture_script_does_no_harm, 0, COUNT(captures));
    suite_add_tcase(suite, tests);
    return suite;
}
