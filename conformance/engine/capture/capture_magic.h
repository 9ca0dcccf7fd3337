/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is by its first octets: a capture, something that may have captures in it, or certainly none. */
#ifndef CONFORMANCE_ENGINE_CAPTURE_MAGIC_H
#define CONFORMANCE_ENGINE_CAPTURE_MAGIC_H

#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow_account.h"

enum { CAPTURE_MAGIC_OCTETS = 512 }; /* enough to recognise the format */

/*
 * The row of a file that begins with these octets, CAPTURE_MAGIC_OCTETS of them if it is as long. FLOW_ROWS: a capture
 * that is read. FLOW_ROW_FILE is a file that is known to be something else: text, and formats of other things. An
 * unknown one is FLOW_ROW_FILE_UNKNOWN, for some captures begin with no sign.
 */
enum flow_row capture_magic_row(const uint8_t *octets, size_t count);

#endif
