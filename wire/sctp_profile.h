/* SPDX-License-Identifier: BSD-2-Clause */
/* The two texts of DDP over SCTP, draft-stewart-rddp-sctp-02 and RFC 5043; wire/ddp_sctp.h has their messages. */
#ifndef IWARP_WIRE_SCTP_PROFILE_H
#define IWARP_WIRE_SCTP_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

enum iwarp_sctp_profile { IWARP_SCTP_UNDECIDED, IWARP_SCTP_DRAFT02, IWARP_SCTP_RFC5043 };

#ifdef __cplusplus
}
#endif

#endif
