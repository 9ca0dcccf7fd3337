/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments whose IP packets are in fragments, in both directions. */
#include "generator/tcp/tcp_internal.h"

int tcp_emit_fragments(struct tcp_stack *stack, size_t octets, size_t size, bool last_first)
{
    size_t count = packet_fragments(stack->frame, octets, size);
    uint8_t fragment[LINK_FRAME_CAPACITY];

    if (count == 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        size_t length = packet_fragment(fragment, sizeof(fragment), stack->frame, octets, size,
                                        last_first ? count - 1 - i : i, stack->identification);

        if (length == 0)
            return -1;
        stack->config.emit(stack->config.context, fragment, length);
    }
    return 0;
}

void tcp_input_packet(struct tcp_stack *stack, const struct packet *packet)
{
    if (packet->ip_checksum_ok && packet->tcp_checksum_ok)
        tcp_input_segment(stack, packet);
    else
        stack->bad_frames++;
}

/* Without memory the fragment is lost, as one is that the wire loses. */
void tcp_input_fragment(struct tcp_stack *stack, const struct packet *fragment, const uint8_t *frame)
{
    struct packet packet;
    size_t octets = 0;

    if (stack->config.drop_fragments || !fragment->ip_checksum_ok)
        return;
    if (stack->reassembly == NULL)
        stack->reassembly = packet_reassembly_new();
    if (stack->reassembly == NULL)
        return;
    frame = packet_reassemble(stack->reassembly, fragment, frame, &octets);
    if (frame == NULL)
        return;
    if (packet_parse(&packet, frame, octets, NULL) != 0)
        stack->bad_frames++;
    else if (packet.kind == PACKET_TCP)
        tcp_input_packet(stack, &packet);
}
