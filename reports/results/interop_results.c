/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/interop_results.h"

#include <stdlib.h>
#include <string.h>

#include "reports/file/whole_file.h"
#include "reports/results/member.h"

enum { OCTETS_MOST = 1 << 28 };

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Objects, each with these texts, each with another name. */
static int list_check(const json_t *head, const char *list, const char *const *members, size_t *count,
                      struct iwarp_sentence *error)
{
    const json_t *array = json_object_get(head, list);

    *count = json_array_size(array);
    if (*count == 0 || *count > INTEROP_SIZE_MOST)
        return iwarp_sentence_set(error, "\"%s\" has %zu elements, 1 to %d were expected", list, *count,
                                  INTEROP_SIZE_MOST);
    for (size_t i = 0; i < *count; i++) {
        const json_t *element = json_array_get(array, i);

        for (const char *const *member = members; *member != NULL; member++)
            if (member_text(element, *member) == NULL)
                return iwarp_sentence_set(error, "\"%s\"[%zu] has no \"%s\"", list, i, *member);
        for (size_t k = 0; k < i; k++)
            if (strcmp(member_text(json_array_get(array, k), "name"), member_text(element, "name")) == 0)
                return iwarp_sentence_set(error, "\"%s\" has \"%.60s\" twice", list, member_text(element, "name"));
    }
    return 0;
}

int interop_results_begin(struct interop_results *results, json_t *head, struct iwarp_sentence *error)
{
    static const char *const device[] = {"name", "what", NULL};
    static const char *const test[] = {"letters", "name", "group", "title", NULL};
    const char *type = member_text(head, "type");

    memset(results, 0, sizeof(*results));
    results->head = head;
    if (type == NULL || strcmp(type, "interop") != 0)
        return iwarp_sentence_set(error, "the head of an interoperability matrix was expected");
    if (member_count(head, "version") != INTEROP_VERSION)
        return iwarp_sentence_set(error, "version %llu, %d was expected",
                                  (unsigned long long)member_count(head, "version"), INTEROP_VERSION);
    if (list_check(head, "devices", device, &results->devices, error) != 0 ||
        list_check(head, "tests", test, &results->tests, error) != 0)
        return -1;
    results->exchanges = calloc(results->devices * results->devices * results->tests, sizeof(*results->exchanges));
    return results->exchanges != NULL ? 0 : iwarp_sentence_set(error, "out of memory");
}

/* The element with that name; `count`: there is none. */
static size_t find(const struct interop_results *results, const char *list, size_t count, const char *name)
{
    const json_t *array = json_object_get(results->head, list);
    size_t i = 0;

    while (i < count && (name == NULL || strcmp(member_text(json_array_get(array, i), "name"), name) != 0))
        i++;
    return i;
}

/* It becomes a name in a folder of evidence, and a link. */
static bool is_capture(const json_t *exchange)
{
    const char *capture = member_text(exchange, "capture");

    return capture == NULL ||
           (capture[0] != '\0' && capture[0] != '.' && strlen(capture) < 200 && strpbrk(capture, "/\\?#%:") == NULL);
}

int interop_results_add(struct interop_results *results, json_t *exchange, struct iwarp_sentence *error)
{
    const char *verdict = member_text(exchange, "verdict");
    size_t initiator = find(results, "devices", results->devices, member_text(exchange, "initiator"));
    size_t responder = find(results, "devices", results->devices, member_text(exchange, "responder"));
    size_t test = find(results, "tests", results->tests, member_text(exchange, "test"));
    enum verdict value;
    json_t **place;

    if (initiator == results->devices || responder == results->devices || test == results->tests)
        return iwarp_sentence_set(error, "the exchange names a device or a test that the head does not have");
    if (verdict == NULL || verdict_from_name(verdict, &value) != 0 ||
        (value != VERDICT_PASS && value != VERDICT_FAIL && value != VERDICT_SKIP && value != VERDICT_INCONCLUSIVE))
        return iwarp_sentence_set(error, "\"verdict\" is \"%.20s\": PASS, FAIL, SKIP or INCONCLUSIVE was expected",
                                  verdict != NULL ? verdict : "");
    if (!is_capture(exchange))
        return iwarp_sentence_set(error, "\"capture\" is no name of a file of the folder evidence");
    place = &results->exchanges[(initiator * results->devices + responder) * results->tests + test];
    if (*place != NULL)
        return iwarp_sentence_set(error, "the exchange stands there twice");
    *place = json_incref(exchange);
    return 0;
}

