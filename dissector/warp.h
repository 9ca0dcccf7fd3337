/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Wireshark plugin: the third mouth of the decoder in conformance/flow.
 *
 *     warp_tcp.c      stands before TCP: on the first pass each segment goes to the decoder; then calls TCP
 *     warp_record.c   what came of it, and of the rules, kept by frame; warp_item.c: records and items
 *     warp_draw.c     a frame's records as columns, tree and expert items (any pass, any order of frames)
 *     warp_start.c    the tree of a start-up frame and what both agreed upon; warp_private.c: known private data
 *     warp_fpdu.c     the tree of an FPDU: MPA, DDP, RDMAP
 *     warp_sctp.c     the same for SCTP: stands before it, session control messages, DDP Segment chunks
 *     warp_cm.c       the same for CM messages over RoCE and InfiniBand
 *     warp_ulp.c      messages to the dissectors of ULPs
 *     warp_fields.c   fields, out of wire/'s tables
 *     warp_stats.c    statistics; warp_follow.c: what the ULPs of a connection sent
 *
 * Drawing never decides anything that depends on other frames: it only reads records and the octets of its own frame.
 * Octets that had to wait for others (after a hole, before the Request) are decoded while a later frame is dissected.
 * On the first pass they are shown there, since their own frame is gone; on any later pass in the frame that carries
 * them. Everything else is the same in one pass, in two, and for clicks in any order.
 */
#ifndef DISSECTOR_WARP_H
#define DISSECTOR_WARP_H

#include "dissector/compat.h"

#include <epan/expert.h>

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"

/*
 * ---- records ------------------------------------------------------------------------------------------------------
 */

enum warp_kind {
    WARP_START,
    WARP_FPDU,
    WARP_GAP,
    WARP_UNDECODED,
    WARP_OTHER,   /* shown only when something was found */
    WARP_SCTP,    /* a chunk */
    WARP_SESSION, /* a session control message */
    WARP_CM,      /* a CM message */
};

struct warp_finding {
    struct warp_finding *next;
    struct warp_finding *next_at_end; /* decided at the end of the same flow */
    enum rule_verdict verdict;
    uint32_t frame;
    const char *side; /* MPA role of who is found fault with; NULL: roles are not known */
    const char *id, *message, *expected, *actual;
};

/* What both start-up frames say, and what each asked for. */
struct warp_agreement {
    bool request_seen, reply_seen;
    struct iwarp_mpa_start request, reply; /* without private data */
};

struct warp_fpdu {
    bool sctp; /* a DDP Segment chunk: DDP-SSN, then what would be the ULPDU */
    struct fpdu_framing framing;
    wire_result result;
    bool cut;
    bool resynced;
    uint32_t segments;
    uint32_t octets; /* of the whole FPDU in the stream */
    uint64_t index;
    uint64_t position;
    /* of the RDMA Message; valid when has_rdmap */
    bool has_rdmap;
    bool first, last;
    bool rtr;                               /* the Initiator's first one, peer-to-peer agreed */
    const struct warp_agreement *agreement; /* when rtr */
    uint64_t message_octets;
    uint32_t message_first_frame; /* 0: not known */
    const uint8_t *message;       /* reassembled, on its last segment; NULL: not (all of it lies in this segment) */
    uint32_t message_size;        /* octets of that */
    uint32_t message_in;          /* frame with its last segment, once that is known; 0: not yet */
    /* a response's request, or a request's response; 0: none */
    uint32_t request_frame, response_frame, response_last_frame;
    uint64_t request_ns, response_ns;
    uint32_t request_size;         /* octets that a Read Request asked for */
    uint32_t culprit_frame;        /* Terminate: frame with the DDP Segment that it quotes; 0: not found */
    uint32_t terminate_frame;      /* of the Terminate that quotes this one */
    const struct wire_layout *ulp; /* of the ULP's header at the payload's beginning; NULL: none is known */
    uint64_t time_ns;
};

/* Why a flow ended (conformance/rules/end_cause.h). */
struct warp_end {
    const char *why;
    const char *broke; /* id of the rule that was broken first; NULL: none was */
    uint32_t broke_frame;
};

