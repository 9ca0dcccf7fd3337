/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work in each form that its octets can be posted in; `chance` decides: in one run or in pieces, of which some are
 * empty, the library's copy or the caller's memory. What is copied is changed right afterwards.
 */
#ifndef TESTS_UNIT_CUT_WORK_H
#define TESTS_UNIT_CUT_WORK_H

#include "iwarp/stream.h"

int cut_receive(struct iwarp_stream *stream, uint64_t id, uint8_t *buffer, size_t octets, uint64_t chance);

/* Of at most 64 KiB. */
int cut_send(struct iwarp_stream *stream, const struct iwarp_send *send, uint64_t chance);
int cut_write(struct iwarp_stream *stream, const struct iwarp_write *write, uint64_t chance);

#endif