void interop_results_free(struct interop_results *results)
{
    for (size_t i = 0; results->exchanges != NULL && i < results->devices * results->devices * results->tests; i++)
        json_decref(results->exchanges[i]);
    free(results->exchanges);
    json_decref(results->head);
    memset(results, 0, sizeof(*results));
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* One line. `line` counts from 1. */
static int line_read(struct interop_results *results, const char *text, size_t octets, size_t line,
                     struct iwarp_sentence *error)
{
    json_t *object = json_loadb(text, octets, JSON_REJECT_DUPLICATES, NULL);
    const char *type = member_text(object, "type");
    int rc = -1;

    if (type == NULL)
        (void)iwarp_sentence_set(error, "no JSON object with a \"type\"");
    else if (line == 1)
        return interop_results_begin(results, object, error);
    else if (results->finished)
        (void)iwarp_sentence_set(error, "nothing was expected after the end");
    else if (strcmp(type, "exchange") == 0)
        rc = interop_results_add(results, object, error);
    else if (strcmp(type, "end") == 0)
        rc = 0;
    else
        (void)iwarp_sentence_set(error, "the type \"%.40s\" is unknown", type);
    results->finished = rc == 0 && strcmp(type, "end") == 0;
    json_decref(object);
    return rc;
}

static int lines_read(struct interop_results *results, const char *text, size_t octets, const char *path,
                      struct iwarp_sentence *error)
{
    const char *end = text + octets;
    struct iwarp_sentence why;
    size_t line = 0;

    if (octets == 0)
        return iwarp_sentence_set(error, "%.300s: the file is empty", path);
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        line++;
        if (stop == NULL)
            return iwarp_sentence_set(error, "%.300s:%zu: the line is cut: the file is not whole", path, line);
        if (line_read(results, text, (size_t)(stop - text), line, &why) != 0) {
            for (char *at = why.text; *at != '\0'; at++) /* what it quotes may be anything */
                if ((unsigned char)*at < ' ')
                    *at = ' ';
            return iwarp_sentence_set(error, "%.200s:%zu: %.250s", path, line, why.text);
        }
        text = stop + 1;
    }
    return 0;
}

int interop_results_read(struct interop_results *results, const char *path, struct iwarp_sentence *error)
{
    uint8_t *octets;
    size_t size;
    int rc;

    memset(results, 0, sizeof(*results));
    if (whole_file_read(path, OCTETS_MOST, &octets, &size, error) != 0)
        return -1;
    if (octets == NULL)
        return iwarp_sentence_set(error, "%.300s: no such file, or it has more than %d octets", path, OCTETS_MOST);
    rc = lines_read(results, (const char *)octets, size, path, error);
    free(octets);
    return rc;
}

/* ---- asked ------------------------------------------------------------------------------------------------------- */

static const char *element_text(const struct interop_results *results, const char *list, size_t index,
                                const char *member)
{
    const char *text = member_text(json_array_get(json_object_get(results->head, list), index), member);

    return text != NULL ? text : "";
}

const char *interop_results_device(const struct interop_results *results, size_t device, const char *member)
{
    return element_text(results, "devices", device, member);
}

const char *interop_results_test(const struct interop_results *results, size_t test, const char *member)
{
    return element_text(results, "tests", test, member);
}

const json_t *interop_results_exchange(const struct interop_results *results, size_t initiator, size_t responder,
                                       size_t test)
{
    return results->exchanges[(initiator * results->devices + responder) * results->tests + test];
}

enum verdict interop_results_verdict(const json_t *exchange)
{
    enum verdict verdict = VERDICT_INCONCLUSIVE;

    (void)verdict_from_name(member_text(exchange, "verdict"), &verdict); /* it was looked at when it was added */
    return verdict;
}

void interop_results_count(const struct interop_results *results, size_t counts[VERDICT_COUNT])
{
    memset(counts, 0, VERDICT_COUNT * sizeof(*counts));
    for (size_t i = 0; i < results->devices * results->devices * results->tests; i++)
        if (results->exchanges[i] != NULL)
            counts[interop_results_verdict(results->exchanges[i])]++;
}
