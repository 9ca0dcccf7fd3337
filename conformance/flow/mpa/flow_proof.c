/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CRC is proof: octets that are an FPDU with a right CRC (RFC 5044 4.4) were framed by MPA, whatever is wrong with
 * the headers of DDP and RDMAP in them. One chance in four thousand million says otherwise. It is looked for where
 * segments begin; an FPDU that lies in several is followed by what its CRC would be, so that nothing has to be held.
 */
#include "conformance/flow/mpa/flow_mpa_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wire/crc32c.h"
#include "wire/marker.h"

enum {
    ATTEMPTS = 4,     /* followed at once: an FPDU may begin with any of so many segments */
    TRIES_MAX = 4096, /* of one side: a bound for what foreign streams cost */
    ENDS = 3,
};

/* An FPDU that may have begun. */
struct attempt {
    uint64_t at;         /* octets of it that came */
    uint64_t ends[ENDS]; /* where its CRC field stands, without Markers, and with as many as there may be */
    unsigned end_count, end;
    uint32_t crc, wanted;
    uint8_t field[FPDU_CRC_OCTETS];
};

struct flow_proof {
    unsigned tries;
    struct attempt attempts[ATTEMPTS];
};

static bool is_right(struct flow_common *common, const uint8_t *at, size_t count, const struct fpdu_framing *framing)
{
    const uint8_t *p = at;
    struct fpdu fpdu;

    return fpdu_parse(&p, at + count, framing, common->scratch, &fpdu) == WIRE_OK;
}

bool flow_proof_whole(struct flow_common *common, const uint8_t *at, size_t count, struct fpdu_framing *framing)
{
    *framing = (struct fpdu_framing){false, true, 0};
    if (count < FPDU_LENGTH_OCTETS + FPDU_CRC_OCTETS)
        return false;
    if (is_right(common, at, count, framing))
        return true;
    /* An FPDU has its first Marker where that says: so many octets after ULPDU_Length (4.3). */
    framing->markers = true;
    for (size_t marker = 0; marker < MARKER_SPACING && marker + MARKER_OCTETS <= count; marker += 4) {
        if (octets_get32(at + marker) != marker)
            continue;
        framing->position = marker == 0 ? 0 : MARKER_SPACING - (uint32_t)marker;
        if (is_right(common, at, count, framing))
            return true;
    }
    return false;
}

static void begin(struct attempt *attempt, const uint8_t *octets)
{
    size_t total = fpdu_octets(octets_get16(octets), false, 0), markers = total / MARKER_DATA;

    *attempt = (struct attempt){.crc = CRC32C_START};
    attempt->ends[attempt->end_count++] = total - FPDU_CRC_OCTETS;
    if (markers != 0)
        attempt->ends[attempt->end_count++] = total - FPDU_CRC_OCTETS + markers * MARKER_OCTETS;
    attempt->ends[attempt->end_count++] = total - FPDU_CRC_OCTETS + (markers + 1) * MARKER_OCTETS;
}

/* Gives the attempt octets. True: its FPDU ends with the first *taken of them, and the CRC is right. */
static bool follow(struct attempt *attempt, const uint8_t *octets, size_t count, size_t *taken)
{
    size_t used = 0;

    while (used < count && attempt->end < attempt->end_count) {
        uint64_t end = attempt->ends[attempt->end];
        uint64_t run = attempt->at < end ? end - attempt->at : end + FPDU_CRC_OCTETS - attempt->at;

        run = run < count - used ? run : count - used;
        if (attempt->at >= end)
            memcpy(attempt->field + (attempt->at - end), octets + used, run);
        attempt->crc = crc32c_update(attempt->crc, octets + used, run);
        attempt->at += run;
        used += run;
        if (attempt->at == end)
            attempt->wanted = crc32c_value(attempt->crc);
        if (attempt->at != end + FPDU_CRC_OCTETS)
            continue;
        *taken = used;
        if (octets_get32_little(attempt->field) == attempt->wanted)
            return true;
        attempt->end++;
        if (attempt->end < attempt->end_count && attempt->at == attempt->ends[attempt->end])
            attempt->wanted = crc32c_value(attempt->crc);
    }
    return false;
}

enum flow_proof_found flow_proof_octets(struct flow_side *side, const uint8_t *octets, size_t count, bool first,
                                        size_t *after)
{
    struct flow_proof *proof = side->proof;
    bool found = false;

    if (first && count >= FPDU_LENGTH_OCTETS && (proof == NULL || proof->tries < TRIES_MAX)) {
        unsigned free_one = 0;

        if (proof == NULL && (proof = side->proof = calloc(1, sizeof(*proof))) == NULL)
            return FLOW_PROOF_NONE;
        while (free_one < ATTEMPTS && proof->attempts[free_one].end < proof->attempts[free_one].end_count)
            free_one++;
        if (free_one < ATTEMPTS) {
            proof->tries++;
            begin(&proof->attempts[free_one], octets);
        }
    }
    for (unsigned i = 0; proof != NULL && i < ATTEMPTS && !found; i++) {
        struct attempt *attempt = &proof->attempts[i];

        if (follow(attempt, octets, count, after)) {
            found = true;
            if (attempt->end != 0)
                return FLOW_PROOF_MARKED;
        }
    }
    return found ? FLOW_PROOF_NEXT : FLOW_PROOF_NONE;
}

void flow_proof_release(struct flow_side *side)
{
    free(side->proof);
    side->proof = NULL;
}
