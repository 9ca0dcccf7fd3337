/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/link/address_claim.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Bound to a name in the abstract namespace (unix(7)): each network namespace has its own, and nothing is left in a
 * file system.
 */
int address_claim(const char *interface, const struct net_address *address, struct iwarp_sentence *error)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char text[64];
    int length, file;

    if (address->family == 0)
        return -1;
    length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "warpcheck %s %s", interface,
                      net_address_format(address, text, sizeof(text)));
    file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return -1;
    if (bind(file, (const struct sockaddr *)&name,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
        return file;
    if (errno == EADDRINUSE)
        (void)iwarp_sentence_set(
            error, "%s: another run of warpcheck answers for %s; expected an address that is this run's alone",
            interface, text);
    (void)close(file);
    return -1;
}
