/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"
#include "reference-stack/defects/choice_table.h"
#include "reference-stack/defects/defect_compile.h"

enum { FEW_MAX = 4, MANY_EVERY = 4 };

static struct choice_device *device_new(const struct choice_table *table, enum choice_layer layer, size_t room)
{
    struct choice_device *device = calloc(1, sizeof(*device) + room * sizeof(device->choices[0]));

    if (device == NULL)
        return NULL;
    device->table = table;
    device->layer = layer;
    return device;
}

/* Its texts lie in itself, or in the table. */
static void set_choice(struct choice *choice, size_t point, const struct choice_alternative *alternative,
                       uint64_t number)
{
    choice->point = point;
    if (alternative->variant != NULL) {
        choice->row = *alternative->variant;
        return;
    }
    (void)snprintf(choice->number, sizeof(choice->number), "%" PRIu64, number);
    (void)snprintf(choice->id, sizeof(choice->id), "%.40s=%s", alternative->setting, choice->number);
    choice->row = (struct defect){.id = choice->id,
                                  .requirement = "",
                                  .warns = "",
                                  .hook = "configure",
                                  .target = alternative->setting,
                                  .operation = "set",
                                  .value = choice->number};
}

/* The row's texts lie in the choice itself where it is a number: a copy has its own. */
static void copy_choice(struct choice *to, const struct choice *from)
{
    *to = *from;
    if (from->row.id == from->id) {
        to->row.id = to->id;
        to->row.value = to->number;
    }
}

/* The id of one that does not go with the alternative; NULL: it may be added. */
static const char *excluded_by(const struct choice_table *table, const struct choice_device *device, const char *id)
{
    for (size_t i = 0; i < device->count; i++) {
        const struct choice_pair *pair = choice_table_pair(table, device->choices[i].row.id, id);

        if (pair != NULL && pair->warns == NULL)
            return device->choices[i].row.id;
    }
    return NULL;
}

static uint64_t number_in(uint64_t low, uint64_t high, uint64_t *state)
{
    uint64_t random = splitmix_next(state);

    /* The ends are drawn more often than others: limits are where devices differ. */
    switch (random % 8) {
    case 0: return low;
    case 1: return high;
    default: return low + splitmix_next(state) % (high - low + 1);
    }
}

static void draw_at(const struct choice_table *table, struct choice_device *device, size_t point, uint64_t *state)
{
    const struct choice_point *at = &table->layers[device->layer].points[point];
    const struct choice_alternative *alternative = &at->alternatives[splitmix_next(state) % at->count];

    if (alternative->variant != NULL && excluded_by(table, device, alternative->variant->id) != NULL)
        return;
    set_choice(&device->choices[device->count++], point, alternative,
               alternative->variant != NULL ? 0 : number_in(alternative->low, alternative->high, state));
}

struct choice_device *choice_device_draw(const struct choice_table *table, enum choice_layer layer, uint64_t seed,
                                         struct iwarp_sentence *sentence)
{
    size_t count = choice_point_count(table, layer), wanted;
    struct choice_device *device = device_new(table, layer, count);
    uint64_t state = seed;

    if (device == NULL) {
        (void)iwarp_sentence_set(sentence, "choices: out of memory");
        return NULL;
    }
    wanted = seed % MANY_EVERY == 0 ? count / 2 : 1 + splitmix_next(&state) % FEW_MAX;
    if (wanted > count)
        wanted = count;
    /* Of the points that are left, as many as are wanted still: each is as likely as any other. */
    for (size_t point = 0; point < count; point++)
        if (splitmix_next(&state) % (count - point) < wanted) {
            draw_at(table, device, point, &state);
            wanted--;
        }
    return device;
}

/* ---- by name --------------------------------------------------------------------------------------------------- */

static int add_named(const struct choice_table *table, struct choice_device *device, const char *id,
                     struct iwarp_sentence *sentence)
{
    struct choice_found found;
    const char *other;
    size_t at = device->count;

