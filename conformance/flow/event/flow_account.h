/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account of an input: what became of every file, every frame and every octet of it. Each reason stands once, in
 * the table below, with its name (results.jsonl), its sentence (for people) and its kind, which says whether it leaves
 * octets unjudged that are iWARP or may be. Whoever counts, adds, writes or shows reasons takes them from here.
 *
 * The ledgers add up: each frame is in one row of the kinds judged, foreign and unjudged, and so is each captured
 * octet. Octets of rows of the kind "missing" are not in the input: they stand beside these sums.
 */
#ifndef FLOW_FLOW_ACCOUNT_H
#define FLOW_FLOW_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow_account_kind {
    FLOW_JUDGED,   /* iWARP that rules saw, and what carried it */
    FLOW_FOREIGN,  /* certainly not iWARP */
    FLOW_UNJUDGED, /* iWARP, or possibly iWARP, that no rule saw */
    FLOW_MISSING,  /* octets of iWARP that are not in the input at all */
    FLOW_ACCOUNT_KINDS
};

/* clang-format off */
#define FLOW_ACCOUNT_TABLE(ROW) \
    ROW(IWARP,          JUDGED,   "iwarp",          "iWARP that the rules judged") \
    ROW(HEADERS,        JUDGED,   "headers",        "headers and padding of the frames with TCP, SCTP and CM messages") \
    ROW(AGAIN,          JUDGED,   "again",          "octets that were sent again: the first copy counts") \
    ROW(NOT_ACCEPTED,   JUDGED,   "not-accepted",   "octets that a receiver drops: outside the window, or in a RST") \
    ROW(BY_CHECK,       JUDGED,   "by-check",       "octets near stimuli of a live run that break the protocol on purpose: the checks judged them") \
    ROW(IP_CHECKSUM,    JUDGED,   "ip-checksum",    "IPv4 headers with a wrong checksum, which are still decoded: network cards compute it after the capture") \
    ROW(ARP,            FOREIGN,  "arp",            "ARP") \
    ROW(LLC,            FOREIGN,  "llc",            "LLC and SNAP protocols that carry no IP") \
    ROW(ETHERTYPE,      FOREIGN,  "ethertype",      "EtherTypes that carry no IP") \
    ROW(ICMP,           FOREIGN,  "icmp",           "ICMP and ICMPv6") \
    ROW(IGMP,           FOREIGN,  "igmp",           "IGMP") \
    ROW(UDP,            FOREIGN,  "udp",            "UDP with neither IP nor TCP nor SCTP in it") \
    ROW(PORT_MAPPER,    FOREIGN,  "port-mapper",    "messages of the port mapper, which names the ports of iWARP's services") \
    ROW(IP_PROTOCOL,    FOREIGN,  "ip-protocol",    "IP protocols that carry neither IP nor TCP nor SCTP") \
    ROW(TUNNEL_FOREIGN, FOREIGN,  "tunnel-foreign", "tunnels with neither TCP nor SCTP nor a CM message in them") \
    ROW(ROCE,           FOREIGN,  "roce",           "RoCE without a CM message") \
    ROW(INFINIBAND,     FOREIGN,  "infiniband",     "InfiniBand without a CM message") \
    ROW(ERF,            FOREIGN,  "erf",            "ERF records without a packet") \
    ROW(TCP,            FOREIGN,  "tcp",            "TCP without MPA") \
    ROW(TCP_EMPTY,      FOREIGN,  "tcp-empty",      "TCP without data") \
    ROW(OTHER_HOSTS,    FOREIGN,  "other-hosts",    "TCP of other hosts on the tester's link") \
    ROW(SCTP,           FOREIGN,  "sctp",           "SCTP without DDP") \
    ROW(SCTP_DATA,      FOREIGN,  "sctp-data",      "SCTP user messages of other protocols") \
    ROW(ULP,            FOREIGN,  "ulp",            "the ULP's own octets before start-up frames or after a rejection") \
    ROW(FILTERED,       FOREIGN,  "filtered",       "frames that --filter leaves out, whatever they are") \
    ROW(FILE,           FOREIGN,  "file",           "files in folders that are certainly no captures") \
    ROW(EMPTY,          FOREIGN,  "empty",          "captures without a frame, and empty files") \
    ROW(FILE_AGAIN,     FOREIGN,  "file-again",     "links to files that are also read directly") \
    ROW(BLOCK,          FOREIGN,  "block",          "pcapng blocks without frames") \
    ROW(COMPRESSED,     UNJUDGED, "compressed",     "a file compressed in a way that is not read (gzip, zstd and lz4 are): decompress it first") \
    ROW(ARCHIVE,        UNJUDGED, "archive",        "an archive is not opened: extract its files first") \
    ROW(OTHER_FORMAT,   UNJUDGED, "other-format",   "a capture in another format is not read: convert it with editcap") \
    ROW(FILE_UNKNOWN,   UNJUDGED, "file-unknown",   "a file in a folder begins like nothing that is known, and may be a capture: name it, or leave it out") \
    ROW(UNREADABLE,     UNJUDGED, "unreadable",     "the file or folder cannot be opened or decompressed") \
    ROW(LINKED_FOLDER,  UNJUDGED, "linked-folder",  "a link to a folder elsewhere is not followed: name the folder") \
    ROW(SPECIAL_FILE,   UNJUDGED, "special-file",   "a named pipe in a folder is not read: name it") \
    ROW(LINK_TYPE,      UNJUDGED, "link-type",      "the decoder does not know the link type of the frame") \
    ROW(NO_INTERFACE,   UNJUDGED, "no-interface",   "the capture does not describe the interface of the frame") \
    ROW(CUT_HEADERS,    UNJUDGED, "cut-headers",    "the capture cut the frame within its headers") \
    ROW(LINK_HEADER,    UNJUDGED, "link-header",    "the frame is shorter than its link header") \
    ROW(IP_HEADER,      UNJUDGED, "ip-header",      "the IP header contradicts itself") \
    ROW(IP_LENGTH,      UNJUDGED, "ip-length",      "the IP header's length exceeds the frame") \
    ROW(ETHERTYPE_UNKNOWN, UNJUDGED, "ethertype-unknown", "the EtherType is not known, so the frame may carry IP") \
    ROW(LLC_UNKNOWN,    UNJUDGED, "llc-unknown",    "the LLC or SNAP protocol is not known, so the frame may carry IP") \
    ROW(IP_PROTOCOL_UNKNOWN, UNJUDGED, "ip-protocol-unknown", "the IP protocol is not known, so the packet may be a tunnel") \
    ROW(ERF_UNKNOWN,    UNJUDGED, "erf-unknown",    "the ERF record's type is not known, so it may have a packet") \
    ROW(TUNNEL,         UNJUDGED, "tunnel",         "a tunnel that cannot be opened: encrypted, or of a form that is not known") \
    ROW(FRAGMENT_LOST,  UNJUDGED, "fragment-lost",  "other fragments of the IP packet did not arrive within 60 s") \
    ROW(FRAGMENT_OVERLAP, UNJUDGED, "fragment-overlap", "fragments of the IP packet overlap and contradict each other") \
    ROW(FRAGMENT_LENGTH, UNJUDGED, "fragment-length", "a fragment has a length that is not a multiple of 8, or ends after 65,535 octets") \
    ROW(FRAGMENT_CUT,   UNJUDGED, "fragment-cut",   "the capture cut a fragment of the IP packet") \
    ROW(FRAGMENT_ROOM,  UNJUDGED, "fragment-room",  "more IP packets in fragments were open than the decoder can hold") \
    ROW(TCP_HEADER,     UNJUDGED, "tcp-header",     "the TCP header contradicts itself or the packet's length") \
    ROW(UDP_LENGTH,     UNJUDGED, "udp-length",     "the UDP length contradicts the packet's") \
    ROW(IB_HEADER,      UNJUDGED, "ib-header",      "the InfiniBand headers contradict the packet's length") \
    ROW(ICRC,           UNJUDGED, "icrc",           "the ICRC of a packet with a MAD is wrong: a receiver drops the packet") \
    ROW(MAD_LENGTH,     UNJUDGED, "mad-length",     "a packet to queue pair 1 with more or fewer than the 256 octets of a MAD") \
    ROW(SCTP_HEADER,    UNJUDGED, "sctp-header",    "the SCTP packet is shorter than its header") \
    ROW(SCTP_CHECKSUM,  UNJUDGED, "sctp-checksum",  "the SCTP packet's checksum is wrong: a receiver drops the packet") \
    ROW(SCTP_STRANGER,  UNJUDGED, "sctp-stranger",  "the SCTP packet's addresses or Verification Tag are not the association's: a receiver drops the packet") \
    ROW(SCTP_AHEAD,     UNJUDGED, "sctp-ahead",     "an SCTP chunk's TSN is further ahead than a receiver stores") \
    ROW(SCTP_STOPPED,   UNJUDGED, "sctp-stopped",   "SCTP chunks after one whose type makes a receiver leave the packet's rest alone") \
    ROW(SCTP_CHUNK,     UNJUDGED, "sctp-chunk",     "the length of an SCTP chunk contradicts the packet's") \
    ROW(SCTP_UNKNOWN,   UNJUDGED, "sctp-unknown",   "the association's start was not captured, and it may carry DDP") \
    ROW(MESSAGE_SHORT,  UNJUDGED, "message-short",  "an SCTP user message is too short for its DDP-SSN") \
    ROW(MESSAGE_PARTS,  UNJUDGED, "message-parts",  "fragments of an SCTP user message are incomplete") \
    ROW(SSN_AGAIN,      UNJUDGED, "ssn-again",      "an SCTP user message has a DDP-SSN that was used before") \
    ROW(UNRECOGNISED,   UNJUDGED, "unrecognised",   "the TCP connection's beginning was not captured, and its octets may be iWARP") \
    ROW(LATE,           UNJUDGED, "late",           "octets before the first FPDU that was found in mid-stream") \
    ROW(SYNC_LOST,      UNJUDGED, "sync-lost",      "octets between a lost FPDU boundary and the next one that was found") \
    ROW(START_MALFORMED, UNJUDGED, "start-malformed", "octets after a malformed start-up frame") \
    ROW(UNVERIFIED,     UNJUDGED, "unverified",     "FPDUs that were found after a loss or in mid-stream, and that no CRC verifies") \
    ROW(OVERTAKEN,      UNJUDGED, "overtaken",      "octets that arrived after later octets had been decoded") \
    ROW(UNANSWERED,     UNJUDGED, "unanswered",     "octets after a SYN on an open connection; the capture has no answer to the SYN") \
    ROW(URGENT,         UNJUDGED, "urgent",         "urgent octets, which some TCPs remove from the stream") \
    ROW(PART,           UNJUDGED, "part",           "parts of FPDUs and messages whose other parts are not in the capture") \
    ROW(UNFINISHED,     UNJUDGED, "unfinished",     "the capture or the connection ends within an FPDU or start-up frame") \
    ROW(CONFLICT,       UNJUDGED, "conflict",       "octets were sent again with different contents; it is unknown which ones the receiver accepted") \
    ROW(UNCOMPARED,     UNJUDGED, "uncompared",     "octets were sent again before they were acknowledged, and the first copy is no longer stored for a comparison") \
    ROW(UNORDERED,      UNJUDGED, "unordered",      "connections whose two directions cannot be ordered: the capture does not show what a side had received before it sent") \
    ROW(HELD_TOO_MUCH,  UNJUDGED, "held-too-much",  "more segments were out of order than the decoder can hold") \
    ROW(EVICTED,        UNJUDGED, "evicted",        "connections that went on after they had made room for others, or were idle too long: more were open than --memory has room for, or monitor --idle is too short") \
    ROW(MEMORY,         UNJUDGED, "memory",         "the decoder had no memory for it") \
    ROW(UNKNOWN,        UNJUDGED, "unknown",        "a reason that this version of the program does not know") \
    ROW(RING_FILE,      MISSING,  "ring-file",      "files of a ring whose numbers are not there") \
    ROW(DROPPED,        MISSING,  "dropped",        "frames that arrived and that the capture mechanism dropped") \
    ROW(GAP,            MISSING,  "gap",            "octets of iWARP that no frame of the capture has") \
    ROW(SNAPPED,        MISSING,  "snapped",        "octets of iWARP that the capture cut off its frames")
