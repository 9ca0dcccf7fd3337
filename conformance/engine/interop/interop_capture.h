/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The captures of an interoperability matrix: the interfaces are opened once, before the command is confined; each
 * exchange gets the frames of its own TCP port, with its steps as packet comments.
 */
#ifndef CONFORMANCE_ENGINE_INTEROP_CAPTURE_H
#define CONFORMANCE_ENGINE_INTEROP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

struct interop_capture; /* of one interface */

/* NULL with a sentence. */
struct interop_capture *interop_capture_open(const char *interface, struct iwarp_sentence *error);
const char *interop_capture_interface(const struct interop_capture *capture);
void interop_capture_close(struct interop_capture *capture); /* NULL is allowed */

/* Begins an exchange: frames go to this open file, which the capture owns from now on. 0, or -1 with a sentence. */
int interop_capture_begin(struct interop_capture *capture, int file, const char *name, struct iwarp_sentence *error);

/* The exchange's port is known: from now on its frames are kept. */
void interop_capture_port(struct interop_capture *capture, uint16_t port);

/* A step of the exchange: the comment of the next frame. */
void interop_capture_note(struct interop_capture *capture, const char *text);

/* Takes the frames that have come. */
void interop_capture_drain(struct interop_capture *capture);

/* Ends it. *frames: how many are in the file; *lost: how many the system dropped. 0, or -1 with a sentence. */
int interop_capture_end(struct interop_capture *capture, uint64_t *frames, uint64_t *lost,
                        struct iwarp_sentence *error);

#endif
