/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/lua_meta.h"

#include "conformance/engine/event/lua_event.h"
#include "wire/field.h"

static void print_kind(FILE *out, enum flow_event_kind kind)
{
    const struct wire_layout *layout;

    fprintf(out, "---@class warpcheck.%s\n", lua_event_kind(kind));
    for (size_t i = 0; lua_event_field(i) != NULL; i++) {
        const struct lua_event_field *field = lua_event_field(i);

        if ((field->kinds >> kind & 1) != 0)
            fprintf(out, "---@field %s %s %s\n", field->name, field->type, field->text);
    }
    for (size_t i = 0; (layout = lua_event_layout(kind, i)) != NULL; i++)
        for (size_t k = 0; k < layout->field_count; k++) {
            const struct wire_field *field = &layout->fields[k];
            bool named = false; /* by a header before: that one's field is read where both are there */

            for (size_t j = 0; j < i; j++)
                named = named || wire_layout_field(lua_event_layout(kind, j), field->id) != NULL;
            if (!named)
                fprintf(out, "---@field %s %s? %s: %s (%s)\n", field->id,
                        field->kind == WIRE_OCTETS ? "string" : "integer", layout->title, field->meaning,
                        field->section);
        }
    fputc('\n', out);
}

void lua_meta_print(FILE *out)
{
    fputs("---@meta\n\n", out);
    for (unsigned kind = 0; lua_event_kind((enum flow_event_kind)kind) != NULL; kind++)
        print_kind(out, (enum flow_event_kind)kind);
    fputs("---@alias warpcheck.kind ", out);
    for (unsigned kind = 0; lua_event_kind((enum flow_event_kind)kind) != NULL; kind++)
        fprintf(out, "%s\"%s\"", kind == 0 ? "" : "|", lua_event_kind((enum flow_event_kind)kind));
    fputs(
        "\n\n"
        "---@class warpcheck.finding\n"
        "---@field expected? string what the rule asks for\n"
        "---@field actual? string what came\n"
        "---@field message? string one sentence: what is wrong\n\n"
        "---@class warpcheck.rule\n"
        "---@field id string of your own, such as \"ACME-1\"\n"
        "---@field text string the requirement, in a sentence\n"
        "---@field on warpcheck.kind|warpcheck.kind[] the events that it wants\n"
        "---@field judge fun(event: any, state: table): boolean|warpcheck.finding|nil nil: not concerned; true: kept; "
        "false or a finding: broken\n"
        "---@field level? string \"MUST\" (the default: FAIL), \"SHOULD\" (WARN), ... as the catalogue spells it\n"
        "---@field layer? string \"TCP\", \"SCTP\", \"MPA\", \"DDP\", \"RDMAP\" or \"CM\"\n"
        "---@field section? string where it is written down\n"
        "---@field source? string and in which document; else the file's name\n\n"
        "---Declares a rule.\n"
        "---@param rule warpcheck.rule\n"
        "function rule(rule) end\n",
        out);
}
