/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One capture, a file or the files of a ring: frames are numbered through, and each number leads back to a file
 * and the frame's number in it.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_SERIES_H
#define CONFORMANCE_ENGINE_CAPTURE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "conformance/engine/capture/capture_filter.h"
#include "conformance/engine/capture/capture_ring.h"
#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"
#include "base/sentence.h"

struct capture_series; /* opaque */

/*
 * Opens the file at `path`, or where `ring` is not NULL its files, which are put in order (capture_ring_order). Path
 * and ring outlive the series. NULL with the sentence set when no file of it can be read as a capture (capture_open),
 * or without memory.
 */
struct capture_series *capture_series_open(const char *path, struct capture_ring *ring, struct iwarp_sentence *error);

/*
 * From now on frames that the filter does not want are counted, and not returned. It outlives the series; NULL: none.
 */
void capture_series_filter(struct capture_series *series, const struct capture_filter *filter);

/*
 * As capture_next(). A file of a ring that breaks off or is no capture does not end the series: the next one follows,
 * and the end gives -1 with the sentence of the first such file. A file of a ring without an octet has no frames.
 */
int capture_series_next(struct capture_series *series, struct flow_frame *frame, struct iwarp_sentence *error);

/* Begins again with the first frame. 0, or -1 with the sentence set when a file cannot be opened again. */
int capture_series_rewind(struct capture_series *series, struct iwarp_sentence *error);

/* As capture_place(), in the file of the frame that was given last. */
bool capture_series_place(const struct capture_series *series, const struct flow_frame *frame, uint64_t *offset);

/*
 * The file and the frame in it that frame `number` of the series is; 0 is 0 of the first file. The path lives as long
 * as the series' paths.
 */
const char *capture_series_where(const struct capture_series *series, uint64_t number, uint64_t *frame);

/* True when frames come of several files: then numbers of the series must not be shown. */
bool capture_series_several(const struct capture_series *series);

/*
 * The text with numbers of the series ("frame 12") replaced by a number and a file ("frame 3 of dump.pcap1"), in
 * `sentence`; in the file `file` by the number alone. The text itself when there is nothing to replace; NULL for NULL.
 */
const char *capture_series_reword(const struct capture_series *series, const char *text, const char *file,
                                  struct iwarp_sentence *sentence);

/*
 * Gives the steps of a ladder (reports/results/result.h) the numbers that their frames have in their files, a member
 * "file" where that is not `file`, and a note where the ladder goes over to another file. -1 without memory.
 */
int capture_series_name_steps(const struct capture_series *series, json_t *steps, const char *file);

/* Adds what the files have other than frames (capture_account), the files missing in a ring, and the empty files. */
void capture_series_account(const struct capture_series *series, struct flow_account *account);

uint64_t capture_series_frames(const struct capture_series *series);    /* given so far */
bool capture_series_is_rereadable(const struct capture_series *series); /* it can be read a second time */
void capture_series_close(struct capture_series *series);               /* NULL is allowed */

#endif
