/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One-to-one sockets of the kernel's SCTP (RFC 6458): their options, messages and events. Errors are errno's, as the
 * kernel has them.
 */
#ifndef REFERENCE_STACK_KERNEL_SCTP_SOCKET_H
#define REFERENCE_STACK_KERNEL_SCTP_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "iwarp/sctp.h"
#include "base/sentence.h"

struct kernel_sctp_socket_config {
    size_t mtu;
    bool fragments;
    uint16_t udp_port; /* of the peer; 0: SCTP over IP */
};

/* A socket of the kernel's SCTP, which does not block. -1 with a sentence: the kernel has none, or no more sockets. */
int kernel_sctp_socket(int family, struct iwarp_sentence *sentence);

/* Before it listens or connects. -1 with a sentence that names the option. */
int kernel_sctp_socket_configure(int descriptor, const struct kernel_sctp_socket_config *config,
                                 struct iwarp_sentence *sentence);

/* The indication and the streams of its INIT or INIT ACK. -1 with a sentence. */
int kernel_sctp_socket_offer(int descriptor, const struct iwarp_sctp_init *init, struct iwarp_sentence *sentence);

/* What was read. */
enum kernel_sctp_input {
    KERNEL_SCTP_MESSAGE, /* `message` */
    KERNEL_SCTP_PART,    /* of a message that is longer than the buffer */
    KERNEL_SCTP_UP, /* `streams`, of `peer` as far as the kernel knows it; the indication follows at once, if any */
    KERNEL_SCTP_INDICATION, /* `indication` */
    KERNEL_SCTP_DRY,        /* all that had been sent was acknowledged */
    KERNEL_SCTP_REFUSED,    /* the peer could not use a message: it has no such stream */
    KERNEL_SCTP_OTHER,      /* nothing that is of use here */
    KERNEL_SCTP_NOTHING,    /* there is nothing to read now */
    KERNEL_SCTP_FIN,        /* the peer shuts down, and all that it sent was read */
    KERNEL_SCTP_LOST,       /* the association is over, was restarted, or did not come to be */
};

struct kernel_sctp_read {
    struct iwarp_sctp_message message;
    struct iwarp_sctp_init peer;
};

/* `buffer` holds the message, which is valid until the next call. */
enum kernel_sctp_input kernel_sctp_socket_read(int descriptor, uint8_t *buffer, size_t octets,
                                               struct kernel_sctp_read *input);

/* 0, or errno: EAGAIN where there is no room now. */
int kernel_sctp_socket_send(int descriptor, const struct iwarp_sctp_output *output);

/* Nothing that was sent waits for an acknowledgement, at this moment. */
bool kernel_sctp_socket_is_dry(int descriptor);

/* An association that still exists is aborted; `in_order`: the kernel ends it with a SHUTDOWN. */
void kernel_sctp_socket_close(int descriptor, bool in_order);

#endif
