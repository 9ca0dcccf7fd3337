/* SPDX-License-Identifier: BSD-2-Clause */
/* The file around the steps of a reproducer: its head, the fixed parts, and the beginning of main(). */
#ifndef CONFORMANCE_ENGINE_REPRODUCER_TEXT_H
#define CONFORMANCE_ENGINE_REPRODUCER_TEXT_H

#include "conformance/engine/reproducer/repro_write.h"

/* Writes the whole file. `steps`: the body of main() with its end. */
void repro_write_file(struct repro_writer *writer, const char *tool, const char *steps);

#endif
