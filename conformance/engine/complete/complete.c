/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/complete/complete.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conformance/engine/plan/coverage.h"
#include "reference-stack/program/help_text.h"
#include "conformance/engine/run/lab_launcher.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/defect.h"
#include "base/sentence.h"

enum { MEANING_WIDTH = 70, WORD_MAX = 40 };

/* Candidates are what begins with `begun`; `before` is kept in front of each: "--format=", "send,". */
struct offer {
    FILE *out;
    const char *before;
    int before_length;
    const char *begun;
    bool checks;   /* of requirements those alone that a check decides */
    bool any_case; /* as the commands take ids */
    struct iwarp_sentence *error;
};

static void offer_word(const struct offer *offer, const char *word, size_t length, const char *meaning)
{
    int (*compare)(const char *, const char *, size_t) = offer->any_case ? strncasecmp : strncmp;

    if (length < strlen(offer->begun) || compare(word, offer->begun, strlen(offer->begun)) != 0)
        return;
    fprintf(offer->out, "%.*s%.*s\t%.*s\n", offer->before_length, offer->before, (int)length, word, MEANING_WIDTH,
            meaning);
}

static int offer_requirements(const struct offer *offer)
{
    struct offer ids = *offer;
    struct catalogue *catalogue = NULL;
    struct coverage_index *index = NULL;
    int result = catalogue_load(&catalogue, offer->error);

    ids.any_case = true;
    if (result == 0 && offer->checks)
        result = coverage_load(&index, offer->error);
    for (size_t i = 0; result == 0 && i < catalogue_count(catalogue); i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);
        struct coverage coverage = {0};

        if (offer->checks)
            coverage_of(index, requirement->id, &coverage);
        if (!offer->checks || coverage.check_path != NULL)
            offer_word(&ids, requirement->id, strlen(requirement->id), requirement->text);
    }
    coverage_free(index);
    catalogue_free(catalogue);
    return result;
}

static int offer_rows(const struct offer *offer, struct defect_list *list)
{
    if (list == NULL)
        return -1;
    for (size_t i = 0; i < defect_list_count(list); i++)
        offer_word(offer, defect_list_at(list, i)->id, strlen(defect_list_at(list, i)->id),
                   defect_list_at(list, i)->requirement);
    defect_list_free(list);
    return 0;
}

static int offer_defects(const struct offer *offer)
{
    return offer_rows(offer, defect_list_embedded(offer->error));
}

static int offer_variants(const struct offer *offer)
{
    return offer_rows(offer, variant_list_embedded(offer->error));
}

static int offer_items(const struct offer *offer)
{
    struct pics *pics;

    if (pics_load(&pics, offer->error) != 0)
        return -1;
    for (size_t i = 0; i < pics_count(pics); i++)
        offer_word(offer, pics_at(pics, i)->name, strlen(pics_at(pics, i)->name), pics_at(pics, i)->question);
    pics_free(pics);
    return 0;
}

static int offer_files(const struct offer *offer)
{
    fputs(":files\n", offer->out);
    return 0;
}

static int offer_folders(const struct offer *offer)
{
    fputs(":folders\n", offer->out);
    return 0;
}

static int offer_devices(const struct offer *offer)
{
    for (size_t i = 0; lab_name(i) != NULL; i++)
        offer_word(offer, lab_name(i), strlen(lab_name(i)), "comes with the project, in a virtual machine");
    return offer_files(offer);
}

static int offer_nothing(const struct offer *offer)
{
    (void)offer;
    return 0;
}