struct warp_item {
    struct warp_item *next;      /* decoded in the same frame */
    struct warp_item *next_home; /* belongs to the same frame, decoded in a later one */
    enum warp_kind kind;
    enum flow_direction direction;
    bool roles_known;
    uint32_t flow;        /* number */
    uint32_t decoded_in;  /* frame that was dissected when the decoder delivered the item */
    uint32_t first_frame; /* with its first octet */
    uint32_t last_frame;  /* with its last: before `decoded_in` when octets had to wait for others */
    int offset;           /* in this frame's TCP payload; -1: not in it, `octets` are a copy */
    uint32_t count;       /* octets that are there */
    const uint8_t *octets;
    const char *text; /* its notation; NULL: made when it is drawn */
    struct warp_finding *findings, **findings_end;
    struct warp_end *end; /* it ended the flow; NULL: it did not */
    union {
        struct warp_fpdu fpdu;
        struct {
            enum iwarp_mpa_start_kind kind;
            wire_result result;
            struct warp_agreement agreement;
        } start;
        struct {
            uint64_t octets;
            bool in_sync;
        } gap;
        enum flow_reason reason;
        struct {
            uint32_t ppid;
            uint32_t length; /* on the wire */
            uint16_t sid;
            uint32_t number;
        } session;
        struct {
            uint8_t icrc; /* enum flow_icrc */
            uint32_t request_in;
        } cm;
    };
};

/* Of one frame. */
struct warp_record {
    uint32_t frame;
    uint32_t flow; /* number; 0: only passed on from another frame */
    enum flow_direction direction;
    struct warp_item *items, **items_end; /* decoded in this frame */
    struct warp_item *home, **home_end;   /* of this frame, decoded in later ones */
    uint32_t completed_in; /* frame with the end of the unit that its last octets belong to; 0: not known */
    uint32_t begun_in;     /* frame where the unit begins that its first octets belong to; 0: they begin one */
};

/* First pass: one TCP segment, header first, as it stands in `tvb`. */
void warp_record_segment(tvbuff_t *tvb, packet_info *pinfo);
/* The same for an SCTP packet, a RoCE packet from its BTH on, an InfiniBand packet from its LRH on, and an Ethernet
 * payload of RoCEv1 from its GRH on. */
enum warp_packet {
    WARP_PACKET_SCTP,
    WARP_PACKET_SCTP_IN_UDP,
    WARP_PACKET_ROCE,
    WARP_PACKET_ROCE_V1,
    WARP_PACKET_INFINIBAND,
    WARP_PACKET_PORT_MAPPER,
};
void warp_record_packet(enum warp_packet packet, tvbuff_t *tvb, packet_info *pinfo);
/* The record of a frame, NULL: nothing of interest. */
const struct warp_record *warp_record_of(uint32_t frame);
/* The greatest number of a flow so far. */
uint32_t warp_record_flows(void);
/* Per capture file. */
void warp_record_open(void);
void warp_record_close(void);
/* The first pass is over: what waited for octets that did not come, and what is decided at the end. */
void warp_record_finish(void);

/*
 * ---- drawing ------------------------------------------------------------------------------------------------------
 */

/* Everything of a record. `tvb` is the TCP payload (any tvb when there is none: `has_payload` false). */
void warp_draw(const struct warp_record *record, tvbuff_t *tvb, bool has_payload, packet_info *pinfo, proto_tree *tree);

/* The same for a packet that is not a piece of a stream: nothing is said of octets that no item has. */
void warp_draw_packet(const struct warp_record *record, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree);

/* The same after another dissector's tree, as protocol "warp" all the same: frame.protocols has it. */
void warp_draw_after(const struct warp_record *record, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                     bool is_packet);

/* The octets of an item, as a tvb and an offset in it. */
struct warp_place {
    tvbuff_t *tvb;
    int offset;
    int count;
};

/* Both return the tree of the unit, NULL without trees. */
proto_tree *warp_draw_start(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                            proto_tree *root);
proto_tree *warp_draw_fpdu(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                           proto_tree *root);
proto_tree *warp_draw_segment_chunk(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                                    proto_tree *root);
proto_tree *warp_draw_session(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                              proto_tree *root);
proto_tree *warp_draw_chunk(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                            proto_tree *root);
proto_tree *warp_draw_cm(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                         proto_tree *root);
/* "Initiator", "Responder". */
const char *warp_role_name(unsigned direction);

