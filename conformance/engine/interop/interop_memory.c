/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_memory.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PATTERN = 251 };

int interop_region(struct interop_exchange *x, enum interop_side side, json_int_t octets, json_t *access, bool counted,
                   struct upper_region *region)
{
    json_t *answer = NULL, *request = json_pack("{s:s, s:I, s:o, s:o}", "verb", "reg_mr", "length", octets, "access",
                                                access, "fill", counted ? json_string("count") : json_integer(0));

    if (interop_tell(x, side, request, &answer) != 0)
        return -1;
    upper_region_read(region, answer);
    json_decref(answer);
    return 0;
}

json_t *interop_write(const struct interop_exchange *x, enum interop_side from, json_int_t stag,
                      const struct upper_region *target, json_int_t offset, json_int_t octets)
{
    json_t *request = upper_side_write(&x->side[from]->upper, target, offset);

    (void)json_object_set_new(request, "stag", json_integer(stag));
    (void)json_object_set_new(request, "length", json_integer(octets));
    return request;
}

/* The first octet that is not as expected; `octets`: none. */
static json_int_t first_wrong(const char *hex, json_int_t octets, json_int_t counted)
{
    char due[3];

    for (json_int_t i = 0; i < octets; i++) {
        (void)snprintf(due, sizeof(due), "%02x", i < counted ? (unsigned)(i % PATTERN) : 0);
        if (strncasecmp(hex + 2 * i, due, 2) != 0)
            return i;
    }
    return octets;
}

bool interop_is_pattern(const char *hex, json_int_t octets)
{
    return strlen(hex) == (size_t)octets * 2 && first_wrong(hex, octets, octets) == octets;
}

int interop_compare(struct interop_exchange *x, enum interop_side side, const struct upper_region *region,
                    json_int_t octets, json_int_t counted, const char *what)
{
    json_t *answer;
    const char *data;
    json_int_t wrong;
    int rc = 0;

    if (interop_tell(x, side, json_pack("{s:s, s:I}", "verb", "mem_read", "stag", region->stag), &answer) != 0)
        return -1;
    data = upper_text(answer, "data", "");
    wrong = first_wrong(data, octets, counted);
    if (json_is_false(json_object_get(answer, "guarded")))
        rc = interop_fail(x, what, "octets around the memory of %s have changed", interop_name(x, side));
    else if (strlen(data) != (size_t)octets * 2)
        rc = interop_undecided(x, "%s shows %zu octets of a region of %lld", interop_name(x, side), strlen(data) / 2,
                               (long long)octets);
    else if (wrong != octets)
        rc = interop_fail(x, what, "octet %lld of %lld in the memory of %s is 0x%.2s", (long long)wrong,
                          (long long)octets, interop_name(x, side), data + 2 * wrong);
    json_decref(answer);
    return rc;
}
