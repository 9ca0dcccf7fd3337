/* SPDX-License-Identifier: BSD-2-Clause */
/* The counting matcher does what Lua's own does: both are asked the same, at random and with what people write. */
#include <check.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdint.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_sandbox.h"

Suite *match_suite(void);

enum { ROUNDS = 60000, TEXT_OCTETS = 4096, SUBJECT_MAX = 14, PATTERN_MAX = 9 };

static struct lua_account account;
static struct lua_sandbox sandbox;
static lua_State *original;
static uint64_t random_state;

/* Everything that string.find, match, gsub and gmatch give for the arguments in `given`, in words. */
static const char all[] = "local function show(ok, ...)\n"
                          "  local out = { tostring(ok) }\n"
                          "  for i = 1, select('#', ...) do\n"
                          "    local v = select(i, ...)\n"
                          "    out[#out + 1] = math.type(v) or type(v)\n"
                          "    out[#out + 1] = (tostring(v):gsub('^[^:]*:%d+: ', ''))\n"
                          "  end\n"
                          "  return table.concat(out, ' ')\n"
                          "end\n"
                          "local function collect(s, p, init)\n"
                          "  local out = {}\n"
                          "  for a, b, c in string.gmatch(s, p, init) do out[#out + 1] = show(true, a, b, c) end\n"
                          "  return table.concat(out, ';')\n"
                          "end\n"
                          "return table.concat({\n"
                          "  show(pcall(string.find, subject, pattern, init)),\n"
                          "  show(pcall(string.find, subject, pattern, init, true)),\n"
                          "  show(pcall(string.match, subject, pattern, init)),\n"
                          "  show(pcall(collect, subject, pattern, init)),\n"
                          "  show(pcall(string.gsub, subject, pattern, text)),\n"
                          "  show(pcall(string.gsub, subject, pattern, text, init)),\n"
                          "  show(pcall(string.gsub, subject, pattern, function(a, b) return b or #tostring(a) end)),\n"
                          "  show(pcall(string.gsub, subject, pattern, { a = 'A', ab = false, [''] = 1 })),\n"
                          "}, '\\n')\n";

struct question {
    char subject[64], pattern[64], text[64];
    size_t subject_octets, pattern_octets, text_octets;
    lua_Integer init;
    char answer[TEXT_OCTETS];
};

static int ask(lua_State *lua)
{
    struct question *question = lua_touserdata(lua, 1);
    size_t count;
    const char *answer;

    lua_pushlstring(lua, question->subject, question->subject_octets);
    lua_setglobal(lua, "subject");
    lua_pushlstring(lua, question->pattern, question->pattern_octets);
    lua_setglobal(lua, "pattern");
    lua_pushlstring(lua, question->text, question->text_octets);
    lua_setglobal(lua, "text");
    lua_pushinteger(lua, question->init);
    lua_setglobal(lua, "init");
    if (luaL_loadbufferx(lua, all, sizeof(all) - 1, "=all", "t") != LUA_OK)
        return lua_error(lua);
    lua_call(lua, 0, 1);
    answer = luaL_checklstring(lua, -1, &count);
    count = count < sizeof(question->answer) ? count : sizeof(question->answer) - 1;
    memcpy(question->answer, answer, count);
    question->answer[count] = '\0';
    return 0;
}

static void ask_both(struct question *question)
{
    struct question theirs = *question;
    struct iwarp_sentence error;

    ck_assert_msg(lua_sandbox_do(&sandbox, ask, question, NULL, &error) == 0, "%s", error.text);
    lua_settop(original, 0);
    lua_pushcfunction(original, ask);
    lua_pushlightuserdata(original, &theirs);
    ck_assert_int_eq(lua_pcall(original, 1, 0, 0), LUA_OK);
    ck_assert_msg(strcmp(question->answer, theirs.answer) == 0,
                  "subject '%.*s' pattern '%.*s' text '%.*s' init %lld:\n%s\n--- Lua's own:\n%s",
                  (int)question->subject_octets, question->subject, (int)question->pattern_octets, question->pattern,
                  (int)question->text_octets, question->text, (long long)question->init, question->answer,
                  theirs.answer);
}

static void setup(void)
{
    struct iwarp_sentence error;

    account = (struct lua_account){.memory_max = LUA_SANDBOX_MEMORY_MAX};
    ck_assert_int_eq(lua_sandbox_open(&sandbox, &account, INT64_C(1) << 40, NULL, &error), 0);
    original = luaL_newstate();
    ck_assert_ptr_nonnull(original);
    luaL_openlibs(original);
}

static void teardown(void)
{
    lua_sandbox_close(&sandbox);
    lua_close(original);
}

static size_t next_random(size_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state >> 11) % below;
}