/* Appends to Info, after a bar. */
void warp_info(packet_info *pinfo, const char *text);
/* The item in the tree that stands for a unit, and generated fields that all have. */
proto_item *warp_draw_root(const struct warp_item *item, const struct warp_place *place, proto_tree *root,
                           proto_tree **tree);

/*
 * Private Data of a ULP: sub-dissectors, then those known by themselves. `trees`: of the start-up frame, and the root.
 */
void warp_draw_private(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, proto_tree *root,
                       enum iwarp_mpa_start_kind kind);
void warp_private_register(void);

/* A whole message's payload (or a segment of a tagged one) to the heuristic list of ULPs. */
void warp_ulp_call(const struct warp_fpdu *fpdu, const struct ddp_segment *segment, tvbuff_t *payload,
                   packet_info *pinfo, proto_tree *root);

/*
 * ---- fields -------------------------------------------------------------------------------------------------------
 */

/*
 * "warp" stands for a unit: its line, its connection and what was found. Below it each layer is a protocol of its own,
 * "warp.mpa" and so on, with a tree of its own after warp's, so that Wireshark's hierarchy of protocols counts them.
 */
extern int warp_proto, warp_proto_mpa, warp_proto_ddp, warp_proto_rdmap, warp_proto_cm, warp_proto_port_mapper;
extern int ett_warp, ett_warp_part, ett_warp_detail;

