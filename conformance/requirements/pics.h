/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PICS: what a device is able to do (conformance/requirements/pics.tsv), and the predicates over these items that
 * the catalogue's capability column holds:
 *
 *     predicate = term { "|" term }        term = factor { "&" factor }
 *     factor    = "!" factor | "(" predicate ")" | item | "always" | "never"
 *
 * An item holds when its value is "yes", "true" or a number other than 0.
 */
#ifndef CONFORMANCE_REQUIREMENTS_PICS_H
#define CONFORMANCE_REQUIREMENTS_PICS_H

#include <stdbool.h>
#include <stddef.h>

enum { PICS_NUMBER_MAX = 999999999 }; /* the largest answer to an item that asks for a number */

struct iwarp_sentence;
struct pics;

struct pics_item {
    const char *name;     /* "mpa.rev2" */
    const char *question; /* what to ask the vendor */
    const char *fallback; /* value of the reference stack; also the value while nothing else is set */
    const char *meaning;
    const char *reported; /* what the upper tester's `capabilities` says of it: "ird_max", "rtr=send"; "-": nothing */
    const char *value;    /* the value now */
};

/*
 * Parses the compiled-in pics.tsv; every item has its default then. The caller frees *pics with pics_free().
 * Returns 0, or -1 with "<file>:<line>: what is wrong" in error.
 */
int pics_load(struct pics **pics, struct iwarp_sentence *error);

/* The same from the caller's octets, which are copied. */
int pics_parse(struct pics **pics, const char *path, const void *octets, size_t size, struct iwarp_sentence *error);

void pics_free(struct pics *pics);

size_t pics_count(const struct pics *pics);

/* The index-th item in file order; NULL beyond the last one. */
const struct pics_item *pics_at(const struct pics *pics, size_t index);

/* The item of that name, or NULL. */
const struct pics_item *pics_find(const struct pics *pics, const char *name);

/* Sets an item to a value ("yes", "no" or a decimal number); the value is copied. -1 with a sentence if the item is
 * unknown or the value is none of these. */
int pics_set(struct pics *pics, const char *name, const char *value, struct iwarp_sentence *error);

/*
 * Sets the items for a run that drives CM. `reference`: the device is the reference stack on the simulated link, which
 * has the service and can switch it off. Returns -1 with a sentence.
 */
int pics_set_cm(struct pics *pics, bool reference, struct iwarp_sentence *error);

/*
 * Sets the items for a run over SCTP: the device carries DDP over SCTP by these texts. A `reference` stack that has RFC
 * 5043's sessions has RFC 6581's sessions too. Returns 0, or -1 with a sentence.
 */
int pics_set_sctp(struct pics *pics, bool rfc5043, bool draft02, bool reference, struct iwarp_sentence *error);

/* Does the item hold? False for an unknown item. */
bool pics_holds(const struct pics *pics, const char *name);

/* True if the item's default is a number, and not yes or no. */
bool pics_is_number(const struct pics_item *item);

/* The items that a capability predicate names, in the predicate's order, each once; at most limit. */
size_t pics_named(const struct pics *pics, const char *predicate, const struct pics_item **items, size_t limit);

/*
 * Evaluates a capability predicate: 1 if it holds, 0 if not, -1 with a sentence in error if it cannot be read or
 * names an unknown item. On 0, reason (may be NULL) gets the sentence that a SKIP verdict states, such as
 * "the profile says mpa.crc_off = no".
 */
int pics_evaluate(const struct pics *pics, const char *predicate, struct iwarp_sentence *reason,
                  struct iwarp_sentence *error);

/*
 * True if, by the profile, no traffic can exercise a requirement with this capability predicate: it is then not judged.
 * Items that say what a tester can do (upper_tester, instrumented) count as holding, as rules that watch need neither.
 * False for a predicate that cannot be read.
 */
bool pics_denies(const struct pics *pics, const char *predicate);

#endif
