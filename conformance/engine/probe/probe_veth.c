/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/probe/probe_veth.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_OCTETS = 32768 };

/* A link as the kernel describes it. */
struct link_description {
    char name[IF_NAMESIZE];
    char kind[16]; /* "veth" */
    uint32_t peer; /* IFLA_LINK: index in the peer's namespace; 0: none */
    bool elsewhere;
    int32_t namespace_id; /* IFLA_LINK_NETNSID, where `elsewhere` */
};

static void text_copy(char *to, size_t room, const struct rtattr *attribute)
{
    size_t octets = strnlen(RTA_DATA(attribute), RTA_PAYLOAD(attribute));

    (void)snprintf(to, room, "%.*s", (int)octets, (const char *)RTA_DATA(attribute));
}

static void kind_read(struct link_description *link, const struct rtattr *nest)
{
    int left = (int)RTA_PAYLOAD(nest);

    for (const struct rtattr *at = RTA_DATA(nest); RTA_OK(at, left); at = RTA_NEXT(at, left))
        if (at->rta_type == IFLA_INFO_KIND)
            text_copy(link->kind, sizeof(link->kind), at);
}

static void attribute_read(struct link_description *link, const struct rtattr *attribute)
{
    switch (attribute->rta_type & NLA_TYPE_MASK) {
    case IFLA_IFNAME: text_copy(link->name, sizeof(link->name), attribute); break;
    case IFLA_LINKINFO: kind_read(link, attribute); break;
    case IFLA_LINK:
        if (RTA_PAYLOAD(attribute) == sizeof(link->peer))
            memcpy(&link->peer, RTA_DATA(attribute), sizeof(link->peer));
        break;
    case IFLA_LINK_NETNSID:
        if (RTA_PAYLOAD(attribute) == sizeof(link->namespace_id)) {
            memcpy(&link->namespace_id, RTA_DATA(attribute), sizeof(link->namespace_id));
            link->elsewhere = true;
        }
        break;
    default: break;
    }
}

/* The kernel's answer to RTM_GETLINK. */
static bool answer_read(const void *octets, size_t count, struct link_description *link)
{
    const struct nlmsghdr *header = octets;
    int left;

    if (!NLMSG_OK(header, count) || header->nlmsg_type != RTM_NEWLINK ||
        header->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
        return false;
    left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(struct ifinfomsg)));
    for (const struct rtattr *at = IFLA_RTA((struct ifinfomsg *)NLMSG_DATA(header)); RTA_OK(at, left);
         at = RTA_NEXT(at, left))
        attribute_read(link, at);
    return true;
}

/* Asks for the link with this index; `other` (NULL: none) has an id of the namespace that the index is of. */
static bool link_ask(int handle, uint32_t index, const int32_t *other, struct link_description *link)
{
    struct {
        struct nlmsghdr header;
        struct ifinfomsg info;
        struct rtattr attribute;
        int32_t namespace_id;
    } ask = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(ask.info)),
                   .nlmsg_type = RTM_GETLINK,
                   .nlmsg_flags = NLM_F_REQUEST},
        .info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)index},
    };
    char answer[ANSWER_OCTETS] __attribute__((aligned(NLMSG_ALIGNTO)));
    ssize_t got;

    if (other != NULL) {
        ask.attribute = (struct rtattr){RTA_LENGTH(sizeof(ask.namespace_id)), IFLA_TARGET_NETNSID};
        ask.namespace_id = *other;
        ask.header.nlmsg_len = sizeof(ask);
    }
    *link = (struct link_description){.peer = 0};
    if (send(handle, &ask, ask.header.nlmsg_len, 0) < 0)
        return false;
    got = recv(handle, answer, sizeof(answer), 0);
    return got > 0 && answer_read(answer, (size_t)got, link);
}

bool probe_veth_find(const char *interface, struct probe_veth *found)
{
    int handle = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct link_description own, peer;
    bool is_veth;

    *found = (struct probe_veth){.elsewhere = false};
    if (handle < 0)
        return false;
    is_veth = link_ask(handle, if_nametoindex(interface), NULL, &own) && strcmp(own.kind, "veth") == 0 && own.peer != 0;
    if (is_veth) {
        found->elsewhere = own.elsewhere;
        if (link_ask(handle, own.peer, own.elsewhere ? &own.namespace_id : NULL, &peer))
            (void)snprintf(found->peer, sizeof(found->peer), "%s", peer.name);
    }
    (void)close(handle);
    return is_veth;
}
