/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folders of captures. Whether a file is a capture is decided by its first octets, not by its name: a ring of tcpdump
 * -C has dump.pcap1, and others have dump.1 or no suffix at all. A file that is not read is listed with the reason, or
 * only counted when it is certainly no capture. The files of a ring are one capture.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_FOLDER_H
#define CONFORMANCE_ENGINE_CAPTURE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/capture/capture_ring.h"
#include "conformance/flow/event/flow_account.h"
#include "base/sentence.h"

/* A file or folder that is not read and could hold captures. */
struct capture_skipped {
    char *path;
    enum flow_row row;
};

/* Paths of captures, owned by the list. Begin with {0}. */
struct capture_list {
    char **paths; /* of a ring: its file with the lowest number */
    /* As many, once capture_list_rings() was called, each NULL where the path is no ring; before that NULL. */
    struct capture_ring **rings;
    size_t count, room;
    struct capture_skipped *skipped;
    size_t skipped_count, skipped_room;
    struct flow_account account; /* files that are no captures, files reached twice; what is skipped is not in it */
};

/*
 * Adds a file as it is; of a folder every capture below it, sorted by name, and what is skipped. A link to a file is
 * followed. A link to a folder is not: its target is in the folder anyway, or is skipped. 0, or -1 with the sentence
 * set; a folder without captures adds nothing.
 */
int capture_list_add(struct capture_list *list, const char *path, struct iwarp_sentence *error);

/*
 * Replaces the files of each ring by one entry, at the place of its first file. To be called once, when all files are
 * added. -1 with the sentence set without memory.
 */
int capture_list_rings(struct capture_list *list, struct iwarp_sentence *error);

/* The ring of an entry, NULL: it is a file alone. */
struct capture_ring *capture_list_ring(const struct capture_list *list, size_t index);

/* Frees the entries for which keep[] is false; the others stay in their order. */
void capture_list_keep(struct capture_list *list, const bool *keep);

/*
 * True when the name is that of a capture: *.pcap, *.pcapng, *.cap, with a ring's number after it or without. In a
 * folder such a file is read even when it does not begin like a capture: something is wrong with it then.
 */
bool capture_name(const char *name);

/*
 * Why the file at `path` cannot be read, if its first octets show that: "a compressed file is not read: ...". NULL:
 * they do not.
 */
const char *capture_obstacle(const char *path);

/*
 * The paths of all files, those of rings too, without standard input; the array is the caller's to free(). NULL without
 * memory.
 */
const char **capture_list_files(const struct capture_list *list, size_t *count);

void capture_list_free(struct capture_list *list);

#endif
