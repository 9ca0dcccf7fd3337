/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel knows of a connection: its ends, its segments, and what the peer has not acknowledged. */
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "reference-stack/transport/tcp_socket_internal.h"

int tcp_socket_peer(const struct tcp_socket *socket, struct sockaddr_storage *out)
{
    int room = sizeof(*out);

    return uv_tcp_getpeername(&socket->handle, (struct sockaddr *)out, &room) == 0 ? 0 : -1;
}

static bool end_of(const struct sockaddr_storage *name, struct connection_end *end)
{
    end->port = socket_name_port(name);
    return socket_name_format(name, end->address, sizeof(end->address)) == 0;
}

bool tcp_socket_ends(void *transport, struct connection_end *own, struct connection_end *peer)
{
    const struct tcp_socket *socket = transport;
    struct sockaddr_storage name[2];
    int room = sizeof(name[0]);

    return uv_tcp_getsockname(&socket->handle, (struct sockaddr *)&name[0], &room) == 0 &&
           tcp_socket_peer(socket, &name[1]) == 0 && end_of(&name[0], own) && end_of(&name[1], peer);
}

/* TCP_INFO knows what options take off the MSS; TCP_MAXSEG is the next best. */
size_t tcp_socket_emss(void *transport)
{
    const struct tcp_socket *socket = transport;
    struct tcp_info info;
    socklen_t octets = sizeof(info);
    uv_os_fd_t fd;
    int mss = 0;

    if (uv_fileno((const uv_handle_t *)&socket->handle, &fd) != 0)
        return 0;
    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &octets) == 0 && info.tcpi_snd_mss != 0)
        return info.tcpi_snd_mss;
    octets = sizeof(mss);
    return getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &octets) == 0 && mss > 0 ? (size_t)mss : 0;
}

size_t tcp_socket_unacknowledged(void *transport)
{
    const struct tcp_socket *socket = transport;
    uv_os_fd_t fd;
    int octets = 0;

    if (uv_fileno((const uv_handle_t *)&socket->handle, &fd) != 0 || ioctl(fd, SIOCOUTQ, &octets) != 0 || octets < 0)
        octets = 0;
    return socket->handle.write_queue_size + (size_t)octets;
}
