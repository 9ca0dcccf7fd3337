/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/plan/coverage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/script/script.h"
#include "conformance/rules/rule.h"
#include "reference-stack/defects/defect.h"
#include "base/sentence.h"

struct coverage_index {
    struct citation *citations;
    size_t count, room;
    const char **defects; /* names of defects, in the order of their citations */
    char **strings;       /* owned copies */
    size_t string_count, string_room;
};

/* The array with room for one element more, NULL (and the array as it was) if there is no memory. */
static void *room_make(void *array, size_t *room, size_t count, size_t element)
{
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *grown;

    if (count < *room)
        return array;
    grown = realloc(array, wanted * element);
    if (grown != NULL)
        *room = wanted;
    return grown;
}

static const char *string_keep(struct coverage_index *index, const char *text, size_t octets)
{
    char **strings = room_make(index->strings, &index->string_room, index->string_count, sizeof(char *));
    char *copy = strings != NULL ? strndup(text, octets) : NULL;

    if (strings != NULL)
        index->strings = strings;
    if (copy != NULL)
        index->strings[index->string_count++] = copy;
    return copy;
}

/* The first `octets` of `requirement` are its id. */
static int citation_add(struct coverage_index *index, struct citation citation, size_t octets,
                        struct iwarp_sentence *error)
{
    struct citation *citations = room_make(index->citations, &index->room, index->count, sizeof(*citations));

    citation.requirement = string_keep(index, citation.requirement, octets);
    citation.name = string_keep(index, citation.name, strlen(citation.name));
    citation.order = index->count;
    if (citations != NULL)
        index->citations = citations;
    if (citations == NULL || citation.requirement == NULL || citation.name == NULL)
        return iwarp_sentence_set(error, "index of checks and defects: out of memory");
    index->citations[index->count++] = citation;
    return 0;
}

static int rules_add(struct coverage_index *index, struct iwarp_sentence *error)
{
    size_t count = rule_count();

    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = rule_at(i);
        struct citation citation = {.kind = CITATION_RULE, .requirement = rule->id, .name = rule->function};

        if (citation_add(index, citation, strlen(rule->id), error) != 0)
            return -1;
    }
    return 0;
}

static int checks_add(struct coverage_index *index, const struct script_host *host, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < script_check_count(host); i++) {
        const struct check *check = script_check_at(host, i);
        struct citation citation = {.kind = CITATION_CHECK,
                                    .requirement = check->id,
                                    .name = check->path,
                                    .line = check->line > 0 ? (unsigned)check->line : 0};

        if (citation_add(index, citation, strlen(check->id), error) != 0)
            return -1;
    }
    return 0;
}

/* A defect cites each of the requirements that it breaks. */
static int defect_add(struct coverage_index *index, const struct defect *defect, struct iwarp_sentence *error)
{
    for (const char *at = defect->requirement; *at != '\0';) {
        struct citation citation = {
            .kind = CITATION_DEFECT, .requirement = at, .name = defect->id, .line = (unsigned)defect->line};
        size_t octets = strcspn(at, ",");

        if (citation_add(index, citation, octets, error) != 0)
            return -1;
        at += octets;
        at += *at == ',';
    }
    return 0;
}

static int defects_add(struct coverage_index *index, const struct defect_list *list, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < defect_list_count(list); i++)
        if (defect_add(index, defect_list_at(list, i), error) != 0)
            return -1;
    return 0;
}

static int citation_compare(const void *a, const void *b)
{
    const struct citation *x = a, *y = b;
    int order = strcmp(x->requirement, y->requirement);

    if (order == 0)
        order = (int)x->kind - (int)y->kind;
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int index_finish(struct coverage_index *index, struct iwarp_sentence *error)
{
    if (index->count > 0)
        qsort(index->citations, index->count, sizeof(*index->citations), citation_compare);
    index->defects = calloc(index->count + 1, sizeof(*index->defects));
    if (index->defects == NULL)
        return iwarp_sentence_set(error, "index of checks and defects: out of memory");
    for (size_t i = 0; i < index->count; i++)
        index->defects[i] = index->citations[i].name;
    return 0;
}

static int build(struct coverage_index **index, bool rules, const struct script_host *host,
                 const struct defect_list *defects, struct iwarp_sentence *error)
{
    struct coverage_index *made = calloc(1, sizeof(*made));

    *index = NULL;
    if (made == NULL)
        return iwarp_sentence_set(error, "index of checks and defects: out of memory");
    if ((rules && rules_add(made, error) != 0) || checks_add(made, host, error) != 0 ||
        defects_add(made, defects, error) != 0 || index_finish(made, error) != 0) {
        coverage_free(made);
        return -1;
    }
    *index = made;
    return 0;
}

int coverage_build(struct coverage_index **index, const struct script_host *host, const struct defect_list *defects,
                   struct iwarp_sentence *error)
{
    return build(index, false, host, defects, error);
}

int coverage_load(struct coverage_index **index, struct iwarp_sentence *error)
{
    struct script_host *host = script_host_new(error);
    struct defect_list *defects = host != NULL ? defect_list_embedded(error) : NULL;
    int result = -1;

    *index = NULL;
    if (defects != NULL && script_load_embedded(host, error) == 0)
        result = build(index, true, host, defects, error);
    defect_list_free(defects);
    script_host_free(host);
    return result;
}

void coverage_free(struct coverage_index *index)
{
    if (index == NULL)
        return;
    for (size_t i = 0; i < index->string_count; i++)
        free(index->strings[i]);
    free(index->strings);
    free(index->citations);
    free(index->defects);
    free(index);
}

/* The first citation of that requirement, or where it would stand. */
static size_t first_of(const struct coverage_index *index, const char *requirement_id)
{
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(index->citations[middle].requirement, requirement_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void coverage_of(const struct coverage_index *index, const char *requirement_id, struct coverage *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = first_of(index, requirement_id); i < index->count; i++) {
        const struct citation *citation = &index->citations[i];

        if (strcmp(citation->requirement, requirement_id) != 0)
            break;
        if (citation->kind == CITATION_CHECK && out->check_path == NULL) {
            out->check_path = citation->name;
            out->check_line = citation->line;
        } else if (citation->kind == CITATION_RULE && out->rule_name == NULL) {
            out->rule_name = citation->name;
        } else if (citation->kind == CITATION_DEFECT) {
            if (out->defect_count++ == 0)
                out->defects = &index->defects[i];
        }
    }
}

size_t coverage_citation_count(const struct coverage_index *index)
{
    return index->count;
}

const struct citation *coverage_citation(const struct coverage_index *index, size_t i)
{
    return i < index->count ? &index->citations[i] : NULL;
}
