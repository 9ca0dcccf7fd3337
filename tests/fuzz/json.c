/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/json.h"

#include <jansson.h>

enum { SLOTS_MAX = 512, LINES_MAX = 256, TEXT_MAX = 4096, CHANGES_MAX = 4 };

/* Where a value stands: a member of an object, or an element of an array. */
struct slot {
    json_t *parent;
    const char *key; /* NULL: an element */
    size_t index;
};

struct document {
    struct slot slots[SLOTS_MAX];
    size_t count;
    uint32_t choices;
};

static uint32_t choose(struct document *document, size_t below)
{
    return fuzz_choice(&document->choices, (uint32_t)below);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static void collect(struct document *document, json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_object(value)) {
        json_object_foreach(value, key, member)
        {
            if (document->count < SLOTS_MAX)
                document->slots[document->count++] = (struct slot){value, key, 0};
            collect(document, member);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member)
        {
            if (document->count < SLOTS_MAX)
                document->slots[document->count++] = (struct slot){value, NULL, i};
            collect(document, member);
        }
    }
}

static json_t *value_at(const struct slot *slot)
{
    return slot->key != NULL ? json_object_get(slot->parent, slot->key) : json_array_get(slot->parent, slot->index);
}

/* Takes over `value`. */
static void put(const struct slot *slot, json_t *value)
{
    if (slot->key != NULL)
        (void)json_object_set_new(slot->parent, slot->key, value);
    else
        (void)json_array_set_new(slot->parent, slot->index, value);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static json_t *changed_text(struct document *document, const json_t *value)
{
    char text[TEXT_MAX] = "";
    size_t count = json_is_string(value) ? json_string_length(value) : 0;

    if (count > TEXT_MAX / 2)
        count = TEXT_MAX / 2;
    if (count != 0)
        memcpy(text, json_string_value(value), count);
    count = LLVMFuzzerMutate((uint8_t *)text, count, TEXT_MAX);
    for (size_t i = 0; i < count; i++) {
        if (text[i] & 0x80)
            text[i] = (char)(text[i] & 0x7F); /* UTF-8 whatever it was */
        if (text[i] == '\0')
            text[i] = '0';
    }
    if (choose(document, 32) == 0)
        return json_sprintf("%.*s\u20AC", (int)count, text);
    return json_stringn(text, count);
}

static json_t *changed_number(struct document *document, const json_t *value)
{
    static const json_int_t limits[] = {0,         1,     -1,    127,       128,        255,        256,
                                        4096,      65535, 65536, INT32_MAX, INT32_MIN,  UINT32_MAX, INT64_MAX,
                                        INT64_MIN, 99999, 1000,  100000,    4294967296, 1LL << 53};
    json_int_t number = json_integer_value(value);

    switch (choose(document, 4)) {
    case 0: return json_integer((json_int_t)((uint64_t)number + choose(document, 33) - 16));
    case 1: return json_integer((json_int_t)((uint64_t)number ^ (UINT64_C(1) << choose(document, 64))));
    case 2: return json_real(choose(document, 2) ? 1e300 : -0.5);
    default: return json_integer(limits[choose(document, sizeof(limits) / sizeof(limits[0]))]);
    }
}

static json_t *value_of_kind(struct document *document, const json_t *value, unsigned kind)
{
    switch (kind) {
    case 0: return json_null();
    case 1: return json_boolean(choose(document, 2));
    case 2: return changed_number(document, value);
    case 3: return changed_text(document, value);
    case 4: return json_array();
    default: return json_object();
    }
}

static json_t *changed(struct document *document, const json_t *value)
{
    if (choose(document, 4) == 0)
        return value_of_kind(document, value, choose(document, 6));
    if (json_is_string(value))
        return changed_text(document, value);
    if (json_is_number(value))
        return changed_number(document, value);
    return value_of_kind(document, value, choose(document, 6));
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void rename_member(struct document *document, const struct slot *slot)
{
    json_t *key = json_string(slot->key), *new_key;
    const struct slot *other = &document->slots[choose(document, document->count)];

    if (other->key != NULL && choose(document, 2) == 0)
        new_key = json_string(other->key);
    else
        new_key = changed_text(document, key);
    if (new_key != NULL)
        (void)json_object_set(slot->parent, json_string_value(new_key), value_at(slot));
    if (choose(document, 2) == 0)
        (void)json_object_del(slot->parent, json_string_value(key));
    json_decref(key);
    json_decref(new_key);
}

static void change_one(struct document *document)
{
    const struct slot *slot = &document->slots[choose(document, document->count)];
    const struct slot *other = &document->slots[choose(document, document->count)];

    switch (choose(document, 8)) {
    case 0:
        if (slot->key != NULL)
            (void)json_object_del(slot->parent, slot->key);
        else
            (void)json_array_remove(slot->parent, slot->index);
        break;
    case 1:
        if (slot->key != NULL)
            rename_member(document, slot);
        else
            (void)json_array_insert_new(slot->parent, slot->index, json_deep_copy(value_at(slot)));
        break;
    case 2: put(slot, json_deep_copy(value_at(other))); break;
    default: put(slot, changed(document, value_at(slot))); break;
    }
}

/* A change leaves the list of places after it stale, so that each has a list of its own. */
static void change(struct document *document, json_t *root)
{
    for (uint32_t changes = 1 + choose(document, CHANGES_MAX); changes != 0; changes--) {
        document->count = 0;
        collect(document, root);
        if (document->count == 0)
            return;
        change_one(document);
    }
}

/* The mutated JSON of `text`, which is replaced in the middle of the input; its new size, 0: it is no JSON. */
static size_t mutate_one(struct document *document, uint8_t *data, size_t size, size_t room, size_t at, size_t count)
{
    json_t *root = json_loadb((const char *)data + at, count, JSON_DECODE_ANY, NULL);
    char *text = NULL;
    size_t length = 0;

    if (json_is_object(root) || json_is_array(root)) {
        change(document, root);
        text = json_dumps(root, JSON_COMPACT);
    }
    json_decref(root);
    if (text != NULL)
        length = strlen(text);
    if (length == 0 || size - count + length > room) {
        free(text);
        return 0;
    }
    memmove(data + at + length, data + at + count, size - at - count);
    memcpy(data + at, text, length);
    free(text);
    return size - count + length;
}

/* Lines change places, go, and come twice. */
static size_t mutate_lines(struct document *document, uint8_t *data, size_t size, size_t room, size_t at, size_t count)
{
    size_t length = count < size - at ? count + 1 : count; /* with its newline */

    if (choose(document, 2) == 0 || size + length > room) {
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    }
    memmove(data + at + length, data + at, size - at);
    return size + length;
}

size_t fuzz_json_mutate(uint8_t *data, size_t size, size_t room, unsigned seed, bool lines)
{
    static struct document document;
    size_t begins[LINES_MAX + 1] = {0}, count = 1, which, at, length, mutated;

    document.choices = seed;
    if (size == 0 || choose(&document, 4) == 0)
        return LLVMFuzzerMutate(data, size, room);
    for (size_t i = 0; lines && i + 1 < size && count < LINES_MAX; i++)
        if (data[i] == '\n')
            begins[count++] = i + 1;
    begins[count] = size;
    which = choose(&document, count);
    at = begins[which];
    length = begins[which + 1] - at;
    if (length != 0 && data[at + length - 1] == '\n')
        length--;
    if (lines && choose(&document, 8) == 0)
        return mutate_lines(&document, data, size, room, at, length);
    mutated = mutate_one(&document, data, size, room, at, length);
    return mutated != 0 ? mutated : LLVMFuzzerMutate(data, size, room);
}
