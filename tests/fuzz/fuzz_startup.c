/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA start-up frames out of any octets, read as a Request and as a Reply. Besides not reading past the end:
 *  - what is accepted comes back octet for octet from the packer;
 *  - every shorter piece of what is accepted asks for more, and what is refused stays refused when more octets come.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "wire/mpa.h"

static wire_result parse(const uint8_t *octets, size_t count, enum iwarp_mpa_start_kind kind,
                         struct iwarp_mpa_start *start, size_t *used)
{
    uint8_t *copy = fuzz_copy(octets, count);
    const uint8_t *p = copy;
    wire_result result = mpa_start_parse(&p, copy + count, kind, start);

    *used = (size_t)(p - copy);
    FUZZ_HOLDS(*used <= count && (result == WIRE_OK) == (*used != 0));
    if (result == WIRE_OK) {
        /* Borrowed pointers stay inside the octets; only then is the copy given back. */
        FUZZ_HOLDS(start->private_data >= copy && start->private_data + start->private_octets <= copy + count);
        start->private_data = octets + (start->private_data - copy);
    }
    free(copy);
    return result;
}

static void expect_same_when_packed(const struct iwarp_mpa_start *parsed, const uint8_t *octets, size_t count)
{
    struct iwarp_mpa_start start = *parsed;
    uint8_t packed[MPA_START_MAX];
    size_t ulp;

    start.private_data = iwarp_mpa_start_ulp_data(parsed, &ulp);
    start.private_octets = (uint16_t)ulp;
    FUZZ_HOLDS(mpa_start_pack(&start, packed, sizeof(packed)) == count);
    FUZZ_HOLDS(memcmp(packed, octets, count) == 0);
    FUZZ_HOLDS(mpa_start_pack(&start, packed, count - 1) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int kind = IWARP_MPA_REQUEST; kind <= IWARP_MPA_REPLY; kind++) {
        struct iwarp_mpa_start start, shorter;
        size_t used, some;
        wire_result result = parse(data, size, (enum iwarp_mpa_start_kind)kind, &start, &used);

        FUZZ_HOLDS(result == WIRE_OK || result == WIRE_MORE || result == TERM_MPA_START_FRAME);
        if (result == WIRE_OK) {
            FUZZ_HOLDS(mpa_start_kind_of(data, size) == kind);
            expect_same_when_packed(&start, data, used);
        }
        bool refused = false;

        for (size_t cut = 0; cut < size && cut <= MPA_START_MAX; cut++) {
            wire_result early = parse(data, cut, (enum iwarp_mpa_start_kind)kind, &shorter, &some);

            refused = refused || wire_is_error(early);
            FUZZ_HOLDS(!refused || early == TERM_MPA_START_FRAME);
            FUZZ_HOLDS(result != WIRE_OK || cut >= used || early == WIRE_MORE);
            FUZZ_HOLDS(result != WIRE_MORE || early == WIRE_MORE);
        }
        FUZZ_HOLDS(!refused || result == TERM_MPA_START_FRAME);
    }
    return 0;
}
