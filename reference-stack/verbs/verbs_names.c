/* SPDX-License-Identifier: BSD-2-Clause */
/* Names: of hosts and peers, and of what programs print. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/verbs/verbs_internal.h"
#include "wire/rdmap.h"

#define NAME_OF(names, value) ((size_t)(value) < sizeof(names) / sizeof((names)[0]) ? (names)[value] : "unknown")

/* A number of a family that is read by getnameinfo(). -1: it has none. */
static int numeric(const struct sockaddr *name, socklen_t octets, char *address)
{
    return getnameinfo(name, octets, address, IWARP_ADDRESS_OCTETS, NULL, 0, NI_NUMERICHOST) == 0 ? 0 : -1;
}

int iwarp_resolve(const char *name, char *address, struct iwarp_sentence *sentence)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int status;

    if (name == NULL || address == NULL)
        return misuse_null(sentence, "resolve", "a name, and room for an address");
    status = getaddrinfo(name, NULL, &wanted, &found);
    if (status != 0)
        return iwarp_sentence_set(sentence, "resolve: '%.200s' has no address: %s", name, gai_strerror(status));
    status = numeric(found->ai_addr, found->ai_addrlen, address);
    freeaddrinfo(found);
    return status == 0 ? 0 : iwarp_sentence_set(sentence, "resolve: '%.200s' has no numeric address", name);
}

int iwarp_qp_peer(const struct iwarp_qp *qp, char *address, uint16_t *port, struct iwarp_sentence *sentence)
{
    struct sockaddr_storage name;

    if (qp == NULL || address == NULL)
        return misuse_null(sentence, "qp_peer", "a queue pair, and room for an address");
    if (qp->link != NULL && qp->link->up)
        name = *sctp_path_to(qp->link->path);
    else if (qp->opening || qp->socket == NULL || tcp_socket_peer(qp->socket, &name) != 0)
        return iwarp_sentence_set(sentence, "qp_peer: the queue pair is not connected");
    if (numeric((const struct sockaddr *)&name, sizeof(name), address) != 0)
        return iwarp_sentence_set(sentence, "qp_peer: the peer has no numeric address");
    if (port != NULL)
        *port = socket_name_port(&name);
    return 0;
}

const char *iwarp_status_text(enum iwarp_status status)
{
    static const char *const names[] = {[IWARP_STATUS_OK] = "done", [IWARP_STATUS_FLUSHED] = "flushed"};

    return NAME_OF(names, status);
}

const char *iwarp_work_text(enum iwarp_work work)
{
    static const char *const names[] = {
        [IWARP_WORK_RECEIVE] = "receive", [IWARP_WORK_SEND] = "Send",     [IWARP_WORK_WRITE] = "Write",
        [IWARP_WORK_READ] = "Read",       [IWARP_WORK_ATOMIC] = "atomic", [IWARP_WORK_IMMEDIATE] = "Immediate Data",
    };

    return NAME_OF(names, work);
}

const char *iwarp_opcode_text(uint8_t opcode)
{
    const char *name = wire_name_of(rdmap_opcode_names, opcode);

    return name == NULL ? "unknown" : name;
}

const char *iwarp_qp_event_text(enum iwarp_qp_event_kind kind)
{
    static const char *const names[] = {
        [IWARP_QP_ACCEPTED] = "accepted",
        [IWARP_QP_CONNECT_REQUEST] = "connect request",
        [IWARP_QP_ESTABLISHED] = "established",
        [IWARP_QP_REJECTED] = "rejected",
        [IWARP_QP_CONNECT_FAILED] = "connect failed",
        [IWARP_QP_ERROR] = "error",
        [IWARP_QP_TERMINATED] = "terminated by the peer",
        [IWARP_QP_CLOSED] = "closed",
        [IWARP_QP_COMPLETION] = "completion",
    };

    return NAME_OF(names, kind);
}
