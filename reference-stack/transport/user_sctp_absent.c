/* SPDX-License-Identifier: BSD-2-Clause */
/* user_sctp.h in a build without libusrsctp: each function says so, or does nothing. */
#include "reference-stack/transport/user_sctp.h"

#if !__has_include(<usrsctp.h>)
int user_sctp_start(struct iwarp_sentence *sentence)
{
    return iwarp_sentence_set(sentence,
                              "SCTP in user space: libusrsctp is not part of this build (Debian: libusrsctp-dev)");
}

void user_sctp_stop(void)
{
}

struct user_sctp *user_sctp_new(struct iwarp_association *association, const struct user_sctp_config *config,
                                uint64_t now, struct iwarp_sentence *sentence)
{
    (void)association;
    (void)config;
    (void)now;
    (void)user_sctp_start(sentence);
    return NULL;
}

void user_sctp_free(struct user_sctp *end)
{
    (void)end;
}

void user_sctp_input(struct user_sctp *end, const uint8_t *packet, size_t octets, uint64_t now)
{
    (void)end;
    (void)packet;
    (void)octets;
    (void)now;
}

void user_sctp_run(struct user_sctp *end, uint64_t now)
{
    (void)end;
    (void)now;
}

bool user_sctp_up(const struct user_sctp *end)
{
    (void)end;
    return false;
}

void user_sctp_pass(uint32_t milliseconds)
{
    (void)milliseconds;
}

void user_sctp_clock(uint64_t now)
{
    (void)now;
}

#endif