/* What values of these names are. */
static const struct kind {
    const char *name;
    int (*offer)(const struct offer *offer);
} kinds[] = {
    {"DEFECT", offer_defects}, {"VARIANT", offer_variants}, {"SELECT", offer_requirements},  {"ID", offer_requirements},
    {"ITEM", offer_items},     {"PROFILE", offer_devices},  {"FILE", offer_files},           {"OUT", offer_files},
    {"PATH", offer_files},     {"SCRIPT", offer_files},     {"DIR", offer_folders},          {"N", offer_nothing},
    {"S", offer_nothing},      {"GLOB", offer_nothing},     {"TEXT", offer_nothing},         {"HEX", offer_nothing},
    {"PORT", offer_nothing},   {"ADDRESS", offer_nothing},  {"ADDRESS:PORT", offer_nothing}, {"NAME", offer_nothing},
    {"OPTION", offer_nothing}, {"COMMAND", offer_nothing},  {"ARGUMENT", offer_nothing},     {"WORD", offer_nothing},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char name_octets[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ:";

static const struct kind *kind_find(const char *name, size_t length)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, name, length) == 0)
            return &kinds[i];
    return NULL;
}

static bool word_octet(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '-' || c == '.';
}

/* Offers the words that a list is made of, "a, b (remark) or c", as far as it is one. Fewer than two are none. */
static bool offer_enumeration(const struct offer *offer, const char *text)
{
    const char *words[WORD_MAX];
    size_t lengths[WORD_MAX], count = 0;

    while (count < WORD_MAX) {
        size_t length = 0;

        while (word_octet(text[length]))
            length++;
        while (length > 0 && text[length - 1] == '.')
            length--;
        words[count] = text;
        lengths[count] = length;
        text += length;
        text += strspn(text, " ");
        if (length > 0 && *text == '(') {
            text += strcspn(text, ")");
            text += *text == ')';
            text += strspn(text, " ");
        }
        if (length == 0 || (*text != '\0' && strchr(",;.:", *text) == NULL && strncmp(text, "or ", 3) != 0))
            break;
        count++;
        if (*text != ',' && *text != 'o')
            break;
        text += *text == ',';
        text += strspn(text, " ");
        text += strncmp(text, "or ", 3) == 0 ? 3 : 0;
    }
    for (size_t i = 0; count >= 2 && i < count; i++)
        offer_word(offer, words[i], lengths[i], "");
    return count >= 2;
}

/* "1|2": words, each of which may stand there. */
static bool offer_alternatives(const struct offer *offer, const char *value, size_t length)
{
    size_t words = 1;

    for (size_t i = 0; i < length; i++) {
        if (!word_octet(value[i]) && value[i] != '|')
            return false;
        words += value[i] == '|';
    }
    for (size_t at = 0; words >= 2 && at < length;) {
        size_t end = at;

        while (end < length && value[end] != '|')
            end++;
        offer_word(offer, value + at, end - at, "");
        at = end + 1;
    }
    return words >= 2;
}

/* "RTR messages: send,write,read (all)": the words between commas without a blank. */
static void offer_list(const struct offer *offer, const char *meaning)
{
    const char *comma = strchr(meaning, ',');

    while (comma != NULL && !word_octet(comma[1]))
        comma = strchr(comma + 1, ',');
    if (comma == NULL)
        return;
    while (comma > meaning && word_octet(comma[-1]))
        comma--;
    for (;;) {
        size_t length = strcspn(comma, " ,");

        offer_word(offer, comma, length, "");
        comma += length;
        if (*comma++ != ',')
            return;
    }
}

/* "DIR|FILE...", "[NAME=]DIR": each of the names. True when one of them was known. */
static int offer_names(const struct offer *offer, const char *text, size_t length, bool *known)
{
    for (size_t at = 0; at < length;) {
        size_t end = at;
        const struct kind *kind;

        while (end < length && strchr(name_octets, text[end]) != NULL)
            end++;
        kind = kind_find(text + at, end - at);
        if (kind != NULL) {
            *known = true;
            if (kind->offer(offer) != 0)
                return -1;
        }
        at = end + 1;
    }
    return 0;
}