    if (choice_table_find(table, device->layer, id, &found, sentence) != 0)
        return -1;
    other = excluded_by(table, device, id);
    if (other != NULL)
        return iwarp_sentence_set(sentence, "choices: '%.60s' does not go with '%.60s'", id, other);
    for (size_t i = 0; i < device->count; i++)
        if (device->choices[i].point == found.point)
            return iwarp_sentence_set(sentence, "choices: '%.60s' and '%.60s' are alternatives of one point, %.60s", id,
                                      device->choices[i].row.id, choice_point_name(table, device->layer, found.point));
    while (at > 0 && device->choices[at - 1].point > found.point) {
        copy_choice(&device->choices[at], &device->choices[at - 1]);
        at--;
    }
    set_choice(&device->choices[at], found.point, found.alternative, found.number);
    device->count++;
    return 0;
}

struct choice_device *choice_device_named(const struct choice_table *table, enum choice_layer layer, const char *text,
                                          struct iwarp_sentence *sentence)
{
    struct choice_device *device = device_new(table, layer, choice_point_count(table, layer));
    char id[128];

    if (device == NULL) {
        (void)iwarp_sentence_set(sentence, "choices: out of memory");
        return NULL;
    }
    if (strcmp(text, "none") == 0)
        return device;
    for (const char *at = text;;) {
        size_t octets = strcspn(at, ",");

        (void)snprintf(id, sizeof(id), "%.*s", (int)(octets < sizeof(id) ? octets : sizeof(id) - 1), at);
        if (add_named(table, device, id, sentence) != 0) {
            free(device);
            return NULL;
        }
        if (at[octets] == '\0')
            return device;
        at += octets + 1;
    }
}

char *choice_device_text(const struct choice_device *device)
{
    size_t room = sizeof("none"), used = 0;
    char *text;

    for (size_t i = 0; i < device->count; i++)
        room += strlen(device->choices[i].row.id) + 1;
    text = malloc(room);
    if (text == NULL)
        return NULL;
    (void)snprintf(text, room, "none");
    for (size_t i = 0; i < device->count; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i != 0 ? "," : "", device->choices[i].row.id);
    return text;
}

struct choice_device *choice_device_without(const struct choice_device *device, size_t at)
{
    struct choice_device *less = device_new(device->table, device->layer, device->count);

    for (size_t i = 0; less != NULL && i < device->count; i++)
        if (i != at)
            copy_choice(&less->choices[less->count++], &device->choices[i]);
    return less;
}

/* ---- what it is ------------------------------------------------------------------------------------------------ */

static int add_rows(struct defect_set *set, const struct choice_device *device, struct iwarp_sentence *sentence)
{
    for (size_t i = 0; i < device->count; i++)
        if (defect_compile(&device->choices[i].row, set, sentence) != 0)
            return -1;
    return 0;
}

struct defect_set *choice_device_set(const struct choice_device *device, struct iwarp_sentence *sentence)
{
    struct defect_set *set = defect_set_empty();

    if (set == NULL) {
        (void)iwarp_sentence_set(sentence, "choices: out of memory");
        return NULL;
    }
    if (add_rows(set, device, sentence) == 0)
        return set;
    defect_set_free(set);
    return NULL;
}

/* All digits: a seed. */
static bool is_seed(const char *text, uint64_t *seed)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *seed = strtoull(text, &end, 10);
    return *end == '\0';
}

int choice_add(struct defect_set *set, enum choice_layer layer, const char *choices, struct iwarp_sentence *sentence)
{
    struct choice_table *table = choice_table_embedded(sentence);
    struct choice_device *device = NULL;
    uint64_t seed;
    int status = -1;

    if (table != NULL)
        device = is_seed(choices, &seed) ? choice_device_draw(table, layer, seed, sentence)
                                         : choice_device_named(table, layer, choices, sentence);
    if (device != NULL)
        status = add_rows(set, device, sentence);
    free(device);
    choice_table_free(table);
    return status;
}

/* Do two choices of the device draw it together? */
static bool is_drawn_by_two(const struct choice_device *device, const char *requirement)
{
    for (size_t i = 0; i < device->count; i++)
        for (size_t j = i + 1; j < device->count; j++) {
            const struct choice_pair *pair =
                choice_table_pair(device->table, device->choices[i].row.id, device->choices[j].row.id);

            if (pair != NULL && pair->warns != NULL && defect_is_among(pair->warns, requirement))
                return true;
        }
    return false;
}

bool choice_device_warns(const struct choice_device *device, const char *requirement)
{
    for (size_t i = 0; i < device->count; i++)
        if (variant_warns(&device->choices[i].row, requirement))
            return true;
    return is_drawn_by_two(device, requirement);
}
