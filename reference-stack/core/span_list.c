/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/core/span_list.h"

#include <stdlib.h>
#include <string.h>

int span_list_add_up(const struct iwarp_span *pieces, size_t count, size_t *octets, struct iwarp_sentence *sentence)
{
    *octets = 0;
    if (count > IWARP_PIECES)
        return iwarp_sentence_set(sentence, "stream: %zu pieces, at most %d were expected", count, IWARP_PIECES);
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].octets == NULL && pieces[i].count != 0)
            return iwarp_sentence_set(sentence, "stream: piece %zu has %zu octets, but none were given", i,
                                      pieces[i].count);
        if (pieces[i].count > UINT32_MAX - *octets)
            return iwarp_sentence_set(sentence, "stream: pieces of more than 2^32 - 1 octets in all");
        *octets += pieces[i].count;
    }
    return 0;
}

static struct span_list *list_of(size_t count, size_t octets)
{
    struct span_list *list = malloc(sizeof(*list) + count * sizeof(list->spans[0]) + octets);

    if (list != NULL)
        *list = (struct span_list){.count = count};
    return list;
}

struct span_list *span_list_new(const struct iwarp_span *pieces, size_t count)
{
    struct span_list *list = list_of(count, 0);

    for (size_t i = 0; list != NULL && i < count; i++)
        list->spans[i] = (struct iwarp_buffer){(uint8_t *)(uintptr_t)pieces[i].octets, pieces[i].count};
    return list;
}

struct span_list *span_list_copy(const struct iwarp_span *pieces, size_t count, size_t octets)
{
    struct span_list *list = list_of(1, octets);
    uint8_t *to;

    if (list == NULL)
        return NULL;
    to = (uint8_t *)&list->spans[1];
    list->spans[0] = (struct iwarp_buffer){to, octets};
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].count != 0)
            memcpy(to, pieces[i].octets, pieces[i].count);
        to += pieces[i].count;
    }
    return list;
}

uint8_t *span_list_at(const struct span_list *list, uint64_t offset, size_t *octets)
{
    for (size_t i = 0; i < list->count; i++) {
        if (offset < list->spans[i].count) {
            *octets = (size_t)(list->spans[i].count - offset);
            return list->spans[i].octets + offset;
        }
        offset -= list->spans[i].count;
    }
    *octets = 0;
    return NULL;
}

void span_list_read(const struct span_list *list, uint64_t offset, uint8_t *to, size_t octets)
{
    while (octets != 0) {
        size_t here;
        const uint8_t *from = span_list_at(list, offset, &here);

        if (from == NULL)
            return;
        here = here < octets ? here : octets;
        memcpy(to, from, here);
        to += here;
        offset += here;
        octets -= here;
    }
}

void span_list_write(const struct span_list *list, uint64_t offset, const uint8_t *from, size_t octets)
{
    while (octets != 0) {
        size_t here;
        uint8_t *to = span_list_at(list, offset, &here);

        if (to == NULL)
            return;
        here = here < octets ? here : octets;
        memcpy(to, from, here);
        from += here;
        offset += here;
        octets -= here;
    }
}
