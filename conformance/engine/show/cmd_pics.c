/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck pics: the questionnaire on what a device is able to do, empty, as a profile to fill in, or answered. */
#include "conformance/engine/show/cmd_pics.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference-stack/program/option_table.h"
#include "conformance/engine/device/control.h"
#include "conformance/engine/show/pics_view.h"
#include "conformance/engine/show/upper_needs.h"
#include "conformance/engine/profile/profile.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/engine/show/wrap.h"
#include "reference-stack/program/complaint.h"
#include "reports/results/result.h"
#include "base/sentence.h"

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_PROFILE, FORMAT_JSONL, FORMATS };
static const char *const format_names[FORMATS] = {"text", "markdown", "profile", "jsonl"};

struct inquiry {
    char **patterns; /* argv's that are no options, moved to its front */
    size_t pattern_count;
    const char *dut;
    enum format format;
    bool ask, requirements, needs, help;
};

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    struct inquiry *inquiry = user;

    for (unsigned i = 0; i < FORMATS; i++)
        if (strcmp(value, format_names[i]) == 0) {
            inquiry->format = (enum format)i;
            return 0;
        }
    return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, text, markdown, profile or jsonl was expected",
                              value);
}

#define MEMBER(name) offsetof(struct inquiry, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --dut FILE         shows the answers in this profile and the number of requirements that apply to the device\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(dut)},
    {"  --ask              also asks the upper tester that the profile names\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(ask)},
    {"  --requirements     shows the ids of the requirements that depend on each capability\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(requirements)},
    {"  --needs            lists the checks that need each verb and each event of an upper tester, found by running them\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(needs)},
    {"  --format F         text, markdown (to fill in on paper), profile (for run --dut) or jsonl\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --help             shows this text\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(help)},
};
/* clang-format on */

static const struct option_table table = {
    .command = "pics",
    .head = "usage: warpcheck pics [ITEM...] [OPTION...]\n"
            "  Lists the questions about a device to answer before it is judged: each capability, its meaning, and the "
            "number of\n"
            "  requirements that depend on it.\n"
            "  ITEM               a capability or a glob, such as 'mpa.*' (several: any of them)\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int arguments_parse(struct inquiry *inquiry, int argc, char **argv, struct iwarp_sentence *error)
{
    inquiry->patterns = argv;
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, inquiry, argc, argv, &i, error);

        if (taken < 0)
            return -1;
        if (taken == 0)
            inquiry->patterns[inquiry->pattern_count++] = argv[i++];
    }
    if (inquiry->needs && (inquiry->dut != NULL || inquiry->pattern_count != 0 || inquiry->format > FORMAT_MARKDOWN))
        return iwarp_sentence_set(error, "--needs is about no device: it goes with --format text or markdown alone");
    if (inquiry->ask && inquiry->dut == NULL && !inquiry->help)
        return iwarp_sentence_set(error, "--ask needs --dut FILE: its \"control\" names the upper tester");
    return 0;
}

/* Selects the items to show. A pattern that fits no item is an error, even if another pattern fits. */
static int items_select(struct pics_view *view, const struct inquiry *inquiry, struct iwarp_sentence *error)
{
    bool met[PICS_ITEMS_MAX] = {false};

    for (size_t i = 0; i < inquiry->pattern_count; i++) {
        bool matched = false;

        for (size_t j = 0; j < pics_count(view->pics) && j < PICS_ITEMS_MAX; j++)
            if (fnmatch(inquiry->patterns[i], pics_at(view->pics, j)->name, 0) == 0)
                met[j] = matched = true;
        if (!matched)
            return iwarp_sentence_set(error, "nothing selected: no capability is called %.60s", inquiry->patterns[i]);
    }
    for (size_t j = 0; j < pics_count(view->pics) && j < PICS_ITEMS_MAX; j++)
        if (inquiry->pattern_count == 0 || met[j])
            view->items[view->count++] = pics_at(view->pics, j);
    return 0;
}

/* One question to the upper tester; what it says is another matter than what the profile says. NULL with a sentence. */
static json_t *capabilities_ask(const struct profile *profile, const char *path, struct iwarp_sentence *error)
{
    struct control_config config = {
        .address = profile->place.control, .port = profile->place.control_port, .token = &profile->token};
    struct control *control;
    json_error_t where;
    json_t *answer = NULL;
    char *line;

    if (profile->place.control.family == 0) {
        (void)iwarp_sentence_set(error, "%s: --ask needs the address of an upper tester: \"control\"", path);
        return NULL;
    }
    control = control_new(&config, error);
    line = control != NULL ? control_call(control, "{\"verb\":\"capabilities\"}", error) : NULL;
    control_free(control);
    if (line == NULL)
        return NULL;
    answer = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    if (json_is_true(json_object_get(answer, "ok"))) {
        free(line);
        return answer;
    }
    (void)iwarp_sentence_set(error, "the upper tester does not report its capabilities: %.120s", line);
    json_decref(answer);
    free(line);
    return NULL;
}

static int view_write(const struct pics_view *view, enum format format)
{
    int result = 0;

    if (format == FORMAT_TEXT)
        pics_write_text(view, stdout);
    else if (format == FORMAT_MARKDOWN)
        pics_write_markdown(view, stdout);
    else if (format == FORMAT_JSONL)
        pics_write_jsonl(view, stdout);
    else
        result = pics_write_profile(view, stdout);
    if (result != 0 && !ferror(stdout))
        return complain(EXIT_INCONCLUSIVE, "out of memory");
    return EXIT_CONFORMS;
}

static int inquire(const struct inquiry *inquiry, struct pics_view *view, struct profile *profile)
{
    json_t *reported = NULL;
    struct iwarp_sentence error;
    char today[UTC_TEXT_OCTETS];
    int status;

    if (items_select(view, inquiry, &error) != 0)
        return complain(EXIT_NOTHING_SELECTED, "%s", error.text);
    if (inquiry->dut == NULL && profile_defaults(view->pics, false, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (inquiry->dut != NULL) {
        struct profile_context context = {view->catalogue, view->pics, utc_text(today)};

        today[10] = '\0'; /* the day alone */
        if (profile_load(profile, inquiry->dut, &context, &error) != 0)
            return complain(EXIT_USAGE, "%s", error.text);
        view->device = profile->name;
        view->profile = profile->json;
    }
    if (inquiry->ask) {
        reported = capabilities_ask(profile, inquiry->dut, &error);
        if (reported == NULL)
            return complain(profile->place.control.family == 0 ? EXIT_USAGE : EXIT_INCONCLUSIVE, "%s", error.text);
        view->reported = reported;
    }
    status = view_write(view, inquiry->format);
    json_decref(reported);
    return status;
}

int cmd_pics(int argc, char **argv)
{
    struct inquiry inquiry = {0};
    struct pics_view view = {.width = wrap_width(STDOUT_FILENO)};
    struct catalogue *catalogue = NULL;
    struct profile profile = {0};
    struct iwarp_sentence error;
    int status;

    if (arguments_parse(&inquiry, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (inquiry.help)
        return option_table_print(&table, stdout) < 0 ? EXIT_INCONCLUSIVE : EXIT_CONFORMS;
    if (inquiry.needs)
        return upper_needs_write(inquiry.format == FORMAT_MARKDOWN, stdout, &error) == 0
                   ? EXIT_CONFORMS
                   : complain(EXIT_INCONCLUSIVE, "%s", error.text);
    view.requirements = inquiry.requirements;
    if (catalogue_load(&catalogue, &error) != 0 || pics_load(&view.pics, &error) != 0) {
        status = complain(EXIT_USAGE, "%s", error.text);
    } else {
        view.catalogue = catalogue;
        status = inquire(&inquiry, &view, &profile);
    }
    profile_free(&profile);
    pics_free(view.pics);
    catalogue_free(catalogue);
    return status;
}
