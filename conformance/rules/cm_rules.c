/* SPDX-License-Identifier: BSD-2-Clause */
/* The RDMA IP CM Service (IBTA Annex A11): Service ID and Private Data of REQs. */
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/rules/rule_context.h"

enum { PROTOCOL_IB = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_SCTP = 132, IPV4_AT = 12 };
enum { SOURCE_AT = 4, DESTINATION_AT = 20 }; /* in the Private Data (A11.4, Table 1) */

static const struct cm_message *request_of(const struct rule_context *ctx)
{
    const struct cm_message *message = &ctx->event->cm->message;

    return message->attribute == CM_REQ && message->has_service ? message : NULL;
}

/* Of a REQ by the service; NULL: of no such one. */
static const struct ip_cm_private *ip_of(const struct rule_context *ctx)
{
    const struct cm_message *message = request_of(ctx);

    return message != NULL && message->has_ip ? &message->ip : NULL;
}

/* A header of the service stands in the Private Data: versions 0, an IPv4 or IPv6 one. */
static bool looks_like_header(const struct cm_message *message)
{
    return message->private_octets >= IP_CM_PRIVATE_OCTETS && message->private_data[0] == 0 &&
           (message->private_data[1] == 0x40 || message->private_data[1] == 0x60);
}

static bool is_protocol(unsigned protocol)
{
    return protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP || protocol == PROTOCOL_SCTP || protocol == PROTOCOL_IB;
}

