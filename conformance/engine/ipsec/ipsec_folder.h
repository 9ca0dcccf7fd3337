/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of the tester's charon: a folder that nobody else can read, with its configuration, its log and its socket.
 */
#ifndef CONFORMANCE_ENGINE_IPSEC_FOLDER_H
#define CONFORMANCE_ENGINE_IPSEC_FOLDER_H

#include <sys/types.h>

#include "conformance/engine/ipsec/ipsec_offer.h"

struct ipsec_folder {
    char path[64];
    off_t log_from; /* what ipsec_folder_log() begins with */
};

/* Makes it, with what the profile's files hold. -1 with a sentence; then nothing is left. */
int ipsec_folder_make(struct ipsec_folder *folder, const struct profile_ipsec *settings, struct iwarp_sentence *error);

/* Writes strongswan.conf, of a charon that makes ESP in the kernel, or itself. -1 with a sentence. */
int ipsec_folder_daemon(const struct ipsec_folder *folder, bool in_kernel, struct iwarp_sentence *error);

/* Writes swanctl.conf. -1 with a sentence. */
int ipsec_folder_offer(const struct ipsec_folder *folder, const struct ipsec_offer *offer,
                       const struct ipsec_ends *ends, struct iwarp_sentence *error);

/* What charon says from now on is what counts. */
void ipsec_folder_mark(struct ipsec_folder *folder);

/* What charon has said since then, its end if that is longer than `room`; printable, and terminated. */
void ipsec_folder_log(const struct ipsec_folder *folder, char *text, size_t room);

/* What charon and swanctl say has words of the peer in it, such as identities: octets that cannot be printed become "?". */
void ipsec_folder_print(char *text);

/* Is charon's socket there, and does somebody listen? */
bool ipsec_folder_ready(const struct ipsec_folder *folder);

/* Removes it with all that is in it. */
void ipsec_folder_remove(const struct ipsec_folder *folder);

#endif
