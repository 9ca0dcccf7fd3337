/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/option/shard.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* A number without sign or blanks before it; 0 when there is none, or it is too large. */
static unsigned number_of(const char *text, char **end)
{
    unsigned long number = 0;

    *end = (char *)text;
    if (isdigit((unsigned char)text[0]))
        number = strtoul(text, end, 10);
    return number <= SHARDS_MAX ? (unsigned)number : 0;
}

int shard_parse(struct shard *shard, const char *text, struct iwarp_sentence *error)
{
    char *end;
    unsigned index = number_of(text, &end);
    unsigned of = *end == '/' ? number_of(end + 1, &end) : 0;

    if (index == 0 || of == 0 || *end != '\0' || index > of)
        return iwarp_sentence_set(error, "--shard \"%.40s\": i/n was expected, from 1/n to n/n, n at most %d", text,
                                  SHARDS_MAX);
    *shard = (struct shard){index, of};
    return 0;
}

void shard_label(const struct shard *shard, char *text, size_t room)
{
    (void)snprintf(text, room, "%u/%u", shard->index, shard->of);
}

struct unit {
    uint64_t weight;
    size_t index;
};

/* The heaviest first; of equals the one that stands first. */
static int unit_order(const void *a, const void *b)
{
    const struct unit *left = a, *right = b;

    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

static unsigned lightest(const uint64_t *loads, unsigned of)
{
    unsigned least = 0;

    for (unsigned i = 1; i < of; i++)
        if (loads[i] < loads[least])
            least = i;
    return least;
}

int shard_assign(const uint64_t *weights, size_t count, unsigned of, unsigned *owner, struct iwarp_sentence *error)
{
    struct unit *units = calloc(count + 1, sizeof(*units));
    uint64_t *loads = calloc((size_t)of + 1, sizeof(*loads));

    if (units == NULL || loads == NULL) {
        free(units);
        free(loads);
        return iwarp_sentence_set(error, "out of memory for the division into shards");
    }
    for (size_t i = 0; i < count; i++)
        units[i] = (struct unit){weights[i], i};
    qsort(units, count, sizeof(*units), unit_order);
    for (size_t i = 0; i < count; i++) {
        unsigned least = lightest(loads, of);

        loads[least] += units[i].weight;
        owner[units[i].index] = least + 1;
    }
    free(units);
    free(loads);
    return 0;
}

void shard_digest_show(uint64_t digest, char text[SHARD_DIGEST_OCTETS])
{
    (void)snprintf(text, SHARD_DIGEST_OCTETS, "%016" PRIx64, digest);
}
