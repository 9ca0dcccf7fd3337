/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_sctp_socket.h in a build without the kernel's header: there is no socket, and so nothing to be done with one.
 */
#include "reference-stack/transport/kernel_sctp_socket.h"

#if !__has_include("linux/sctp.h")
#include <errno.h>

int kernel_sctp_socket(int family, struct iwarp_sentence *sentence)
{
    (void)family;
    return iwarp_sentence_set(sentence, "SCTP of the kernel: linux/sctp.h is not part of this build");
}

int kernel_sctp_socket_configure(int descriptor, const struct kernel_sctp_socket_config *config,
                                 struct iwarp_sentence *sentence)
{
    (void)descriptor, (void)config;
    return kernel_sctp_socket(0, sentence);
}

int kernel_sctp_socket_offer(int descriptor, const struct iwarp_sctp_init *init, struct iwarp_sentence *sentence)
{
    (void)descriptor, (void)init;
    return kernel_sctp_socket(0, sentence);
}

enum kernel_sctp_input kernel_sctp_socket_read(int descriptor, uint8_t *buffer, size_t octets,
                                               struct kernel_sctp_read *input)
{
    (void)descriptor, (void)buffer, (void)octets, (void)input;
    return KERNEL_SCTP_LOST;
}

int kernel_sctp_socket_send(int descriptor, const struct iwarp_sctp_output *output)
{
    (void)descriptor, (void)output;
    return ENOTCONN;
}

bool kernel_sctp_socket_is_dry(int descriptor)
{
    (void)descriptor;
    return false;
}

void kernel_sctp_socket_close(int descriptor, bool in_order)
{
    (void)descriptor, (void)in_order;
}

#endif
