/* SPDX-License-Identifier: BSD-2-Clause */
/* What an event of rdma_cm says of the peer: its Private Data, its depths, and the ends of the connection. */
#include <arpa/inet.h>

#include "conformance/labs/linux/agent/agent.h"

void agent_set_end(json_t *object, const char *address, const char *port, const struct sockaddr *name)
{
    bool six = name->sa_family == AF_INET6;
    const void *octets = six ? (const void *)&((const struct sockaddr_in6 *)name)->sin6_addr
                             : (const void *)&((const struct sockaddr_in *)name)->sin_addr;
    uint16_t number =
        six ? ((const struct sockaddr_in6 *)name)->sin6_port : ((const struct sockaddr_in *)name)->sin_port;
    char text[INET6_ADDRSTRLEN];

    if ((!six && name->sa_family != AF_INET) || inet_ntop(name->sa_family, octets, text, sizeof(text)) == NULL)
        return;
    (void)json_object_set_new(object, address, json_string(text));
    if (number != 0)
        (void)json_object_set_new(object, port, json_integer(ntohs(number)));
}

/*
 * With a Request, initiator_depth is what we may have open, hence the peer's IRD. With the Reply (`active`) iWARP's
 * drivers give this side's IRD and ORD, as agreed, in the same order: the kernel's cma.c passes both on as they are.
 */
json_t *agent_peer_of(const struct rdma_cm_event *event, bool active)
{
    const struct rdma_conn_param *param = &event->param.conn;
    int first = param->initiator_depth, second = param->responder_resources;
    json_t *object =
        json_pack("{s:o, s:i, s:i}", "private_data", upper_hex(param->private_data, param->private_data_len),
                  "peer_ird", active ? second : first, "peer_ord", active ? first : second);

    agent_set_end(object, "peer_address", "peer_port", rdma_get_peer_addr(event->id));
    agent_set_end(object, "own_address", "own_port", rdma_get_local_addr(event->id));
    return object;
}
