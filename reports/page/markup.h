/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Markup (XML, XHTML that is also HTML, SVG) through libxml2's writer: the one place where text is escaped. After the
 * first error each call does nothing, and markup_save() returns the error.
 */
#ifndef REPORTS_MARKUP_H
#define REPORTS_MARKUP_H

#include "reports/file/place.h"
#include "base/sentence.h"

#include <stddef.h>

struct markup; /* opaque */

/* For main(), before anything else: libxml2 is silent, and notes where it has no memory (base/out_of_memory.h). */
void markup_library_begin(void);

/* A document in memory; NULL without memory. Free with markup_free(). */
struct markup *markup_new(void);
void markup_free(struct markup *markup);

/* "<?xml version="1.0" encoding="UTF-8"?>", or "<!DOCTYPE html>"; first of all. */
void markup_xml(struct markup *markup);
void markup_html(struct markup *markup);

/* Opens <name attribute="value" ...>: pairs of const char *, closed by NULL. A pair with a NULL value is left out. */
void markup_open(struct markup *markup, const char *name, ...) __attribute__((sentinel));

/* Closes the innermost element with an end tag of its own, as HTML wants it for all but its void elements. */
void markup_close(struct markup *markup);

/* The void elements of HTML (<meta ...>, <input ...>), and SVG's empty ones. */
void markup_void(struct markup *markup, const char *name, ...) __attribute__((sentinel));

/* Text, cleaned and escaped; NULL is empty text. */
void markup_text(struct markup *markup, const char *text);
void markup_textf(struct markup *markup, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* <name class="css">text</name>; css may be NULL. */
void markup_element(struct markup *markup, const char *name, const char *css, const char *text);

/* Octets as they are: only for the project's own style sheet and script. */
void markup_raw(struct markup *markup, const char *octets, size_t size);

/* Octets written so far. */
size_t markup_size(const struct markup *markup);

/* The document as it stands, NUL-terminated, alive until the next call; NULL after an error. Closes nothing. */
const char *markup_octets(struct markup *markup);

/*
 * Closes all open elements and writes the document: first to a temporary file in the same folder, which is then renamed
 * to `to`. 0 / -1.
 */
int markup_save(struct markup *markup, const struct place *to, struct iwarp_sentence *error);

#endif