#define WARP_FIELDS(H)                                                                                                 \
    H(flow, "Flow", "warp.flow", FT_UINT32, BASE_DEC, NULL, "number of the connection among those with MPA")           \
    H(direction, "From", "warp.from", FT_STRING, BASE_NONE, NULL, "MPA role of the sender")                            \
    H(first_frame, "Begins in", "warp.first_frame", FT_FRAMENUM, BASE_NONE, NULL, "frame with the first octet")        \
    H(last_frame, "Waited since", "warp.waited_since", FT_FRAMENUM, BASE_NONE, NULL,                                   \
      "frame with the last octet: it could not be decoded before this one")                                            \
    H(completed_in, "Shown in", "warp.shown_in", FT_FRAMENUM, BASE_NONE, NULL,                                         \
      "frame where the unit is shown that these octets belong to")                                                     \
    H(at_end, "Known at the end of the capture only", "warp.at_end", FT_BOOLEAN, BASE_NONE, NULL,                      \
      "it waited for octets that never came, or is decided at the end")                                                \
    H(data, "Octets of a unit that is shown elsewhere", "warp.data", FT_BYTES, BASE_NONE, NULL,                        \
      "octets whose unit is drawn in another frame")                                                                   \
    H(reason, "Not decoded", "warp.undecoded", FT_STRING, BASE_NONE, NULL, "why octets are not decoded")               \
    H(gap, "Octets missing", "warp.gap", FT_UINT64, BASE_DEC, NULL, "octets of the stream that the capture lacks")     \
    H(start, "Start-up frame", "warp.start", FT_NONE, BASE_NONE, NULL,                                                 \
      "MPA Request or Reply (RFC 5044 7.1, RFC 6581 6)")                                                               \
    H(mpa_private, "Private Data", "warp.mpa.private_data", FT_BYTES, BASE_NONE, NULL,                                 \
      "what the ULP says in the start-up frame")                                                                       \
    H(agreed, "Agreed", "warp.agreed", FT_NONE, BASE_NONE, NULL, "what Request and Reply say together")                \
    H(agreed_crc, "CRC in use", "warp.agreed.crc", FT_BOOLEAN, BASE_NONE, NULL, "either side set C")                   \
    H(agreed_markers_i, "Markers from the Initiator", "warp.agreed.markers_from_initiator", FT_BOOLEAN, BASE_NONE,     \
      NULL, "M of the Reply")                                                                                          \
    H(agreed_markers_r, "Markers from the Responder", "warp.agreed.markers_from_responder", FT_BOOLEAN, BASE_NONE,     \
      NULL, "M of the Request")                                                                                        \
    H(agreed_depth_i, "Reads outstanding from the Initiator", "warp.agreed.reads_from_initiator", FT_UINT16, BASE_DEC, \
      NULL, "the smaller of Request ORD and Reply IRD")                                                                \
    H(agreed_depth_r, "Reads outstanding from the Responder", "warp.agreed.reads_from_responder", FT_UINT16, BASE_DEC, \
      NULL, "the smaller of Reply ORD and Request IRD")                                                                \
    H(agreed_rtr, "RTR kinds in common", "warp.agreed.rtr", FT_STRING, BASE_NONE, NULL,                                \
      "kinds of RTR that both frames name")                                                                            \
    H(private_nvme, "NVMe/RDMA private data", "warp.private.nvme", FT_NONE, BASE_NONE, NULL,                           \
      "NVMe over RDMA: rdma_cm request or accept")                                                                     \
    H(private_rpc, "RPC-over-RDMA private message", "warp.private.rpcrdma", FT_NONE, BASE_NONE, NULL, "RFC 8797 4")    \
    H(private_rpc_version, "Version", "warp.private.rpcrdma.version", FT_UINT8, BASE_DEC, NULL,                        \
      "of the private message (RFC 8797 4)")                                                                           \
    H(private_rpc_flags, "Flags", "warp.private.rpcrdma.flags", FT_UINT8, BASE_HEX, NULL, "1: remote invalidation")    \
    H(private_rpc_send, "Send size", "warp.private.rpcrdma.send_size", FT_UINT32, BASE_DEC, NULL,                      \
      "largest Send, in octets")                                                                                       \
    H(private_rpc_receive, "Receive size", "warp.private.rpcrdma.receive_size", FT_UINT32, BASE_DEC, NULL,             \
      "largest receive, in octets")                                                                                    \
    H(private_iser, "iSER CM header", "warp.private.iser", FT_NONE, BASE_NONE, NULL,                                   \
      "flags, and three reserved octets")                                                                              \
    H(private_smb_ird, "IRD in the ULP's own words", "warp.private.depth.ird", FT_UINT32, BASE_DEC, NULL,              \
      "SMB Direct's private data, from before RFC 6581")                                                               \
    H(private_smb_ord, "ORD in the ULP's own words", "warp.private.depth.ord", FT_UINT32, BASE_DEC, NULL,              \
      "SMB Direct's private data, from before RFC 6581")                                                               \
    H(fpdu, "MPA FPDU", "warp.fpdu", FT_NONE, BASE_NONE, NULL, "framed PDU (RFC 5044 4)")                              \
    H(fpdu_index, "Number in this direction", "warp.fpdu.index", FT_UINT64, BASE_DEC, NULL, "from 0")                  \
    H(fpdu_position, "Stream position", "warp.fpdu.position", FT_UINT64, BASE_DEC, NULL,                               \
      "octets after the sender's start-up frame")                                                                      \
    H(fpdu_segments, "TCP segments", "warp.fpdu.segments", FT_UINT32, BASE_DEC, NULL, "that carry it")                 \
    H(fpdu_cut, "Cut", "warp.fpdu.cut", FT_BOOLEAN, BASE_NONE, NULL, "the capture has a part of it only")              \
    H(fpdu_resynced, "First one after a loss", "warp.fpdu.resynced", FT_BOOLEAN, BASE_NONE, NULL,                      \
      "boundaries were lost before it")                                                                                \
    H(fpdu_pad, "Pad", "warp.fpdu.pad", FT_BYTES, BASE_NONE, NULL, "RFC 5044 4.1")                                     \
    H(fpdu_crc, "CRC", "warp.fpdu.crc", FT_UINT32, BASE_HEX, NULL, "CRC32C, RFC 5044 4.4")                             \
    H(fpdu_crc_status, "CRC status", "warp.fpdu.crc.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals),           \
      "whether the CRC is right")                                                                                      \
    H(marker, "Marker", "warp.marker", FT_NONE, BASE_NONE, NULL, "RFC 5044 4.3")                                       \
    H(payload, "Payload", "warp.payload", FT_BYTES, BASE_NONE, NULL, "ULP octets of this DDP Segment")                 \
    H(smbd, "SMB Direct", "warp.smbd", FT_NONE, BASE_NONE, NULL, "header of the ULP, [MS-SMBD] 2.2")                   \
    H(rpcrdma, "RPC-over-RDMA", "warp.rpcrdma", FT_NONE, BASE_NONE, NULL, "header of the ULP, RFC 8166 4.2")           \
    H(iser, "iSER", "warp.iser", FT_NONE, BASE_NONE, NULL, "header of the ULP, RFC 7145 9")                            \
    H(iser_pdu, "iSCSI PDU", "warp.iser.pdu", FT_NONE, BASE_NONE, NULL, "Basic Header Segment, RFC 7143 11.2")         \
    H(nvme, "NVMe over RDMA", "warp.nvme", FT_NONE, BASE_NONE, NULL, "capsule of the ULP, NVMe-oF 7.3")                \
    H(rpcrdma_chunk, "Segment of a chunk", "warp.rpcrdma.chunk", FT_NONE, BASE_NONE, NULL, "RFC 8166 3.4.3")           \
    H(payload_octets, "Payload octets", "warp.payload.octets", FT_UINT32, BASE_DEC, NULL, "of this DDP Segment")       \
    H(message_octets, "Message octets", "warp.message.octets", FT_UINT64, BASE_DEC, NULL,                              \
      "payload of the message up to and with this segment")                                                            \
    H(message, "Reassembled message", "warp.message", FT_BYTES, BASE_NONE, NULL, "payload of all its DDP Segments")    \
    H(message_first, "Message begins in", "warp.message.first_frame", FT_FRAMENUM, BASE_NONE, NULL,                    \
      "frame with the first segment")                                                                                  \
    H(message_in, "Message ends in", "warp.message.last_frame", FT_FRAMENUM, BASE_NONE, NULL,                          \
      "frame with the last segment")                                                                                   \
    H(rtr, "RTR message", "warp.rtr", FT_STRING, BASE_NONE, NULL, "the Initiator's first FPDU (RFC 6581 9)")           \
    H(read_request, "Read Request header", "warp.read", FT_NONE, BASE_NONE, NULL, "RFC 5040 4.4")                      \
    H(atomic, "Atomic header", "warp.atomic", FT_NONE, BASE_NONE, NULL, "RFC 7306 5.2")                                \
    H(immediate, "Immediate Data", "warp.immediate", FT_NONE, BASE_NONE, NULL, "RFC 7306 6.3")                         \
    H(terminate, "Terminate Control", "warp.terminate", FT_NONE, BASE_NONE, NULL,                                      \
      "RFC 5040 4.8, as it stands on the wire")                                                                        \
    H(terminate_error, "Error", "warp.terminate.error", FT_STRING, BASE_NONE, NULL, "RFC 6580's registries")           \
    H(terminate_meant, "Error that is meant", "warp.terminate.meant", FT_STRING, BASE_NONE, NULL,                      \
      "the control word has its bits in a little-endian host's order")                                                 \
    H(quoted_ddp, "Terminated DDP header", "warp.terminate.ddp", FT_NONE, BASE_NONE, NULL,                             \
      "header of the DDP Segment in error")                                                                            \
    H(quoted_rdmap, "Terminated RDMAP header", "warp.terminate.rdmap", FT_NONE, BASE_NONE, NULL,                       \
      "header of the Read Request in error")                                                                           \
    H(excess, "Octets after the last part", "warp.terminate.excess", FT_BYTES, BASE_NONE, NULL,                        \
      "not announced by M, D or R")                                                                                    \
    H(culprit, "Terminated segment in", "warp.terminate.culprit", FT_FRAMENUM, BASE_NONE, NULL,                        \
      "frame with the segment that the Terminate quotes")                                                              \
    H(terminated_by, "Quoted by the Terminate in", "warp.terminated_by", FT_FRAMENUM, BASE_NONE, NULL,                 \
      "frame of the Terminate about this segment")                                                                     \
    H(request_in, "Request in", "warp.request_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST),         \
      "frame with what this one answers")                                                                              \
    H(response_in, "Response in", "warp.response_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE),     \
      "frame where the response begins")                                                                               \
    H(response_last, "Response ends in", "warp.response_last", FT_FRAMENUM, BASE_NONE,                                 \
      FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE), "frame where the response ends")                                            \
    H(response_time, "Time since the request", "warp.response_time", FT_RELATIVE_TIME, BASE_NONE, NULL,                \
      "from the request to this frame")                                                                                \
    H(sctp, "SCTP chunk", "warp.sctp", FT_NONE, BASE_NONE, NULL, "chunk that concerns DDP (RFC 5043)")                 \
    H(session, "DDP Stream Session Control", "warp.session", FT_NONE, BASE_NONE, NULL, "RFC 5043 6, RFC 6581 7")       \
    H(session_private, "Private Data", "warp.session.private_data", FT_BYTES, BASE_NONE, NULL,                         \
      "what the ULP says in the message")                                                                              \
    H(sid, "Stream", "warp.session.sid", FT_UINT16, BASE_DEC, NULL, "SCTP Stream Identifier")                          \
    H(segment_chunk, "DDP Segment chunk", "warp.ddp_sctp", FT_NONE, BASE_NONE, NULL,                                   \
      "DDP-SSN and DDP Segment (RFC 5043 5)")                                                                          \
    H(cm_private, "Private Data", "warp.cm.private_data", FT_BYTES, BASE_NONE, NULL, "what the CM user says")          \
    H(cm_icrc, "ICRC", "warp.cm.icrc", FT_STRING, BASE_NONE, NULL, "invariant CRC: verified, wrong, or why not")       \
    H(ipcm, "RDMA IP CM Service", "warp.ipcm", FT_NONE, BASE_NONE, NULL, "IBTA Annex A11")                             \
    H(ipcm_source4, "Source", "warp.ipcm.source_ipv4", FT_IPv4, BASE_NONE, NULL, "IPv4 address of the requester")      \
    H(ipcm_source6, "Source", "warp.ipcm.source_ipv6", FT_IPv6, BASE_NONE, NULL, "IPv6 address of the requester")      \
    H(ipcm_destination4, "Destination", "warp.ipcm.destination_ipv4", FT_IPv4, BASE_NONE, NULL,                        \
      "IPv4 address asked for")                                                                                        \
    H(ipcm_destination6, "Destination", "warp.ipcm.destination_ipv6", FT_IPv6, BASE_NONE, NULL,                        \
      "IPv6 address asked for")                                                                                        \
    H(ipcm_consumer, "Consumer Private Data", "warp.ipcm.consumer", FT_BYTES, BASE_NONE, NULL,                         \
      "private data of the user of the Service")                                                                       \
    H(ipcm_suggested, "Suggested value", "warp.ipcm.ari.suggested", FT_BYTES, BASE_NONE, NULL,                         \
      "value that the rejecter would take")                                                                            \
    H(why, "Why it ended", "warp.end.why", FT_STRING, BASE_NONE, NULL,                                                 \
      "what this Terminate, reset or reject quotes, what was negotiated, and the first rule that was broken")          \
    H(why_broke, "Broken first", "warp.end.broke", FT_STRING, BASE_NONE, NULL, "id of the requirement")                \
    H(why_broke_in, "Broken in", "warp.end.broke_frame", FT_FRAMENUM, BASE_NONE, NULL,                                 \
      "frame that shows the rule broken first")                                                                        \
    H(finding, "Finding", "warp.finding", FT_NONE, BASE_NONE, NULL, "what a rule has to say of this frame")            \
    H(finding_id, "Requirement", "warp.finding.id", FT_STRING, BASE_NONE, NULL, "id of the requirement")               \
    H(finding_side, "Side", "warp.finding.side", FT_STRING, BASE_NONE, NULL,                                           \
      "MPA role of the side that the finding is about")                                                                \
    H(finding_verdict, "Verdict", "warp.finding.verdict", FT_STRING, BASE_NONE, NULL, "FAIL, WARN or AMBIGUOUS")       \
    H(finding_text, "Finding", "warp.finding.text", FT_STRING, BASE_NONE, NULL, "sentence with the section")           \
    H(finding_expected, "Expected", "warp.finding.expected", FT_STRING, BASE_NONE, NULL, "what the text asks for")     \
    H(finding_actual, "Actual", "warp.finding.actual", FT_STRING, BASE_NONE, NULL, "what was seen")                    \
    H(finding_frame, "Shown by", "warp.finding.frame", FT_FRAMENUM, BASE_NONE, NULL, "frame that shows it")

#define WARP_FIELD_EXTERN_(id, name, abbrev, type, base, strings, blurb) extern int hf_warp_##id;
WARP_FIELDS(WARP_FIELD_EXTERN_)

#define WARP_EXPERTS(E)                                                                                                \
    E(crc_bad, "warp.fpdu.crc.bad", PI_CHECKSUM, PI_ERROR, "Bad CRC: a receiver drops this FPDU (RFC 5044 4.4)")       \
    E(marker_bad, "warp.marker.bad", PI_PROTOCOL, PI_ERROR, "FPDUPTR does not point to the FPDU's ULPDU_Length")       \
    E(cut, "warp.cut", PI_UNDECODED, PI_NOTE, "The capture has only a part of this")                                   \
    E(undecoded, "warp.undecoded.expert", PI_UNDECODED, PI_NOTE, "Not decoded")                                        \
    E(gap, "warp.gap.expert", PI_SEQUENCE, PI_WARN, "Octets of the stream are missing in the capture")                 \
    E(start_bad, "warp.mpa.bad", PI_PROTOCOL, PI_ERROR, "Malformed start-up frame")                                    \
    E(rejected, "warp.mpa.rejected", PI_RESPONSE_CODE, PI_NOTE, "The connection is rejected")                          \
    E(short_ulpdu, "warp.ddp.short", PI_PROTOCOL, PI_ERROR, "Too short for a DDP header")                              \
    E(short_header, "warp.rdmap.short", PI_PROTOCOL, PI_ERROR, "Too short for its RDMAP header")                       \
    E(terminate, "warp.terminate.expert", PI_RESPONSE_CODE, PI_WARN, "The stream is terminated")                       \
    E(session_rejected, "warp.session.rejected", PI_RESPONSE_CODE, PI_NOTE, "The session is rejected")                 \
    E(session_short, "warp.session.short", PI_PROTOCOL, PI_ERROR, "Too short for its fixed part")                      \
    E(cm_rejected, "warp.cm.rejected", PI_RESPONSE_CODE, PI_NOTE, "The connection is rejected")                        \
    E(cm_icrc, "warp.cm.icrc.bad", PI_CHECKSUM, PI_ERROR, "Bad ICRC: a receiver drops this packet")                    \
    E(fail, "warp.finding.fail", PI_PROTOCOL, PI_ERROR, "A requirement is not kept")                                   \
    E(warn, "warp.finding.warn", PI_PROTOCOL, PI_WARN, "A recommendation is not kept")                                 \
    E(ambiguous, "warp.finding.ambiguous", PI_PROTOCOL, PI_NOTE, "The texts allow two readings")

#define WARP_EXPERT_EXTERN_(id, abbrev, group, severity, text) extern expert_field ei_warp_##id;
WARP_EXPERTS(WARP_EXPERT_EXTERN_)

void warp_fields_register(void);

/*
 * Draws the fields of a layout whose header begins at `offset`, of which `have` octets are there: those that are whole.
 * True: all of them were. `skip`: ids not to show, separated by blanks, or NULL.
 */
bool warp_fields_draw(proto_tree *tree, tvbuff_t *tvb, int offset, size_t have, const struct wire_layout *layout,
                      const char *skip);

/* The same for a header that a Terminate quotes: "warp.terminate.ddp.qn" and so on. */
bool warp_fields_draw_quoted(proto_tree *tree, tvbuff_t *tvb, int offset, size_t have, const struct wire_layout *layout,
                             const char *skip);

/*
 * ---- preferences, registration ------------------------------------------------------------------------------------
 */

struct warp_preferences {
    warp_boolean findings;          /* rules run */
    warp_boolean late;              /* look for FPDUs in connections whose start was not captured */
    warp_boolean reassemble;        /* Sends of more than one segment */
    warp_boolean reassemble_tagged; /* the same for RDMA Write and RDMA Read Response */
    warp_boolean ulp;               /* hand messages to the dissectors of ULPs */
    warp_boolean builtin_names;     /* fields of the built-in dissectors in trees that are shown whole */
};

extern struct warp_preferences warp_preferences;

void warp_register(void);
void warp_handoff(void);
void warp_draw_handoff(void);
void warp_ulp_handoff(void);
void warp_sctp_handoff(void);
void warp_cm_handoff(void);
void warp_port_mapper_handoff(void);

void warp_stats_register(void);
void warp_stats_handoff(void);
void warp_follow_register(void);
/* Passes octets that a ULP sent to the listeners. */
void warp_follow_tell(tvbuff_t *payload, packet_info *pinfo);
/* Reports a frame that belongs to a flow, and an item (`segment`: NULL when it has none), to the listeners. */
void warp_stats_count_frame(const struct warp_record *record, packet_info *pinfo);
/* The same of an SCTP, RoCE or InfiniBand packet, for each flow that has something in it. */
void warp_stats_count_packet(const struct warp_record *record, packet_info *pinfo);
void warp_stats_count(const struct warp_item *item, const struct ddp_segment *segment, packet_info *pinfo);

#endif
