/* SPDX-License-Identifier: BSD-2-Clause */
/* The questionnaire for a terminal. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/show/pics_view.h"
#include "conformance/engine/show/wrap.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

enum { INDENT = 4, SOURCES_MAX = 16 };

static void head_write(const struct pics_view *view, FILE *out)
{
    size_t always = 0, never = 0, applicable = 0, total = catalogue_count(view->catalogue);
    char *device = text_clean_line(view->device);

    for (size_t i = 0; i < total; i++) {
        const struct requirement *requirement = catalogue_at(view->catalogue, i);

        always += strcmp(requirement->capability, "always") == 0;
        never += strcmp(requirement->capability, "never") == 0;
        applicable += pics_applicable(view, requirement);
    }
    if (view->device != NULL)
        fprintf(out,
                "PICS of %s: %zu answers\n"
                "%zu requirements: %zu apply, %zu are left out, %zu bind no device\n",
                device != NULL ? device : "?", view->count, total, applicable, total - applicable - never, never);
    else
        fprintf(out,
                "PICS: what to know of a device before it is judged; %zu questions\n"
                "%zu requirements: %zu bind every device, %zu depend on the answers, %zu bind no device\n",
                view->count, total, always, total - always - never, never);
    free(device);
}

/* "RFC5044 7, RFC6581 90": the requirements that name the item, by their documents. */
static void sources_write(const struct pics_view *view, const struct pics_item *item, FILE *out)
{
    struct {
        const char *source;
        size_t count;
    } sources[SOURCES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < catalogue_count(view->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(view->catalogue, i);
        size_t at = 0;

        if (!pics_depends(view, requirement, item))
            continue;
        while (at < count && strcmp(sources[at].source, requirement->source) != 0)
            at++;
        if (at == SOURCES_MAX)
            continue;
        if (at == count) {
            sources[count].source = requirement->source;
            sources[count++].count = 0;
        }
        sources[at].count++;
    }
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s %zu", i == 0 ? ": " : ", ", sources[i].source, sources[i].count);
    fputc('\n', out);
}

/* The ids of the requirements that name the item and, with a device, apply (or do not). */
static void ids_write(const struct pics_view *view, const struct pics_item *item, const char *label, bool applicable,
                      FILE *out)
{
    char *ids = NULL;
    size_t size = 0;
    FILE *list = text_stream_open(&ids, &size);

    for (size_t i = 0; list != NULL && i < catalogue_count(view->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(view->catalogue, i);

        if (pics_depends(view, requirement, item) &&
            (view->device == NULL || pics_applicable(view, requirement) == applicable))
            fprintf(list, "%s ", requirement->id);
    }
    if (list != NULL && text_stream_close(list, &ids) && size > 0) {
        fprintf(out, "%*s%-10s", INDENT, "", label);
        wrap_print(out, ids, view->width, INDENT + 10, INDENT + 10);
    }
    free(ids);
}

static void answer_write(const struct pics_view *view, const struct pics_item *item, FILE *out)
{
    const char *by = pics_said_by(view, item);
    char reported[PICS_VALUE_ROOM];

    fprintf(out, "%s", item->value);
    if (by != NULL)
        fprintf(out, "  (the profile's \"%s\")", by);
    else
        fputs("  (nothing was said)", out);
    if (!pics_reported(view, item, reported))
        fputc('\n', out);
    else if (strcmp(reported, item->value) == 0)
        fputs("  the upper tester says so, too\n", out);
    else
        fprintf(out, "  the upper tester says %s\n", reported);
}

static void effect_write(const struct pics_view *view, const struct pics_item *item, FILE *out)
{
    struct pics_effect effect;

    pics_effect(view, item, &effect);
    fprintf(out, "%*s%zu requirement%s", INDENT, "", effect.named, effect.named == 1 ? "" : "s");
    if (view->device == NULL || effect.named == 0)
        sources_write(view, item, out);
    else if (effect.left_out == 0)
        fputs(effect.named == 1 ? ": it applies\n" : ": all apply\n", out);
    else
        fprintf(out, ": %zu appl%s, %zu left out (%zu by this answer alone)\n", effect.applicable,
                effect.applicable == 1 ? "ies" : "y", effect.left_out, effect.alone);
    if (!view->requirements)
        return;
    ids_write(view, item, view->device != NULL ? "apply" : "", true, out);
    if (view->device != NULL)
        ids_write(view, item, "left out", false, out);
}

void pics_write_text(const struct pics_view *view, FILE *out)
{
    bool colour = wrap_colour(fileno(out));

    head_write(view, out);
    for (size_t i = 0; i < view->count; i++) {
        const struct pics_item *item = view->items[i];

        fprintf(out, "\n%s%s%s  ", colour ? "\033[1m" : "", item->name, colour ? "\033[0m" : "");
        if (view->device != NULL)
            answer_write(view, item, out);
        else
            fprintf(out, "%s; when nothing is said: %s\n", pics_is_number(item) ? "a number" : "yes or no",
                    item->value);
        fprintf(out, "%*s", INDENT, "");
        wrap_print(out, item->question, view->width, INDENT, INDENT);
        fprintf(out, "%*s", INDENT, "");
        wrap_print(out, item->meaning, view->width, INDENT, INDENT);
        effect_write(view, item, out);
    }
}
