/* SPDX-License-Identifier: BSD-2-Clause */
/* Selective acknowledgment: what a connection says of octets after a gap, and what its peer says (RFC 2018). */
#include <string.h>

#include "generator/tcp/tcp_internal.h"

size_t tcp_sack_option(const struct tcp_connection *c, uint8_t option[2 + 8 * PACKET_SACKS_MAX])
{
    struct packet_range blocks[PACKET_SACKS_MAX];
    uint32_t shift = c->options.sack_shifted ? 4 : 0;
    unsigned count = 0, newest = 0;

    if (!c->options.sack || !c->status.peer_sack || c->options.sack_silent || c->range_count == 0 ||
        c->ack_policy == TCP_ACK_WITHHELD)
        return 0;
    for (unsigned i = 0; i < c->range_count; i++)
        if (seq_le(c->ranges[i].from, c->last_stored) && seq_lt(c->last_stored, c->ranges[i].to))
            newest = i;
    blocks[count++] = c->ranges[newest];
    for (unsigned i = 0; i < c->range_count && count < PACKET_SACKS_MAX; i++)
        if (i != newest)
            blocks[count++] = c->ranges[i];
    for (unsigned i = 0; i < count; i++)
        blocks[i] = (struct packet_range){blocks[i].from + shift, blocks[i].to + shift};
    return packet_sack_option(option, blocks, count);
}

void tcp_note_sack(struct tcp_connection *c, const struct packet *p)
{
    if (p->sacks == 0)
        return;
    c->status.sack_count++;
    c->status.sacks = p->sacks;
    memcpy(c->status.sack, p->sack, p->sacks * sizeof(p->sack[0]));
}
