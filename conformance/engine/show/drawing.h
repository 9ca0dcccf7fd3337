/* SPDX-License-Identifier: BSD-2-Clause */
/* Bit diagrams of headers as the RFCs draw them, made from wire/'s tables. */
#ifndef CONFORMANCE_ENGINE_DRAWING_H
#define CONFORMANCE_ENGINE_DRAWING_H

#include <stddef.h>

#include "conformance/requirements/catalogue.h"
#include "wire/field.h"

/*
 * Draws a layout 32 bits wide, with the ruler on top. A header that is longer than 32 bits and no multiple of them
 * ends at the right margin, as RFC 5041 draws its headers. Names that do not fit their cell are cut.
 * Returns a string of lines that the caller frees; NULL if there is no memory.
 */
char *drawing_make(const struct wire_layout *layout);

/*
 * The list of fields that goes below a drawing: place (octet, and first bit within it), width, name, meaning, each
 * line at most width columns where the meaning can be wrapped. Returns a string that the caller frees, or NULL.
 */
char *drawing_legend(const struct wire_layout *layout, unsigned width);

#define DRAWING_LIMIT 3 /* layouts that one requirement can have */

/*
 * The layouts that belong to a requirement, the most useful first; returns how many (0: none of wire/'s headers shows
 * it).
 */
size_t drawing_layouts(const struct requirement *requirement, const struct wire_layout *layouts[DRAWING_LIMIT]);

#endif