/* clang-format on */

enum flow_row {
#define FLOW_ROW_OF(id, kind, name, text) FLOW_ROW_##id,
    FLOW_ACCOUNT_TABLE(FLOW_ROW_OF)
#undef FLOW_ROW_OF
        FLOW_ROWS
};

struct flow_account_row {
    const char *name; /* in results.jsonl */
    const char *text; /* for people, without a full stop */
    enum flow_account_kind kind;
};

/* What was counted under one reason. */
struct flow_count {
    uint64_t items; /* files, connections; of FLOW_ROW_DROPPED, FLOW_ROW_IP_CHECKSUM, FLOW_ROW_BLOCK: frames, blocks */
    uint64_t frames;
    uint64_t octets;
};

struct flow_account {
    struct flow_count row[FLOW_ROWS];
};

/* The row's name, sentence and kind; that of FLOW_ROW_UNKNOWN for a number that is none. */
const struct flow_account_row *flow_account_row(enum flow_row row);

/* "judged", "foreign", "unjudged", "missing" */
const char *flow_account_kind_name(enum flow_account_kind kind);

/* The row of that name; FLOW_ROW_UNKNOWN when there is none. */
enum flow_row flow_account_find(const char *name);

/* The sum of all rows of a kind. */
struct flow_count flow_account_sum(const struct flow_account *account, enum flow_account_kind kind);

/* True when nothing is counted in that row. */
bool flow_account_none(const struct flow_account *account, enum flow_row row);

/* True when nothing of iWARP was left unjudged: no row of the kinds unjudged and missing has anything. */
bool flow_account_whole(const struct flow_account *account);

/* Adds `others` to `account`. */
void flow_account_add(struct flow_account *account, const struct flow_account *others);

/* What was counted in `now` since it was `before`. */
void flow_account_since(const struct flow_account *before, const struct flow_account *now, struct flow_account *since);

/* Counts in one row; for what is not on a fast path. */
static inline void flow_account_count(struct flow_account *account, enum flow_row row, uint64_t frames, uint64_t octets)
{
    account->row[row].frames += frames;
    account->row[row].octets += octets;
}

#endif