static bool all_zero(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

/* The field holds this address, and nothing else. */
static bool holds(const uint8_t *field, const struct flow_address *address)
{
    return address->family == 4 ? all_zero(field, IPV4_AT) && memcmp(field + IPV4_AT, address->octets, 4) == 0
                                : memcmp(field, address->octets, 16) == 0;
}

/* The header has the very addresses of the packet (RoCEv2). */
static bool has_addresses_of_packet(const struct rule_context *ctx, const struct cm_message *message)
{
    const struct flow_address *source = &ctx->flow->address[ctx->direction];
    const struct flow_address *destination = &ctx->flow->address[flow_reverse(ctx->direction)];

    return ctx->event->cm->carrier == FLOW_ROCE_V2 && message->private_data[1] >> 4 == source->family &&
           holds(message->private_data + SOURCE_AT, source) &&
           holds(message->private_data + DESTINATION_AT, destination);
}

/* No octets of another kind look so: the packet's addresses, or IPv4 addresses after 12 zeros each. */
static bool is_header(const struct rule_context *ctx, const struct cm_message *message)
{
    const uint8_t *source = message->private_data + SOURCE_AT, *destination = message->private_data + DESTINATION_AT;

    if (!looks_like_header(message))
        return false;
    return has_addresses_of_packet(ctx, message) ||
           (message->private_data[1] == 0x40 && all_zero(source, IPV4_AT) && !all_zero(source + IPV4_AT, 4) &&
            all_zero(destination, IPV4_AT) && !all_zero(destination + IPV4_AT, 4));
}

/* A Service ID of Table 2, but for its prefix, and the header of the service with it. */
static bool has_other_prefix(const struct rule_context *ctx, const struct cm_message *message)
{
    return !ip_cm_in_range(message->service_id) && !ip_cm_in_range(__builtin_bswap64(message->service_id)) &&
           is_protocol((unsigned)(message->service_id >> 16 & 0xFF)) && is_header(ctx, message);
}

void service_prefix(struct rule_context *ctx)
{
    const struct cm_message *message = request_of(ctx);

    if (message == NULL)
        return;
    if (ip_cm_in_range(message->service_id))
        rule_pass(ctx);
    else if (has_other_prefix(ctx, message))
        rule_fail(ctx, "prefix 0x0000000001",
                  rule_text(ctx, "0x%010llx", (unsigned long long)message->service_id >> 24),
                  "The Service ID's prefix is not that of the service (A11.2)");
}

void service_octet_order(struct rule_context *ctx)
{
    const struct cm_message *message = request_of(ctx);

    if (message == NULL)
        return;
    if (ip_cm_in_range(message->service_id))
        rule_pass(ctx);
    else if (ip_cm_in_range(__builtin_bswap64(message->service_id)) && looks_like_header(message))
        rule_fail(ctx, rule_text(ctx, "0x%016llx", (unsigned long long)__builtin_bswap64(message->service_id)),
                  rule_text(ctx, "0x%016llx", (unsigned long long)message->service_id),
                  "The Service ID is in the wrong order of octets (A11.5)");
}

void service_protocol_and_port(struct rule_context *ctx)
{
    const struct cm_message *message = request_of(ctx);

    if (message == NULL || !ip_cm_in_range(message->service_id))
        return;
    if (is_protocol((unsigned)(message->service_id >> 16 & 0xFF)))
        rule_pass(ctx);
    else if (is_protocol((unsigned)(message->service_id & 0xFF)))
        rule_fail(ctx, "the protocol in octet 5, the port in octets 6 and 7",
                  rule_text(ctx, "0x%016llx", (unsigned long long)message->service_id),
                  "Protocol and port are exchanged in the Service ID (A11.5)");
}

/* A11.3: IBTA counts bits from the least significant one. */
void nibble_order(struct rule_context *ctx)
{
    const struct ip_cm_private *ip = ip_of(ctx);

    if (ip == NULL)
        return;
    if (ip->ip_version == 0 && (ip->reserved == 4 || ip->reserved == 6))
        rule_fail(ctx, rule_text(ctx, "0x%x0", ip->reserved), rule_text(ctx, "0x0%x", ip->reserved),
                  "The nibbles of IPV and Res are exchanged (A11.3)");
    else if (ip->ip_version == 4 || ip->ip_version == 6)
        rule_pass(ctx);
}

/* A11.4: only the REQ has the header. */
void reply_without_header(struct rule_context *ctx)
{
    const struct cm_message *message = &ctx->event->cm->message;
    const struct flow_cm_state *state = ctx->flow->cm;

    if (message->attribute != CM_REP || !state->in_range || !state->has_private ||
        message->private_octets < IP_CM_PRIVATE_OCTETS)
        return;
    if (memcmp(message->private_data, state->request_private, IP_CM_PRIVATE_OCTETS) == 0)
        rule_fail(ctx, "the ULP's data alone", rule_octets(ctx, message->private_data, 8),
                  "The REP's Private Data begins with the REQ's header (A11.4)");
    else
        rule_pass(ctx);
}

/* RoCEv2 packets have the same addresses in their IP header. */
void addresses_not_exchanged(struct rule_context *ctx)
{
    const struct ip_cm_private *ip = ip_of(ctx);
    const struct flow_address *source = &ctx->flow->address[ctx->direction];
    const struct flow_address *destination = &ctx->flow->address[flow_reverse(ctx->direction)];
    size_t at, octets;

    if (ip == NULL || ctx->event->cm->carrier != FLOW_ROCE_V2 || ip->ip_version != source->family)
        return;
    at = source->family == 4 ? IPV4_AT : 0;
    octets = source->family == 4 ? 4 : 16;
    if (memcmp(source->octets, destination->octets, octets) == 0)
        return;
    if (memcmp(ip->source + at, destination->octets, octets) == 0 &&
        memcmp(ip->destination + at, source->octets, octets) == 0)
        rule_fail(ctx, "Source, then Destination IP Address", "exchanged",
                  "Source and Destination IP Address are exchanged (A11.4)");
    else if (memcmp(ip->source + at, source->octets, octets) == 0 &&
             memcmp(ip->destination + at, destination->octets, octets) == 0)
        rule_pass(ctx);
}

void major_version_zero(struct rule_context *ctx)
{
    if (ip_of(ctx) != NULL)
        rule_judge_number(ctx, 0, ip_of(ctx)->major, "MajV", "A11.4.1");
}

void minor_version_zero(struct rule_context *ctx)
{
    if (ip_of(ctx) != NULL)
        rule_judge_number(ctx, 0, ip_of(ctx)->minor, "MinV", "A11.4.2");
}

void ip_version_known(struct rule_context *ctx)
{
    const struct ip_cm_private *ip = ip_of(ctx);

    if (ip == NULL)
        return;
    if (ip->ip_version != 4 && ip->ip_version != 6)
        rule_fail(ctx, "IPV = 4 or 6", rule_text(ctx, "IPV = %u", ip->ip_version),
                  "The IP version is a reserved one (A11.4.3)");
    else
        rule_pass(ctx);
}

void reserved_nibble_zero(struct rule_context *ctx)
{
    if (ip_of(ctx) != NULL)
        rule_judge_number(ctx, 0, ip_of(ctx)->reserved, "Res", "A11.4.4");
}

void ipv4_in_low_bits(struct rule_context *ctx)
{
    const struct ip_cm_private *ip = ip_of(ctx);

    if (ip == NULL || ip->ip_version != 4)
        return;
    if ((all_zero(ip->source + IPV4_AT, 4) && !all_zero(ip->source, 4)) ||
        (all_zero(ip->destination + IPV4_AT, 4) && !all_zero(ip->destination, 4)))
        rule_fail(ctx, "the address in bits 31 to 0", rule_octets(ctx, ip->source, 32),
                  "An IPv4 address stands in the first octets of its field (A11.4.6)");
    else
        rule_pass(ctx);
}

void ipv4_padded_with_zeros(struct rule_context *ctx)
{
    const struct ip_cm_private *ip = ip_of(ctx);

    if (ip == NULL || ip->ip_version != 4)
        return;
    if (!all_zero(ip->source, IPV4_AT) || !all_zero(ip->destination, IPV4_AT))
        rule_fail(ctx, "zeros in bits 127 to 32", rule_octets(ctx, ip->source, 32),
                  "The octets before an IPv4 address are not zero (A11.4.6)");
    else
        rule_pass(ctx);
}

/* A11.4.5: no connection comes from port 0. That a port is the client's own a capture cannot show. */
void source_port_given(struct rule_context *ctx)
{
    const struct ip_cm_private *ip = ip_of(ctx);

    if (ip != NULL && ip->source_port == 0)
        rule_fail(ctx, "the client's port", "0", "The Source Port is none (A11.4.5)");
}

/*
 * No address of an interface: unspecified, or of a group, or all hosts. IPv4 in its last octets; what stands before is
 * CA11-5's.
 */
static bool no_interface(const uint8_t *field, unsigned version)
{
    const uint8_t *ipv4 = field + IPV4_AT;

    if (version == 4)
        return (all_zero(ipv4, 4) && all_zero(field, IPV4_AT)) || ipv4[0] >> 4 == 0xE ||
               memcmp(ipv4, "\xFF\xFF\xFF\xFF", 4) == 0;
    return all_zero(field, 16) || field[0] == 0xFF;
}

/* The IP header may have other addresses (routers that translate), so those alone break no requirement. */
void interface_addresses(struct rule_context *ctx)
{
    static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    const struct ip_cm_private *ip = ip_of(ctx);

    if (ip == NULL || (ip->ip_version != 4 && ip->ip_version != 6))
        return;
    if (no_interface(ip->source, ip->ip_version) || no_interface(ip->destination, ip->ip_version))
        rule_fail(ctx, "addresses of two interfaces", rule_octets(ctx, ip->source, 32),
                  "Source or Destination IP Address is that of no interface (A11.4.6)");
    else if (ip->ip_version == 6 &&
             (memcmp(ip->source, mapped, sizeof(mapped)) == 0 || memcmp(ip->destination, mapped, sizeof(mapped)) == 0))
        rule_fail(ctx, "addresses of two interfaces", rule_octets(ctx, ip->source, 32),
                  "A GID stands for an IPv4 address (A11.4.6)");
    else if (ctx->event->cm->carrier == FLOW_ROCE_V2 && ip->ip_version == ctx->flow->address[ctx->direction].family &&
             holds(ip->source, &ctx->flow->address[ctx->direction]) &&
             holds(ip->destination, &ctx->flow->address[flow_reverse(ctx->direction)]))
        rule_pass(ctx);
}

/*
 * A header of the service between the very addresses of the packet: its sender uses the service, by another Service ID.
 */
void service_id_form(struct rule_context *ctx)
{
    const struct cm_message *message = request_of(ctx);

    if (message == NULL)
        return;
    if (ip_cm_in_range(message->service_id)) {
        if (is_protocol((unsigned)(message->service_id >> 16 & 0xFF)))
            rule_pass(ctx);
        return;
    }
    if (has_other_prefix(ctx, message) || ip_cm_in_range(__builtin_bswap64(message->service_id)))
        return; /* A11-TXT-02 and -14 have it */
    if (looks_like_header(message) && has_addresses_of_packet(ctx, message))
        rule_fail(ctx, "0x0000000001, protocol and port",
                  rule_text(ctx, "0x%016llx", (unsigned long long)message->service_id),
                  "A user of the service takes a Service ID of another form (A11.5)");
}
