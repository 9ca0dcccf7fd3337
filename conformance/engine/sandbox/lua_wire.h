/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire/ and the frame builder as Lua sees them: the table `wire`.
 *
 *   wire.pack(layout, fields)        header octets; fields by the table's identifiers, absent ones zero
 *   wire.unpack(layout, octets, at)  fields of the header at octet `at` (from 1, default 1), or nil when it is cut
 *   wire.fields(layout)              identifiers of its fields, in order
 *   wire.size(layout)                its octets
 *   wire.frame(ulpdu, options)       an FPDU: markers, crc, position; and overrides: length, pad, crc_value, crc_flip,
 *                                    crc_swapped, omit_crc, marker_index, marker_flip, marker_reserved
 *   wire.parse_start(octets, kind)   "request" or "reply": octets used and fields; nil, "more", octets due; or nil, triple
 *   wire.parse_fpdu(octets, framing) octets used and a table (ulpdu, length, crc_ok, ...); nil, "more", octets due
 *   wire.hint_fpdu(octets, framing)  another reading of these octets (wire/hint.h): its name and a sentence, or nil
 *   wire.hint_number(layout, field, expected, actual)  the same of a number in a field
 *   wire.hint_terminate(octets, M, D, R)  the same of what follows a Terminate's control word
 *   wire.hint_field(kind, field)     the cause of a field that is wrong (wire/hint_field.h): its name and a sentence; kind: opcode or word
 *   wire.hint_seen(name)             a cause that is an observation (wire/hint_seen.h): its name and words
 *   wire.crc32c(octets)              the CRC as a number
 *   wire.triple(name)                a registered error ("DDP_INVALID_QN") as its 16-bit word
 *   wire.describe(word)              that word in words
 *   wire.opcode(number)              name, tagged, queue number, header octets of an RDMAP opcode
 *   wire.hex(octets), wire.unhex(text)  octets as hexadecimal digits, and back
 */
#ifndef CONFORMANCE_ENGINE_LUA_WIRE_H
#define CONFORMANCE_ENGINE_LUA_WIRE_H

#include <lua.h>

/* Leaves the table on the stack. */
int lua_wire_open(lua_State *lua);

#endif
