/* SPDX-License-Identifier: BSD-2-Clause */
/* The questionnaire for paper, for programs, and as a profile. */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/show/pics_view.h"
#include "reports/writers/markdown.h"

enum { SKELETON_PORT = 9999 };

/* What stands in cells of a table: texts of pics.tsv, hence without line breaks. */
static void cell_write(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void answer_write(const struct pics_view *view, const struct pics_item *item, FILE *out)
{
    bool holds = pics_holds(view->pics, item->name), answered = view->device != NULL;
    char reported[PICS_VALUE_ROOM];

    if (pics_is_number(item))
        fputs(answered ? item->value : "________", out);
    else
        fprintf(out, "[%c] yes [%c] no", answered && holds ? 'x' : ' ', answered && !holds ? 'x' : ' ');
    if (pics_reported(view, item, reported) && strcmp(reported, item->value) != 0)
        fprintf(out, " (its upper tester says %s)", reported);
}

void pics_write_markdown(const struct pics_view *view, FILE *out)
{
    fputs(
        "# PICS: what the device is able to do\n\n"
        "Protocol implementation conformance statement for iWARP (MPA, DDP, RDMAP), DDP over SCTP and the RDMA IP CM\n"
        "Service.\n\n| | |\n|---|---|\n| Device | ",
        out);
    markdown_text(out, view->device != NULL ? view->device : "");
    fprintf(out,
            " |\n| Hardware, firmware and driver | |\n| Vendor | |\n| Filled in by, date | |\n"
            "| Catalogue | %zu requirements, %s (warpcheck %s) |\n\n"
            "| item | question | answer | requirements |\n|---|---|---|---|\n",
            catalogue_count(view->catalogue), catalogue_digest(view->catalogue), WARPCHECK_VERSION);
    for (size_t i = 0; i < view->count; i++) {
        const struct pics_item *item = view->items[i];
        struct pics_effect effect;

        pics_effect(view, item, &effect);
        fprintf(out, "| `%s` | ", item->name);
        cell_write(item->question, out);
        fputs(" (", out);
        cell_write(item->meaning, out);
        fputs(") | ", out);
        answer_write(view, item, out);
        fprintf(out, " | %zu", effect.named);
        if (view->device != NULL && effect.left_out > 0)
            fprintf(out, ", %zu left out", effect.left_out);
        fputs(" |\n", out);
    }
    fputs("\nThe last column counts the requirements that apply to a device, or do not, by that answer.\n", out);
    if (view->requirements)
        for (size_t i = 0; i < view->count; i++) {
            fprintf(out, "\n## %s\n\n", view->items[i]->name);
            for (size_t j = 0; j < catalogue_count(view->catalogue); j++)
                if (pics_depends(view, catalogue_at(view->catalogue, j), view->items[i]))
                    fprintf(out, "- %s\n", catalogue_at(view->catalogue, j)->id);
        }
}

static json_t *ids_of(const struct pics_view *view, const struct pics_item *item)
{
    json_t *ids = json_array();

    for (size_t i = 0; i < catalogue_count(view->catalogue); i++)
        if (pics_depends(view, catalogue_at(view->catalogue, i), item))
            (void)json_array_append_new(ids, json_string(catalogue_at(view->catalogue, i)->id));
    return ids;
}

void pics_write_jsonl(const struct pics_view *view, FILE *out)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct pics_item *item = view->items[i];
        struct pics_effect effect;
        char reported[PICS_VALUE_ROOM];
        json_t *object =
            json_pack("{s:s, s:s, s:s, s:s, s:o}", "item", item->name, "question", item->question, "meaning",
                      item->meaning, "default", item->fallback, "requirements", ids_of(view, item));

        pics_effect(view, item, &effect);
        if (view->device != NULL) {
            (void)json_object_set_new(object, "value", json_string(item->value));
            (void)json_object_set_new(object, "said", json_boolean(pics_said_by(view, item) != NULL));
            (void)json_object_set_new(object, "applicable", json_integer((json_int_t)effect.applicable));
            (void)json_object_set_new(object, "left_out", json_integer((json_int_t)effect.left_out));
            (void)json_object_set_new(object, "left_out_alone", json_integer((json_int_t)effect.alone));
        }
        if (pics_reported(view, item, reported))
            (void)json_object_set_new(object, "told", json_string(reported));
        if (object != NULL && json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER) == 0)
            fputc('\n', out);
        json_decref(object);
    }
}

/* What a skeleton has where only the vendor knows: no address, so that it is refused until it is one. */
static json_t *skeleton(void)
{
    return json_pack("{s:s, s:s, s:i, s:s, s:s, s:n}", "name", "my-device", "address", "ADDRESS OF THE DEVICE", "port",
                     SKELETON_PORT, "interface", "INTERFACE OF THE TESTER", "own_address",
                     "ADDRESS ON THAT LINK THAT NOBODY OWNS", "control");
}

static json_t *answer_json(const struct pics_view *view, const struct pics_item *item)
{
    char reported[PICS_VALUE_ROOM];
    const char *value = item->value;

    if (pics_said_by(view, item) == NULL && pics_reported(view, item, reported))
        value = reported;
    return value[0] >= '0' && value[0] <= '9' ? json_integer(strtoll(value, NULL, 10)) : json_string(value);
}

int pics_write_profile(const struct pics_view *view, FILE *out)
{
    json_t *profile = view->profile != NULL ? json_deep_copy(view->profile) : skeleton();
    json_t *said = json_object_get(profile, "capabilities");
    json_t *capabilities = said != NULL ? json_deep_copy(said) : json_object(), *questions = json_object();
    int result = -1;

    for (size_t i = 0; i < view->count; i++) {
        const struct pics_item *item = view->items[i];

        /* Unless the profile says otherwise, `control` answers whether there is an upper tester. */
        if (strcmp(item->name, "upper_tester") == 0 && json_object_get(said, item->name) == NULL)
            continue;
        (void)json_object_set_new(capabilities, item->name, answer_json(view, item));
        (void)json_object_set_new(questions, item->name, json_string(item->question));
    }
    if (json_object_set_new(profile, "capabilities", capabilities) == 0 &&
        json_object_set_new(profile, "questions", questions) == 0)
        result = json_dumpf(profile, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(profile);
    fputc('\n', out);
    return result;
}