static int offer_value(struct offer *offer, const struct help_option *option, const char *meaning)
{
    bool known = false;
    const char *comma = strrchr(offer->begun, ',');
    char before[256];

    if (comma != NULL && (size_t)(comma - offer->begun) + (size_t)offer->before_length + 1 < sizeof(before)) {
        (void)snprintf(before, sizeof(before), "%.*s%.*s,", offer->before_length, offer->before,
                       (int)(comma - offer->begun), offer->begun);
        offer->before = before;
        offer->before_length = (int)strlen(before);
        offer->begun = comma + 1;
    }
    if (option->value_length == 4 && strncmp(option->value, "LIST", 4) == 0) {
        offer_list(offer, meaning);
        return 0;
    }
    if (offer_alternatives(offer, option->value, option->value_length) ||
        memchr(option->value, '/', option->value_length) != NULL) /* "I/N" */
        return 0;
    if (offer_names(offer, option->value, option->value_length, &known) != 0)
        return -1;
    if (known || offer_enumeration(offer, meaning))
        return 0;
    return offer_files(offer);
}

/* Finds the option of that name and its meaning; false when the help has no such option. */
static bool option_find(const struct help *help, const char *name, size_t length, struct help_option *option,
                        const char **meaning)
{
    for (size_t i = 0; i < help->count; i++) {
        const char *at = help->parts[i].term;

        while (help_option_next(&at, option))
            if (option->name_length == length && strncmp(option->name, name, length) == 0) {
                *meaning = help->parts[i].text;
                return true;
            }
    }
    return false;
}

static void offer_options(const struct offer *offer, const struct help *help)
{
    for (size_t i = 0; i < help->count; i++) {
        const char *at = help->parts[i].term;
        struct help_option option;

        while (help_option_next(&at, &option))
            offer_word(offer, option.name, option.name_length, help->parts[i].text);
    }
}

static void offer_commands(const struct offer *offer, const struct help *help)
{
    for (size_t i = 0; i < help->count; i++)
        if (help->parts[i].kind == HELP_ROW && help->parts[i].term[0] != '-')
            offer_word(offer, help->parts[i].term, strlen(help->parts[i].term), help->parts[i].text);
}

/*
 * Marks the kinds of value that a usage names besides its options: "[SELECT...] [-o OUT] FILE|DIR..." has SELECT, FILE,
 * DIR.
 */
static void usage_kinds(const char *usage, bool named[KINDS])
{
    bool behind_option = false;

    while (*usage != '\0') {
        size_t word = strcspn(usage, " "), name = 0;
        bool option = usage[strspn(usage, "[")] == '-';

        for (size_t at = 0; !behind_option && !option && at < word; at += name + 1) {
            const struct kind *kind;

            name = strspn(usage + at, name_octets);
            kind = kind_find(usage + at, name);
            if (kind != NULL)
                named[kind - kinds] = true;
        }
        behind_option = option && memchr(usage, ']', word) == NULL;
        usage += word + strspn(usage + word, " ");
    }
}

/*
 * "start" of the usage "warpcheck course start N": the word after the command that is typed as it stands. NULL: none.
 */
static const char *usage_verb(const char *usage, size_t *length)
{
    for (int i = 0; i < 2; i++) {
        usage += strcspn(usage, " ");
        usage += strspn(usage, " ");
    }
    *length = strspn(usage, "abcdefghijklmnopqrstuvwxyz");
    return *length > 0 && (usage[*length] == ' ' || usage[*length] == '\0') ? usage : NULL;
}

/* The verbs of a command that has some; false where it has none. */
static bool offer_verbs(const struct offer *offer, const struct help *help)
{
    bool any = false;

    for (size_t i = 0; i < help->count; i++) {
        size_t length;
        const char *verb = help->parts[i].kind == HELP_USAGE ? usage_verb(help->parts[i].text, &length) : NULL;

        if (verb != NULL)
            offer_word(offer, verb, length, "");
        any = any || verb != NULL;
    }
    return any;
}

