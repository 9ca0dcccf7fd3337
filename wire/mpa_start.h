/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A start-up frame of MPA (RFC 5044 7.1, RFC 6581 6) in host form; wire/mpa.h has its layout, and parses and packs it.
 */
#ifndef IWARP_WIRE_MPA_START_H
#define IWARP_WIRE_MPA_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { IWARP_MPA_PRIVATE_DATA_MAX = 512 }; /* RFC 5044 7.1; the enhanced word counts (RFC 6581 6) */

enum iwarp_mpa_start_kind { IWARP_MPA_REQUEST, IWARP_MPA_REPLY };

/* A start-up frame in host form. */
struct iwarp_mpa_start {
    enum iwarp_mpa_start_kind kind;
    bool markers;  /* M */
    bool crc;      /* C */
    bool rejected; /* R */
    bool enhanced; /* S as sent; the word is there only when Rev >= 2 too: see iwarp_mpa_start_has_word() */
    uint8_t reserved;
    uint8_t revision;
    uint16_t private_octets;            /* PD_Length, the enhanced word included */
    const uint8_t *private_data;        /* borrowed from the frame; the enhanced word included */
    bool peer_to_peer;                  /* A; this and the following only when iwarp_mpa_start_has_word() */
    bool rtr_send, rtr_write, rtr_read; /* B, C, D */
    uint16_t ird, ord;
};

/* Whether the Private Data begins with the enhanced word: Rev >= 2, S = 1 and room for it (RFC 6581 6). */
bool iwarp_mpa_start_has_word(const struct iwarp_mpa_start *start);

/* Private Data of the ULP: what follows the enhanced word, or all of it. */
const uint8_t *iwarp_mpa_start_ulp_data(const struct iwarp_mpa_start *start, size_t *octets);

#ifdef __cplusplus
}
#endif

#endif
