/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The catalogue: every requirement that warpcheck knows, one row of conformance/requirements/<family>.tsv each.
 *
 * The files are compiled in. conformance/requirements/README.md says what the columns mean and how a requirement
 * is judged. All strings are plain ASCII, NUL-terminated, and live as long as the catalogue that holds them.
 */
#ifndef CONFORMANCE_REQUIREMENTS_CATALOGUE_H
#define CONFORMANCE_REQUIREMENTS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

struct iwarp_sentence;
struct catalogue;

/* How binding a requirement is. MUST_FORMAT is a binding statement of a text that uses no RFC 2119 keyword. */
enum requirement_level {
    REQUIREMENT_MUST,
    REQUIREMENT_MUST_NOT,
    REQUIREMENT_MUST_FORMAT,
    REQUIREMENT_SHALL,
    REQUIREMENT_SHOULD,
    REQUIREMENT_SHOULD_NOT,
    REQUIREMENT_MAY,
    REQUIREMENT_LEVELS
};

/* The lowest protocol layer whose octets show whether the requirement is kept. */
enum requirement_layer {
    REQUIREMENT_LAYER_TCP,
    REQUIREMENT_LAYER_SCTP,
    REQUIREMENT_LAYER_MPA,
    REQUIREMENT_LAYER_DDP,
    REQUIREMENT_LAYER_RDMAP,
    REQUIREMENT_LAYER_CM,
    REQUIREMENT_LAYER_ULP,
    REQUIREMENT_LAYERS
};

enum requirement_observability {
    REQUIREMENT_ACTIVE,  /* needs a stimulus */
    REQUIREMENT_PASSIVE, /* seen in traffic that the device sends anyway */
    REQUIREMENT_LOCAL,   /* needs the upper tester or an instrumented stack */
    REQUIREMENT_SPEC,    /* binds a document or a person, not a device */
    REQUIREMENT_OBSERVABILITIES
};

/* Columns of the TSV files, in order. */
enum requirement_column {
    COLUMN_ID,
    COLUMN_SOURCE,
    COLUMN_SECTION,
    COLUMN_LEVEL,
    COLUMN_SUBJECT,
    COLUMN_LAYER,
    COLUMN_OBSERVABILITY,
    COLUMN_TEXT,
    COLUMN_STIMULUS,
    COLUMN_OUTCOMES,
    COLUMN_CAPABILITY,
    COLUMN_DEFECT,
    COLUMN_AMBIGUITY,
    REQUIREMENT_COLUMNS
};

struct requirement {
    const char *column[REQUIREMENT_COLUMNS]; /* every cell as written; "" where the cell is empty, never NULL */

    /* The same cells under their names. */
    const char *id;      /* "MPA-7.1.2-05"; never changes its meaning */
    const char *source;  /* "RFC5044", "draft-ietf-storm-rdmap-ext-03", "IBTA-A11" */
    const char *section; /* "7.1.2", "Appendix B", "A11.4.2" */
    const char *subject; /* initiator, responder, both, sender, receiver, data-source, data-sink, implementation, ulp */
    const char *text;    /* the requirement in our own words */
    const char *stimulus;   /* what the tester does; "-" where nothing */
    const char *outcomes;   /* what the text allows */
    const char *capability; /* predicate over PICS items (requirements/pics.h): "always", "mpa.rev2 & rtr.send" */
    const char *defect;     /* the smallest defect that a check has to catch */
    const char *ambiguity;  /* the readings that the texts allow; "" where there is one only */

    enum requirement_level level;
    enum requirement_layer layer;
    enum requirement_observability observability;

    const char *file; /* path of the TSV file, and the line (from 1) that holds the row */
    unsigned line;
    size_t index; /* position in the catalogue, from 0; usable as index into an array of catalogue_count() entries */
};

/* A file of the catalogue as octets: path for error sentences, octets need no terminating NUL. */
struct catalogue_source {
    const char *path;
    const void *octets;
    size_t size;
};

/*
 * Parses the compiled-in files, once; *catalogue is owned by the caller, who frees it with catalogue_free().
 * Returns 0, or -1 with "<file>:<line>: what is wrong" in error (which may be NULL) and *catalogue NULL.
 */
int catalogue_load(struct catalogue **catalogue, struct iwarp_sentence *error);

/* The same with one more file after the compiled-in ones: requirements that a user wrote. */
int catalogue_load_with(struct catalogue **catalogue, const struct catalogue_source *more,
                        struct iwarp_sentence *error);

/* The same from the caller's octets, in the order given. The octets are copied. */
int catalogue_parse(struct catalogue **catalogue, const struct catalogue_source *sources, size_t source_count,
                    struct iwarp_sentence *error);

void catalogue_free(struct catalogue *catalogue);

size_t catalogue_count(const struct catalogue *catalogue);

/* The index-th requirement in file order (mpa, empa, ddp, rdmap, atom, sctp, a11); NULL beyond the last one. */
const struct requirement *catalogue_at(const struct catalogue *catalogue, size_t index);

/* The requirement of that id (exact, case matters); NULL if there is none. */
const struct requirement *catalogue_find(const struct catalogue *catalogue, const char *id);

/*
 * Fills nearest[] with up to limit requirements whose ids are closest to the misspelt id (edit distance, case ignored),
 * best first; returns how many. Ids that differ too much are left out.
 */
size_t catalogue_nearest(const struct catalogue *catalogue, const char *id, const struct requirement **nearest,
                         size_t limit);

/* FNV-1a (64 bits) over the octets of the files in order: 16 hexadecimal digits. Owned by the catalogue. */
const char *catalogue_digest(const struct catalogue *catalogue);

/* A requirement whose breach is a WARN and no FAIL: SHOULD, SHOULD NOT. */
bool requirement_is_should(const struct requirement *requirement);

/* A permission: a device that does not use it breaks nothing; the row says what has to be tolerated. */
bool requirement_is_may(const struct requirement *requirement);

/* The texts allow two readings: the verdict is AMBIGUOUS and says which one the device took. */
bool requirement_is_ambiguous(const struct requirement *requirement);

/* Does the requirement bind a device in that role ("initiator" or "responder")? Other subjects bind both roles. */
bool requirement_binds(const struct requirement *requirement, const char *role);

/* "MUST", "MUST NOT", "MUST(format)", ...; "TCP"...; "active"...; as the TSV spells them. */
const char *requirement_level_name(enum requirement_level level);
const char *requirement_layer_name(enum requirement_layer layer);
const char *requirement_observability_name(enum requirement_observability observability);

/* "id", "source", ... as the header line spells them and as `list --format jsonl` names its members. */
const char *requirement_column_name(enum requirement_column column);

#endif
