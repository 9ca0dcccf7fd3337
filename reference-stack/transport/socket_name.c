/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/socket_name.h"

#include <netinet/in.h>
#include <string.h>
#include <uv.h>

int socket_name_parse(const char *address, uint16_t port, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (address == NULL)
        return -1;
    if (uv_ip4_addr(address, port, (struct sockaddr_in *)out) == 0)
        return 0;
    return uv_ip6_addr(address, port, (struct sockaddr_in6 *)out) == 0 ? 0 : -1;
}

uint16_t socket_name_port(const struct sockaddr_storage *name)
{
    return ntohs(name->ss_family == AF_INET ? ((const struct sockaddr_in *)name)->sin_port
                                            : ((const struct sockaddr_in6 *)name)->sin6_port);
}

void socket_name_set_port(struct sockaddr_storage *name, uint16_t port)
{
    if (name->ss_family == AF_INET)
        ((struct sockaddr_in *)name)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)name)->sin6_port = htons(port);
}

int socket_name_format(const struct sockaddr_storage *name, char *address, size_t room)
{
    switch (name->ss_family) {
    case AF_INET: return uv_ip4_name((const struct sockaddr_in *)name, address, room) == 0 ? 0 : -1;
    case AF_INET6: return uv_ip6_name((const struct sockaddr_in6 *)name, address, room) == 0 ? 0 : -1;
    default: return -1;
    }
}
