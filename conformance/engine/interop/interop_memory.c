/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_memory.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERN = 251 };

void interop_region_read(struct interop_region *region, const json_t *answer)
{
    const char *base = interop_text(answer, "base", "0");

    region->stag = json_integer_value(json_object_get(answer, "stag"));
    region->base = strtoull(base, NULL, strncmp(base, "0x", 2) == 0 ? 16 : 10);
}

int interop_region(struct interop_exchange *x, enum interop_side side, json_int_t octets, json_t *access, bool counted,
                   struct interop_region *region)
{
    json_t *answer = NULL, *request = json_pack("{s:s, s:I, s:o, s:o}", "verb", "reg_mr", "length", octets, "access",
                                                access, "fill", counted ? json_string("count") : json_integer(0));

    if (interop_tell(x, side, request, &answer) != 0)
        return -1;
    interop_region_read(region, answer);
    json_decref(answer);
    return 0;
}

json_t *interop_to(const struct interop_region *region, json_int_t offset)
{
    uint64_t to = region->base + (uint64_t)offset;

    return json_sprintf("0x%llx", (unsigned long long)to);
}

json_t *interop_write(const struct interop_exchange *x, enum interop_side from, json_int_t stag,
                      const struct interop_region *target, json_int_t offset, json_int_t octets)
{
    json_t *request = interop_work(x, from, "write");

    (void)json_object_set_new(request, "stag", json_integer(stag));
    (void)json_object_set_new(request, "to", interop_to(target, offset));
    (void)json_object_set_new(request, "length", json_integer(octets));
    return request;
}

json_t *interop_read(const struct interop_exchange *x, enum interop_side from, const struct interop_region *source,
                     const struct interop_region *sink, json_int_t octets)
{
    json_t *request = interop_work(x, from, "read");

    (void)json_object_set_new(request, "source_stag", json_integer(source->stag));
    (void)json_object_set_new(request, "source_to", interop_to(source, 0));
    (void)json_object_set_new(request, "sink_stag", json_integer(sink->stag));
    (void)json_object_set_new(request, "sink_to", interop_to(sink, 0));
    (void)json_object_set_new(request, "length", json_integer(octets));
    return request;
}

static unsigned hex_octet(const char *hex)
{
    char text[3] = {hex[0], hex[1], '\0'}, *end;
    unsigned long octet = strtoul(text, &end, 16);

    return *end == '\0' && end == text + 2 ? (unsigned)octet : UINT16_MAX;
}

/* The first octet that is not as expected; `octets`: none. */
static json_int_t first_wrong(const char *hex, json_int_t octets, json_int_t counted)
{
    for (json_int_t i = 0; i < octets; i++)
        if (hex[2 * i] == '\0' || hex_octet(hex + 2 * i) != (i < counted ? (unsigned)(i % PATTERN) : 0))
            return i;
    return octets;
}

bool interop_is_pattern(const char *hex, json_int_t octets)
{
    return strlen(hex) == (size_t)octets * 2 && first_wrong(hex, octets, octets) == octets;
}

int interop_compare(struct interop_exchange *x, enum interop_side side, const struct interop_region *region,
                    json_int_t octets, json_int_t counted, const char *what)
{
    json_t *answer;
    const char *data;
    json_int_t wrong;
    int rc = 0;

    if (interop_tell(x, side, json_pack("{s:s, s:I}", "verb", "mem_read", "stag", region->stag), &answer) != 0)
        return -1;
    data = interop_text(answer, "data", "");
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
