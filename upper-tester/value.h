/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of the upper tester's protocol (docs/upper-tester.md): members of a command by type, words, and octets as hex
 * digits. Every program that obeys the protocol reads them with these functions: iwarp-peer, and the agent above a
 * device with verbs.
 *
 * Each function that reads a member leaves *value alone when the member is absent, and returns -1 with a sentence when
 * it is of another type or out of range.
 */
#ifndef UPPER_TESTER_VALUE_H
#define UPPER_TESTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/sentence.h"

/*
 * Words of the protocol, NULL at the end. The n-th word of a set is bit n of the enum (as in enum iwarp_rtr and
 * iwarp_access).
 */
extern const char *const upper_rtr_words[];
enum upper_rtr { UPPER_RTR_SEND = 1, UPPER_RTR_WRITE = 2, UPPER_RTR_READ = 4 };
extern const char *const upper_access_words[];
enum upper_access {
    UPPER_LOCAL_READ = 1,
    UPPER_LOCAL_WRITE = 2,
    UPPER_REMOTE_READ = 4,
    UPPER_REMOTE_WRITE = 8,
    UPPER_REMOTE_ATOMIC = 16,
};
/* A command names exactly one of these words; the enum value is the word's index. */
extern const char *const upper_accept_words[];
enum upper_accept { UPPER_ACCEPT_AUTO, UPPER_ACCEPT_MANUAL, UPPER_ACCEPT_REJECT };

/* -1 with a sentence when the member is absent. */
int upper_require(const json_t *command, const char *name, struct iwarp_sentence *sentence);

/*
 * A number from 0 to `most`: an integer, or a string ("42", "0xFFFFFFFFFFFFF000", never octal), as JSON libraries
 * differ beyond 2^53. Where `most` is UINT64_MAX a negative integer is accepted too, and read as two's complement.
 */
int upper_number(const json_t *command, const char *name, uint64_t most, uint64_t *value,
                 struct iwarp_sentence *sentence);
int upper_flag(const json_t *command, const char *name, bool *value, struct iwarp_sentence *sentence);
/* The string belongs to the command. */
int upper_string(const json_t *command, const char *name, const char **value, struct iwarp_sentence *sentence);
/* One of the words: its index. */
int upper_word(const json_t *command, const char *name, const char *const *words, unsigned *value,
               struct iwarp_sentence *sentence);
/* A list of the words: the bits of all that are in it. */
int upper_words(const json_t *command, const char *name, const char *const *words, unsigned *value,
                struct iwarp_sentence *sentence);

/* The member "rtr": a list of upper_rtr_words, at least one, each once. */
int upper_rtr_kinds(const json_t *command, unsigned *value, struct iwarp_sentence *sentence);

/*
 * At most `most` octets, out of a string of hex digits. Newly allocated (free()), and NULL when the member is absent.
 */
int upper_octets(const json_t *command, const char *name, size_t most, uint8_t **octets, size_t *count,
                 struct iwarp_sentence *sentence);
/*
 * The payload of a message: `data`, or `length` octets of the pattern. -1 with a sentence if the command has both.
 */
int upper_payload_once(const json_t *command, struct iwarp_sentence *sentence);
/* The octets as a string of hex digits; NULL without memory. */
json_t *upper_hex(const uint8_t *octets, size_t count);

/* The pattern that `length` and "count" ask for: 0, 1, ... 250, 0, 1, ... */
void upper_count(uint8_t *octets, size_t count);
/*
 * The contents that reg_mr asks for: `fill` (an octet, or "count"; without it 0) everywhere, then `data` over its
 * front.
 */
int upper_fill(const json_t *command, uint8_t *octets, size_t count, struct iwarp_sentence *sentence);

/* Is the word in `list`, whose words have a space between them? */
bool upper_in_list(const char *list, const char *word);

#endif