static size_t fill(char *text, size_t most, const char *letters, size_t letter_count)
{
    size_t count = next_random(most + 1);

    for (size_t i = 0; i < count; i++)
        text[i] = letters[next_random(letter_count)];
    return count;
}

START_TEST(patterns_match_as_in_lua)
{
    static const char subjects[] = "aab b1.(]%\0x";
    static const char patterns[] = "aab.%%%()()[]^$*+-?-1 bfwds\0]";
    static const char texts[] = "ab%%%0123";
    static struct question question;

    random_state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(_i + 1);
    for (int i = 0; i < ROUNDS / 4; i++) {
        question.subject_octets = fill(question.subject, SUBJECT_MAX, subjects, sizeof(subjects) - 1);
        question.pattern_octets = fill(question.pattern, PATTERN_MAX, patterns, sizeof(patterns) - 1);
        question.text_octets = fill(question.text, 5, texts, sizeof(texts) - 1);
        question.init = (lua_Integer)next_random(2 * SUBJECT_MAX) - SUBJECT_MAX;
        ask_both(&question);
    }
}
END_TEST

static const struct {
    const char *subject, *pattern, *text;
} written[] = {
    {"key = value  ", "^(%w+)%s*=%s*(.-)%s*$", "%2:%1"},
    {"THE (quick) fox", "%((%a+)%)", "<%1>"},
    {"THE (quick) fox", "%f[%a]%a+", "%0%0"},
    {"f(a(b)c)d", "%b()", ""},
    {"hello hello", "(h)(.)%1?", "%2"},
    {"\"quoted\" 'text'", "([\"'])(.-)%1", "%2"},
    {"abc", "()", "%1"},
    {"abc", "", "-"},
    {"a,b,,c", "([^,]*)", "[%1]"},
    {"0123456789abcdef", "(%x%x)(%x%x)", "%2%1"},
    {"a.b-c", "[%.%-]", "%%"},
    {"x^y$z", "[%^$]", "."},
    {"]]", "[]]", "a"},
    {"a-z", "[a%-z]+", ""},
    {"\1\2\3", "%c+", ""},
    {"aaa", "a-", "b"},
    {"aaa", "^a-$", "b"},
    {"aXb", "%u", "%l"},
    {"text", "%", ""},
    {"text", "[a", ""},
    {"text", "[%", ""},
    {"text", "(", ""},
    {"text", ")", ""},
    {"text", "%1", ""},
    {"text", "(%1)", ""},
    {"text", "%b", ""},
    {"text", "%bx", ""},
    {"text", "%f", ""},
    {"text", "%fa", ""},
    {"text", "t", "%"},
    {"text", "t", "%9"},
    {"text", "t", "%x"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)", ""},
};

START_TEST(patterns_that_people_write)
{
    static struct question question;

    for (lua_Integer init = -3; init < 4; init++) {
        question.subject_octets = strlen(written[_i].subject);
        memcpy(question.subject, written[_i].subject, question.subject_octets);
        question.pattern_octets = strlen(written[_i].pattern);
        memcpy(question.pattern, written[_i].pattern, question.pattern_octets);
        question.text_octets = strlen(written[_i].text);
        memcpy(question.text, written[_i].text, question.text_octets);
        question.init = init;
        ask_both(&question);
    }
}
END_TEST

/* More captures, and a deeper recursion, than there may be. */
START_TEST(patterns_that_are_too_much)
{
    static const char text[] =
        "local ok, why = pcall(string.find, ('a'):rep(99), ('(a)'):rep(33)) assert(why:find('too many captures'))\n"
        "local ok, why = pcall(string.find, ('a'):rep(999), ('a?'):rep(300)) assert(why:find('pattern too complex'))\n"
        "assert(('a'):rep(32):find(('(a)'):rep(32)) == 1)\n"
        "assert(select('#', ('a'):rep(32):match(('()'):rep(32))) == 32)";

    ck_assert_int_eq(luaL_dostring(original, text), LUA_OK);
    ck_assert_int_eq(luaL_loadstring(sandbox.lua, text), LUA_OK);
    sandbox.left = sandbox.work;
    ck_assert_msg(lua_pcall(sandbox.lua, 0, 0, 0) == LUA_OK, "%s", lua_tostring(sandbox.lua, -1));
}
END_TEST

Suite *match_suite(void)
{
    Suite *suite = suite_create("match");
    TCase *tests = tcase_create("match");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, patterns_match_as_in_lua, 0, 4);
    tcase_add_loop_test(tests, patterns_that_people_write, 0, (int)(sizeof(written) / sizeof(written[0])));
    tcase_add_test(tests, patterns_that_are_too_much);
    suite_add_tcase(suite, tests);
    return suite;
}
