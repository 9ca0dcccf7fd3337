/* SPDX-License-Identifier: BSD-2-Clause */
/* The layer below DDP that a check drives, as scripts name it. */
#ifndef CONFORMANCE_ENGINE_RIG_LLP_H
#define CONFORMANCE_ENGINE_RIG_LLP_H

#include <stdbool.h>

#include "wire/ddp_sctp.h"

/*
 * "tcp" (NULL is the same): UNDECIDED, which is MPA over TCP; "sctp": RFC 5043; "sctp-draft02". False: another name,
 * and *sctp is as it was.
 */
bool rig_llp_parse(const char *name, enum iwarp_sctp_profile *sctp);

/* The name of what a rig carries DDP with: "tcp" where it is UNDECIDED. */
const char *rig_llp_name(enum iwarp_sctp_profile sctp);

#endif
