/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/lua_rules_internal.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/event/lua_event.h"
#include "conformance/engine/sandbox/lua_file.h"
#include "base/text_stream.h"

enum { CALL_WORK = 10000000 }; /* what one call may compute */

/*
 * ---- life -----------------------------------------------------------------------------------------------------------
 */

static int furnish(lua_State *lua)
{
    lua_pushcfunction(lua, lua_rule_declare);
    lua_setglobal(lua, "rule");
    return 0;
}

struct lua_rules *lua_rules_new(struct iwarp_sentence *error)
{
    struct lua_rules *rules = calloc(1, sizeof(*rules));

    if (rules != NULL)
        rules->rules = calloc(LUA_RULES_MAX, sizeof(*rules->rules));
    if (rules == NULL || rules->rules == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for rules");
        lua_rules_free(rules);
        return NULL;
    }
    rules->account.memory_max = LUA_SANDBOX_MEMORY_MAX;
    if (lua_sandbox_open(&rules->sandbox, &rules->account, CALL_WORK, rules, error) == 0 &&
        lua_sandbox_do(&rules->sandbox, furnish, NULL, NULL, error) == 0)
        return rules;
    lua_rules_free(rules);
    return NULL;
}

void lua_rules_free(struct lua_rules *rules)
{
    struct lua_flow *state, *next;

    if (rules == NULL)
        return;
    HASH_ITER (hh, rules->flows, state, next) {
        HASH_DEL(rules->flows, state);
        lua_flow_free(rules, state);
    }
    lua_sandbox_close(&rules->sandbox);
    for (size_t i = 0; i < rules->count; i++) {
        free(rules->rules[i].id);
        free(rules->rules[i].text);
        free(rules->rules[i].section);
        free(rules->rules[i].source);
        free(rules->rules[i].place);
    }
    free(rules->rules);
    free(rules);
}

static int run_file(lua_State *lua)
{
    const struct lua_rules *rules = lua_rules_of(lua);

    lua_sandbox_load(lua, rules->path, rules->octets, rules->octet_count, false);
    lua_sandbox_globals(lua, true);
    lua_call(lua, 0, 0);
    return 0;
}

static bool no_library(const char *path)
{
    (void)path;
    return false;
}

int lua_rules_on_error(lua_State *lua)
{
    return lua_sandbox_place(lua, luaL_tolstring(lua, 1, NULL), no_library, lua_rules_of(lua)->path);
}

int lua_rules_load(struct lua_rules *rules, const char *path, struct iwarp_sentence *error)
{
    char *octets = lua_file_read(path, &rules->octet_count, error);
    size_t before = rules->count;
    int rc;

    if (octets == NULL)
        return -1;
    rules->path = path;
    rules->octets = octets;
    rc = lua_sandbox_do(&rules->sandbox, run_file, NULL, lua_rules_on_error, error);
    rules->path = NULL;
    free(octets);
    if (rc == 0 && rules->count == before)
        rc = iwarp_sentence_set(
            error, "%.300s: no rule is declared: rule { id = ..., text = ..., on = ..., judge = ... }", path);
    for (size_t i = before; i < rules->count; i++)
        rules->kinds |= rules->rules[i].kinds;
    return rc;
}

/*
 * ---- the catalogue --------------------------------------------------------------------------------------------------
 */

int lua_rules_catalogue(const struct lua_rules *rules, struct catalogue **catalogue, struct iwarp_sentence *error)
{
    struct catalogue *known;
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    int rc = catalogue_load(&known, error);

    if (rc != 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < rules->count; i++)
        if (catalogue_find(known, rules->rules[i].id) != NULL)
            rc = iwarp_sentence_set(error, "%s: id \"%s\" is that of a requirement of %s", rules->rules[i].place,
                                    rules->rules[i].id, catalogue_find(known, rules->rules[i].id)->source);
    catalogue_free(known);
    out = rc == 0 ? text_stream_open(&text, &size) : NULL;
    if (out == NULL)
        return rc != 0 ? rc : iwarp_sentence_set(error, "out of memory for rules");
    for (unsigned column = 0; column < REQUIREMENT_COLUMNS; column++)
        fprintf(out, "%s%s", column == 0 ? "" : "\t", requirement_column_name((enum requirement_column)column));
    for (size_t i = 0; i < rules->count; i++) {
        const struct lua_rule *rule = &rules->rules[i];

        fprintf(out, "\n%s\t%s\t%s\t%s\tboth\t%s\tpassive\t%s\t-\t-\talways\t-\t", rule->id, rule->source,
                rule->section, requirement_level_name(rule->level), requirement_layer_name(rule->layer), rule->text);
    }
    if (!text_stream_close(out, &text))
        return iwarp_sentence_set(error, "out of memory for rules");
    rc = catalogue_load_with(catalogue, &(struct catalogue_source){"rules", text, size}, error);
    free(text);
    return rc;
}

void lua_rules_select(struct lua_rules *rules, bool (*selected)(const char *id, void *argument), void *argument)
{
    rules->kinds = 0;
    for (size_t i = 0; i < rules->count; i++) {
        rules->rules[i].left_out = !selected(rules->rules[i].id, argument);
        if (!rules->rules[i].left_out)
            rules->kinds |= rules->rules[i].kinds;
    }
}
