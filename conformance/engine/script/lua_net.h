/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packet builders as Lua sees them: the table `net` (docs/writing-captures.md, "Below the flow").
 *
 *   net.tcp{fields}        an Ethernet frame with a TCP segment; fields of struct packet_tcp by their names there
 *   net.ip{fields}         an Ethernet frame with an IP datagram of any protocol; `payload` is what it carries
 *   net.sctp{fields}       an SCTP packet: source_port, destination_port, tag, checksum, chunks in the array part
 *   net.cm_request{fields} a CM REQ of the RDMA IP CM Service (256 octets)
 *   net.cm_answer{fields}  attribute, transaction, local_id, remote_id
 *   net.cm_reject{fields}  transaction, remote_id, reason, ari
 *   net.cm_packet(mad, {fields})  carrier ("roce_v2", "roce_v1", "infiniband", "infiniband_global"), source, destination, ...
 *   net.erf(octets, time_ns)      an ERF record around an InfiniBand packet
 *   net.buffer()           growing octets: #b, b:append(octets), b:sub(from, to), b:put(at, octets)
 *   net.chunk_types, net.session_codes, net.cm_attributes   numbers by name: SCTP chunks ("COOKIE ECHO"), DDP Stream
 *                          Session Control messages ("Enhanced Initiate"), CM messages ("REP")
 *   net.cm_reasons, net.payload_protocols   reasons of a REJ ("Consumer Reject"); SCTP's PPIDs ("segment", "draft_control")
 */
#ifndef CONFORMANCE_ENGINE_LUA_NET_H
#define CONFORMANCE_ENGINE_LUA_NET_H

#include <lua.h>

/* Leaves the table on the stack. */
int lua_net_open(lua_State *lua);

#endif
