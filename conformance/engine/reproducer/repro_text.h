/* SPDX-License-Identifier: BSD-2-Clause */
/* The file around the steps of a reproducer: its head, the fixed parts, and the beginning of main(). */
#ifndef CONFORMANCE_ENGINE_REPRODUCER_TEXT_H
#define CONFORMANCE_ENGINE_REPRODUCER_TEXT_H

#include "conformance/engine/reproducer/repro_write.h"

/* The comment at the top: the result, and how the program is called, with these arguments. */
void repro_write_head(struct repro_writer *writer, const char *tool, const char *role, const char *arguments);

/* The blocks of this file of reports/assets/ that the steps need. */
void repro_write_fixed(struct repro_writer *writer, const char *file);

/* Writes the whole file. `steps`: the body of main() with its end. */
void repro_write_file(struct repro_writer *writer, const char *tool, const char *steps);

#endif
