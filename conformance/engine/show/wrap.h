/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for people: wrapped at word boundaries to a terminal's width. */
#ifndef CONFORMANCE_ENGINE_WRAP_H
#define CONFORMANCE_ENGINE_WRAP_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes text to out, wrapped at width columns, newline at the end. column: how many columns the current line has
 * already; indent: spaces at the head of every further line. A word that is too long stands alone on its line.
 */
void wrap_print(FILE *out, const char *text, unsigned width, unsigned column, unsigned indent);

/* Columns of the terminal that fd is; COLUMNS where set, 80 where fd is no terminal. Between 40 and 400. */
unsigned wrap_width(int fd);

/* May colour be used on fd: a terminal, and NO_COLOR not set? */
bool wrap_colour(int fd);

#endif