/* Is this line of the usage about what was typed after the command? With a verb it is about that one alone. */
static bool usage_fits(const char *usage, const char *typed)
{
    size_t length;
    const char *verb = usage_verb(usage, &length);

    return verb == NULL || (strlen(typed) == length && strncmp(verb, typed, length) == 0);
}

/* What is no option. Where files may stand, a thousand requirements are not offered before a letter of one is typed. */
static int offer_positionals(const struct offer *offer, const struct help *help, size_t count, const char *const *words)
{
    bool named[KINDS] = {false}, files = false;

    if (count == 2 && offer_verbs(offer, help))
        return 0;
    for (size_t i = 0; i < help->count; i++)
        if (help->parts[i].kind == HELP_USAGE && usage_fits(help->parts[i].text, words[1]))
            usage_kinds(help->parts[i].text, named);
    for (size_t i = 0; i < KINDS; i++)
        files = files || (named[i] && kinds[i].offer == offer_files);
    for (size_t i = 0; i < KINDS; i++)
        if (named[i] && !(files && offer->begun[0] == '\0' && kinds[i].offer == offer_requirements) &&
            kinds[i].offer(offer) != 0)
            return -1;
    return 0;
}

/* The candidates within a command, whose help is given; its name is the first word. */
static int offer_within(struct offer *offer, const struct help *help, size_t count, const char *const *words)
{
    const char *last = words[count - 1], *equals = strchr(last, '=');
    const char *meaning = "";
    struct help_option option;

    if (last[0] == '-' && equals != NULL) {
        if (!option_find(help, last, (size_t)(equals - last), &option, &meaning) || option.value == NULL)
            return 0;
        offer->before = last;
        offer->before_length = (int)(equals + 1 - last);
        offer->begun = equals + 1;
        return offer_value(offer, &option, meaning);
    }
    if (count > 1 && option_find(help, words[count - 2], strlen(words[count - 2]), &option, &meaning) &&
        option.value != NULL)
        return offer_value(offer, &option, meaning);
    if (last[0] == '-') {
        offer_options(offer, help);
        return 0;
    }
    return offer_positionals(offer, help, count, words);
}

static bool is_peer(const char *program)
{
    const char *slash = strrchr(program, '/');

    return strcmp(slash != NULL ? slash + 1 : program, "iwarp-peer") == 0;
}

static int help_load(const struct completion_source *source, const char *command, struct help *help,
                     struct iwarp_sentence *error)
{
    char *text = source->help(source->context, command, error);
    int result = text != NULL ? help_parse(help, text, error) : -1;

    free(text);
    return result;
}

int complete_write(const struct completion_source *source, size_t count, const char *const *words, FILE *out,
                   struct iwarp_sentence *error)
{
    struct offer offer = {.out = out, .before = "", .error = error};
    struct help help = {0};
    const char *command = NULL;
    int result = 0;

    if (count < 2)
        return iwarp_sentence_set(error, "a program and the words after it were expected");
    offer.begun = words[count - 1];
    if (is_peer(words[0])) {
        command = "peer";
    } else {
        result = help_load(source, NULL, &help, error);
        if (count == 2) {
            if (result == 0 && offer.begun[0] == '-')
                offer_options(&offer, &help);
            else if (result == 0)
                offer_commands(&offer, &help);
            help_free(&help);
            return result;
        }
        for (size_t i = 0; i < help.count; i++)
            if (help.parts[i].kind == HELP_ROW && strcmp(help.parts[i].term, words[1]) == 0)
                command = words[1];
        help_free(&help);
        words++;
        count--;
    }
    if (result != 0 || command == NULL)
        return result;
    offer.checks = strcmp(command, "run") == 0;
    result = help_load(source, command, &help, error);
    if (result == 0)
        result = offer_within(&offer, &help, count, words);
    help_free(&help);
    return result;
}
