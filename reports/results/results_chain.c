/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/results_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/crc32c.h"

enum { DIGEST_OCTETS = 9 };

void results_chain_add(struct results_chain *chain, const char *octets, size_t count)
{
    const char *end = octets + count;

    chain->state = crc32c_update(chain->state, (const uint8_t *)octets, count);
    for (const char *at = octets; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        chain->lines++;
}

static void digest_of(const struct results_chain *chain, char text[DIGEST_OCTETS])
{
    (void)snprintf(text, DIGEST_OCTETS, "%08" PRIx32, crc32c_value(chain->state));
}

int results_chain_set(const struct results_chain *chain, json_t *summary)
{
    char digest[DIGEST_OCTETS];

    digest_of(chain, digest);
    return json_object_set_new(summary, "chain",
                               json_pack("{s:I, s:s}", "lines", (json_int_t)chain->lines, "crc32c", digest));
}

bool results_chain_differs(const struct results_chain *chain, const json_t *summary)
{
    const json_t *member = json_object_get(summary, "chain");
    const char *theirs = json_string_value(json_object_get(member, "crc32c"));
    char digest[DIGEST_OCTETS];

    digest_of(chain, digest);
    return json_is_object(member) &&
           (json_integer_value(json_object_get(member, "lines")) != (json_int_t)chain->lines || theirs == NULL ||
            strcmp(theirs, digest) != 0);
}
