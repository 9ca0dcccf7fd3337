/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defects: deliberate faults, as data. A row of defects.tsv names a hook (validate, transmit, behaviour), a target, an
 * operation and a value; the head of that file documents them all. A set is the defects of one stream or peer.
 *
 * variants.tsv has rows of the same form for what the texts allow, and the stack does not do by itself: variants. For
 * each it also names the requirements that are shown as WARN all the same.
 */
#ifndef REFERENCE_STACK_DEFECT_H
#define REFERENCE_STACK_DEFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

/* One row, as text. */
struct defect {
    const char *id;
    const char *requirement; /* ids that it breaks, separated by commas: the checks and rules that should catch it; of a
                                variant: that allow it */
    const char *warns;       /* ids that report a variant as WARN, as their rows say; NULL: it is a defect */
    const char *hook;
    const char *target;
    const char *operation;
    const char *value;
    size_t line; /* of the table, from 1 */
};

struct cm_faults;
struct defect_list;
struct defect_set;
struct iwarp_faults;

/*
 * Parses rows (tab-separated, # comments, first line of names optional). NULL with a sentence that says line and field.
 * Every row is checked as defect_set_new() would.
 */
struct defect_list *defect_list_parse(const char *text, size_t octets, struct iwarp_sentence *sentence);

/* The same for rows of variants.tsv, which have one more field. */
struct defect_list *variant_list_parse(const char *text, size_t octets, struct iwarp_sentence *sentence);

/* The rows that the library carries (reference-stack/defects/defects.tsv, reference-stack/defects/variants.tsv). */
struct defect_list *defect_list_embedded(struct iwarp_sentence *sentence);
struct defect_list *variant_list_embedded(struct iwarp_sentence *sentence);
/* Those of the CM agent (reference-stack/defects/defects-cm.tsv). */
struct defect_list *defect_list_embedded_cm(struct iwarp_sentence *sentence);
void defect_list_free(struct defect_list *list);

size_t defect_list_count(const struct defect_list *list);
const struct defect *defect_list_at(const struct defect_list *list, size_t i);
const struct defect *defect_list_find(const struct defect_list *list, const char *id);
/* The id that a misspelt one was probably meant to be (base/nearest.h); NULL: none is near. */
const char *defect_nearest_id(const struct defect_list *list, const char *id);

/* Is `word` one of the words of the list, which commas separate? */
bool defect_is_among(const char *list, const char *word);

/* True when `id` is one of the defect's requirements. */
bool defect_breaks(const struct defect *defect, const char *requirement);

/* True when the variant is reported as WARN by that requirement. */
bool variant_warns(const struct defect *variant, const char *requirement);

/* True when the device takes IPv6 alone: a run needs addresses of that version. */
bool variant_takes_ipv6_alone(const struct defect *variant);

/* True when it acts only on DDP over SCTP, and has no effect over TCP. */
bool defect_acts_over_sctp(const struct defect *defect);

/* True when it is a defect of the CM agent (Annex A11). It does not apply over TCP or SCTP. */
bool defect_acts_over_cm(const struct defect *defect);

/*
 * The compact form of some defects of a list, to be put into iwarp_stream_config or peer_config. The list may be freed
 * afterwards. NULL with a sentence when an id is unknown.
 */
struct defect_set *defect_set_new(const struct defect_list *list, const char *const *ids, size_t count,
                                  struct iwarp_sentence *sentence);

/*
 * Adds more, of the same list or of another: *set may be NULL, and is made then. -1 with a sentence; *set stays the
 * caller's to free.
 */
int defect_set_add(struct defect_set **set, const struct defect_list *list, const char *const *ids, size_t count,
                   struct iwarp_sentence *sentence);

/* What carries the device's DDP, or the CM agent: where a device has choices (choice.h). */
enum choice_layer { CHOICE_TCP, CHOICE_SCTP, CHOICE_DRAFT, CHOICE_CM, CHOICE_LAYERS };

/* That of a device that is no CM agent: over TCP, or over SCTP by RFC 5043 or the draft. */
static inline enum choice_layer choice_layer_of(bool sctp, bool draft)
{
    return !sctp ? CHOICE_TCP : draft ? CHOICE_DRAFT : CHOICE_SCTP;
}

/*
 * Defects and variants by their names in the library's own lists, and a device's choices: NULL and no sentence when
 * there is nothing of these.
 */
struct defect_names {
    const char *const *defects;
    size_t defect_count;
    const char *const *variants;
    size_t variant_count;
    const char *choices; /* the seed that draws them, or as choice_device_text() writes them; NULL: none */
    enum choice_layer layer;
};
int defect_set_named(const struct defect_names *names, struct defect_set **set, struct iwarp_sentence *sentence);
void defect_set_free(struct defect_set *set);

/*
 * What a stream's, an association's or a device's configuration names (core/faults.h), and a CM agent's. NULL of NULL.
 */
const struct iwarp_faults *defect_set_faults(const struct defect_set *set);
const struct cm_faults *defect_set_cm_faults(const struct defect_set *set);

/*
 * A set without defects that notes what it is asked for. NULL with a sentence. defect_set_asked(): could the row have
 * changed anything of what was done with this set since it was made, or since defect_set_forget()? Where not, it would
 * have been done in the same way with the row; true also when memory is short.
 */
struct defect_set *defect_set_asking(struct iwarp_sentence *sentence);
void defect_set_forget(struct defect_set *set);
bool defect_set_asked(const struct defect_set *set, const struct defect *defect);

/*
 * Of such a set: did a subject meet the n-th entry of validation_table, and did one not hold there? Of a subject that
 * is refused, all entries of its stage are tried.
 */
bool defect_set_judged(const struct defect_set *set, size_t entry);
bool defect_set_refused(const struct defect_set *set, size_t entry);

/*
 * Of such a set: may the row, which changes what follows from the entry, have been about what was refused there? A row that is
 * confined to a range of numbers is about what lies in it (the least and the greatest number of what was refused count).
 * True where nothing was refused.
 */
bool defect_set_may_apply(const struct defect_set *set, const struct defect *defect, size_t entry);

/*
 * What legal variants might have done in the place of a stack whose set notes what was asked (false for any other set). One that
 * judges more than the table: has it refused something by this entry? One of those about DDP-SSNs: has it ended a session
 * over SCTP (SCTP5043-10-09, -11)?
 */
bool defect_set_may_refuse(const struct defect_set *set, size_t entry);
bool defect_set_may_end(const struct defect_set *set);

#endif
