/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that no code of the project made. Tester and device share wire/: were two fields of its tables exchanged, both
 * would agree with each other. Each field of iWARP's headers stands here once more, read off the figures of the texts
 * by hand, and so do frames that Linux siw sent (pcaps/linux-siw/siw-rping-terminate.pcap).
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/field.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum { HEADER_MAX = 64, OCTETS_MAX = 8 };

Suite *golden_suite(void);

/* With this value alone in a header of zeros, these octets stand from this octet on, and zeros elsewhere. */
struct golden {
    const char *layout, *field;
    uint64_t value;
    size_t at, count;
    uint8_t octets[OCTETS_MAX];
};

#define UP8 0x0102030405060708
#define UP8_OCTETS                                                                                                     \
    {                                                                                                                  \
        1, 2, 3, 4, 5, 6, 7, 8                                                                                         \
    }

/* clang-format off */
static const struct golden fields[] = {
    /* RFC 5044 7.1.1, RFC 6581 6 */
    {"mpa_start", "M", 1, 16, 1, {0x80}},
    {"mpa_start", "C", 1, 16, 1, {0x40}},
    {"mpa_start", "R", 1, 16, 1, {0x20}},
    {"mpa_start", "S", 1, 16, 1, {0x10}},
    {"mpa_start", "Res", 9, 16, 1, {0x09}},
    {"mpa_start", "Rev", 0xA5, 17, 1, {0xA5}},
    {"mpa_start", "PD_Length", 0x0102, 18, 2, {1, 2}},
    {"mpa_enhanced", "A", 1, 0, 1, {0x80}},
    {"mpa_enhanced", "B", 1, 0, 1, {0x40}},
    {"mpa_enhanced", "IRD", 0x2102, 0, 2, {0x21, 2}},
    {"mpa_enhanced", "C", 1, 2, 1, {0x80}},
    {"mpa_enhanced", "D", 1, 2, 1, {0x40}},
    {"mpa_enhanced", "ORD", 0x2102, 2, 2, {0x21, 2}},
    /* RFC 5044 4.1, 4.3 */
    {"fpdu", "ULPDU_Length", 0x0102, 0, 2, {1, 2}},
    {"marker", "Reserved", 0x0102, 0, 2, {1, 2}},
    {"marker", "FPDUPTR", 0x0102, 2, 2, {1, 2}},
    /* RFC 5041 4.1 to 4.3 */
    {"ddp_tagged", "T", 1, 0, 1, {0x80}},
    {"ddp_tagged", "L", 1, 0, 1, {0x40}},
    {"ddp_tagged", "Rsvd", 9, 0, 1, {0x24}},
    {"ddp_tagged", "DV", 2, 0, 1, {0x02}},
    {"ddp_tagged", "RsvdULP", 0xA5, 1, 1, {0xA5}},
    {"ddp_tagged", "STag", 0x01020304, 2, 4, {1, 2, 3, 4}},
    {"ddp_tagged", "TO", UP8, 6, 8, UP8_OCTETS},
    {"ddp_untagged", "T", 1, 0, 1, {0x80}},
    {"ddp_untagged", "L", 1, 0, 1, {0x40}},
    {"ddp_untagged", "Rsvd", 9, 0, 1, {0x24}},
    {"ddp_untagged", "DV", 2, 0, 1, {0x02}},
    {"ddp_untagged", "RsvdULP", 0x0102030405, 1, 5, {1, 2, 3, 4, 5}},
    {"ddp_untagged", "QN", 0x01020304, 6, 4, {1, 2, 3, 4}},
    {"ddp_untagged", "MSN", 0x01020304, 10, 4, {1, 2, 3, 4}},
    {"ddp_untagged", "MO", 0x01020304, 14, 4, {1, 2, 3, 4}},
    /* RFC 5040 4.1, 4.4, 4.8 */
    {"rdmap_control", "RV", 2, 0, 1, {0x80}},
    {"rdmap_control", "Rsv", 1, 0, 1, {0x10}},
    {"rdmap_control", "Opcode", 9, 0, 1, {0x09}},
    {"rdmap_untagged", "RV", 2, 0, 1, {0x80}},
    {"rdmap_untagged", "Rsv", 1, 0, 1, {0x10}},
    {"rdmap_untagged", "Opcode", 9, 0, 1, {0x09}},
    {"rdmap_untagged", "InvalidateSTag", 0x01020304, 1, 4, {1, 2, 3, 4}},
    {"read_request", "SinkSTag", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"read_request", "SinkTO", UP8, 4, 8, UP8_OCTETS},
    {"read_request", "RDMARDSZ", 0x01020304, 12, 4, {1, 2, 3, 4}},
    {"read_request", "SrcSTag", 0x01020304, 16, 4, {1, 2, 3, 4}},
    {"read_request", "SrcTO", UP8, 20, 8, UP8_OCTETS},
    {"terminate", "Layer", 9, 0, 1, {0x90}},
    {"terminate", "EType", 9, 0, 1, {0x09}},
    {"terminate", "Code", 0xA5, 1, 1, {0xA5}},
    {"terminate", "M", 1, 2, 1, {0x80}},
    {"terminate", "D", 1, 2, 1, {0x40}},
    {"terminate", "R", 1, 2, 1, {0x20}},
    {"terminate", "Reserved", 0x1102, 2, 2, {0x11, 2}},
    {"terminate_length", "Length", 0x0102, 0, 2, {1, 2}},
    /* RFC 7306 5.2.1, 5.2.2, 6.3 */
    {"atomic_request", "Reserved", 0x9020301, 0, 4, {0x90, 0x20, 0x30, 0x10}},
    {"atomic_request", "AOpCode", 9, 3, 1, {0x09}},
    {"atomic_request", "RequestId", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"atomic_request", "STag", 0x01020304, 8, 4, {1, 2, 3, 4}},
    {"atomic_request", "TO", UP8, 12, 8, UP8_OCTETS},
    {"atomic_request", "Data", UP8, 20, 8, UP8_OCTETS},
    {"atomic_request", "Mask", UP8, 28, 8, UP8_OCTETS},
    {"atomic_request", "CompareData", UP8, 36, 8, UP8_OCTETS},
    {"atomic_request", "CompareMask", UP8, 44, 8, UP8_OCTETS},
    {"atomic_response", "RequestId", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"atomic_response", "Value", UP8, 4, 8, UP8_OCTETS},
    {"immediate", "Data", UP8, 0, 8, UP8_OCTETS},
    /* RFC 9260 3.1, 3.2, 3.3.1, 3.3.2, 3.3.4; RFC 5061 4.2.6 */
    {"sctp_common", "SourcePort", 0x0102, 0, 2, {1, 2}},
    {"sctp_common", "DestinationPort", 0x0102, 2, 2, {1, 2}},
    {"sctp_common", "VerificationTag", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"sctp_common", "Checksum", 0x01020304, 8, 4, {1, 2, 3, 4}},
    {"sctp_chunk", "Type", 0xA5, 0, 1, {0xA5}},
    {"sctp_chunk", "Flags", 0xA5, 1, 1, {0xA5}},
    {"sctp_chunk", "Length", 0x0102, 2, 2, {1, 2}},
    {"sctp_data", "Type", 0xA5, 0, 1, {0xA5}},
    {"sctp_data", "Res", 9, 1, 1, {0x90}},
    {"sctp_data", "I", 1, 1, 1, {0x08}},
    {"sctp_data", "U", 1, 1, 1, {0x04}},
    {"sctp_data", "B", 1, 1, 1, {0x02}},
    {"sctp_data", "E", 1, 1, 1, {0x01}},
    {"sctp_data", "Length", 0x0102, 2, 2, {1, 2}},
    {"sctp_data", "TSN", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"sctp_data", "SID", 0x0102, 8, 2, {1, 2}},
    {"sctp_data", "SSN", 0x0102, 10, 2, {1, 2}},
    {"sctp_data", "PPID", 0x01020304, 12, 4, {1, 2, 3, 4}},
    {"sctp_init", "Type", 0xA5, 0, 1, {0xA5}},
    {"sctp_init", "Flags", 0xA5, 1, 1, {0xA5}},
    {"sctp_init", "Length", 0x0102, 2, 2, {1, 2}},
    {"sctp_init", "InitiateTag", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"sctp_init", "a_rwnd", 0x01020304, 8, 4, {1, 2, 3, 4}},
    {"sctp_init", "OS", 0x0102, 12, 2, {1, 2}},
    {"sctp_init", "MIS", 0x0102, 14, 2, {1, 2}},
    {"sctp_init", "InitialTSN", 0x01020304, 16, 4, {1, 2, 3, 4}},
    {"sctp_adaptation", "Type", 0x0102, 0, 2, {1, 2}},
    {"sctp_adaptation", "Length", 0x0102, 2, 2, {1, 2}},
    {"sctp_adaptation", "Indication", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"sctp_sack", "Type", 0xA5, 0, 1, {0xA5}},
    {"sctp_sack", "Flags", 0xA5, 1, 1, {0xA5}},
    {"sctp_sack", "Length", 0x0102, 2, 2, {1, 2}},
    {"sctp_sack", "Cumulative", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"sctp_sack", "a_rwnd", 0x01020304, 8, 4, {1, 2, 3, 4}},
    {"sctp_sack", "Gaps", 0x0102, 12, 2, {1, 2}},
    {"sctp_sack", "Duplicates", 0x0102, 14, 2, {1, 2}},
    /* RFC 5043 5.2.2, 5.2.3; draft-stewart-rddp-sctp-02 2.2 */
    {"ddp_sctp_segment", "SSN", 0x0102, 0, 2, {1, 2}},
    {"ddp_sctp_control", "SSN", 0x0102, 0, 2, {1, 2}},
    {"ddp_sctp_control", "Code", 0x0102, 2, 2, {1, 2}},
    {"ddp_sctp_draft_control", "Code", 0x01020304, 0, 4, {1, 2, 3, 4}},
    /* [MS-SMBD] 2.2.1 to 2.2.3.1, counted by hand: the least significant octet first */
    {"smbd_request", "MinVersion", 0x0102, 0, 2, {2, 1}},
    {"smbd_request", "MaxVersion", 0x0102, 2, 2, {2, 1}},
    {"smbd_request", "Reserved", 0x0102, 4, 2, {2, 1}},
    {"smbd_request", "CreditsRequested", 0x0102, 6, 2, {2, 1}},
    {"smbd_request", "PreferredSendSize", 0x01020304, 8, 4, {4, 3, 2, 1}},
    {"smbd_request", "MaxReceiveSize", 0x01020304, 12, 4, {4, 3, 2, 1}},
    {"smbd_request", "MaxFragmentedSize", 0x01020304, 16, 4, {4, 3, 2, 1}},
    {"smbd_response", "MinVersion", 0x0102, 0, 2, {2, 1}},
    {"smbd_response", "MaxVersion", 0x0102, 2, 2, {2, 1}},
    {"smbd_response", "NegotiatedVersion", 0x0102, 4, 2, {2, 1}},
    {"smbd_response", "Reserved", 0x0102, 6, 2, {2, 1}},
    {"smbd_response", "CreditsRequested", 0x0102, 8, 2, {2, 1}},
    {"smbd_response", "CreditsGranted", 0x0102, 10, 2, {2, 1}},
    {"smbd_response", "Status", 0x01020304, 12, 4, {4, 3, 2, 1}},
    {"smbd_response", "MaxReadWriteSize", 0x01020304, 16, 4, {4, 3, 2, 1}},
    {"smbd_response", "PreferredSendSize", 0x01020304, 20, 4, {4, 3, 2, 1}},
    {"smbd_response", "MaxReceiveSize", 0x01020304, 24, 4, {4, 3, 2, 1}},
    {"smbd_response", "MaxFragmentedSize", 0x01020304, 28, 4, {4, 3, 2, 1}},
    {"smbd_data", "CreditsRequested", 0x0102, 0, 2, {2, 1}},
    {"smbd_data", "CreditsGranted", 0x0102, 2, 2, {2, 1}},
    {"smbd_data", "Flags", 0x0102, 4, 2, {2, 1}},
    {"smbd_data", "Reserved", 0x0102, 6, 2, {2, 1}},
    {"smbd_data", "RemainingDataLength", 0x01020304, 8, 4, {4, 3, 2, 1}},
    {"smbd_data", "DataOffset", 0x01020304, 12, 4, {4, 3, 2, 1}},
    {"smbd_data", "DataLength", 0x01020304, 16, 4, {4, 3, 2, 1}},
    {"smbd_descriptor", "Offset", UP8, 0, 8, {8, 7, 6, 5, 4, 3, 2, 1}},
    {"smbd_descriptor", "Token", 0x01020304, 8, 4, {4, 3, 2, 1}},
    {"smbd_descriptor", "Length", 0x01020304, 12, 4, {4, 3, 2, 1}},
    /* RFC 8166 4.1.2, RFC 8797 4 */
    {"rpcrdma_header", "XID", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"rpcrdma_header", "Version", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"rpcrdma_header", "Credits", 0x01020304, 8, 4, {1, 2, 3, 4}},
    {"rpcrdma_header", "Procedure", 0x01020304, 12, 4, {1, 2, 3, 4}},
    {"rpcrdma_segment", "Handle", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"rpcrdma_segment", "Length", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"rpcrdma_segment", "Offset", UP8, 8, 8, UP8_OCTETS},
    {"rpcrdma_read_segment", "Position", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"rpcrdma_read_segment", "Handle", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"rpcrdma_read_segment", "Length", 0x01020304, 8, 4, {1, 2, 3, 4}},
    {"rpcrdma_read_segment", "Offset", UP8, 12, 8, UP8_OCTETS},
    {"rpcrdma_private", "Format", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"rpcrdma_private", "Version", 0xA5, 4, 1, {0xA5}},
    {"rpcrdma_private", "Reserved", 0x55, 5, 1, {0xAA}},
    {"rpcrdma_private", "R", 1, 5, 1, {0x01}},
    {"rpcrdma_private", "SendSize", 0xA5, 6, 1, {0xA5}},
    {"rpcrdma_private", "ReceiveSize", 0xA5, 7, 1, {0xA5}},
    {"iser_private", "ZBVA_not_used", 1, 0, 1, {0x80}},
    {"iser_private", "Send_Invalidate_not_used", 1, 0, 1, {0x40}},
    {"iser_private", "Reserved", 0x01020304, 0, 4, {1, 2, 3, 4}},
    {"nvme_host_private", "RECFMT", 0x0102, 0, 2, {2, 1}},
    {"nvme_host_private", "QID", 0x0102, 2, 2, {2, 1}},
    {"nvme_host_private", "HRQSIZE", 0x0102, 4, 2, {2, 1}},
    {"nvme_host_private", "HSQSIZE", 0x0102, 6, 2, {2, 1}},
    {"nvme_host_private", "CNTLID", 0x0102, 8, 2, {2, 1}},
    {"nvme_controller_private", "RECFMT", 0x0102, 0, 2, {2, 1}},
    {"nvme_controller_private", "CRQSIZE", 0x0102, 2, 2, {2, 1}},
    /* RFC 7145 9.2 to 9.4 */
    {"iser_control", "Opcode", 0x9, 0, 1, {0x90}},
    {"iser_control", "WSV", 1, 0, 1, {0x08}},
    {"iser_control", "RSV", 1, 0, 1, {0x04}},
    {"iser_control", "Reserved", 0x2010203, 0, 4, {2, 1, 2, 3}},
    {"iser_control", "WriteSTag", 0x01020304, 4, 4, {1, 2, 3, 4}},
    {"iser_control", "WriteBaseOffset", UP8, 8, 8, UP8_OCTETS},
    {"iser_control", "ReadSTag", 0x01020304, 16, 4, {1, 2, 3, 4}},
    {"iser_control", "ReadBaseOffset", UP8, 20, 8, UP8_OCTETS},
    {"iser_hello", "Opcode", 0x9, 0, 1, {0x90}},
    {"iser_hello", "Reserved", 0x9, 0, 1, {0x09}},
    {"iser_hello", "MaxVer", 0x9, 1, 1, {0x90}},
    {"iser_hello", "MinVer", 0x9, 1, 1, {0x09}},
    {"iser_hello", "IRD", 0x0102, 2, 2, {1, 2}},
    {"iser_hello_reply", "Opcode", 0x9, 0, 1, {0x90}},
    {"iser_hello_reply", "Reserved", 0x5, 0, 1, {0x0A}},
    {"iser_hello_reply", "REJ", 1, 0, 1, {0x01}},
    {"iser_hello_reply", "MaxVer", 0x9, 1, 1, {0x90}},
    {"iser_hello_reply", "CurVer", 0x9, 1, 1, {0x09}},
    {"iser_hello_reply", "ORD", 0x0102, 2, 2, {1, 2}},
    /* RFC 7143 11.2, 11.3, 11.4 */
    {"iscsi_request", "Reserved", 1, 0, 1, {0x80}},
    {"iscsi_request", "Immediate", 1, 0, 1, {0x40}},
    {"iscsi_request", "Opcode", 0x21, 0, 1, {0x21}},
    {"iscsi_request", "Flags", 0xA5, 1, 1, {0xA5}},
    {"iscsi_request", "Specific", 0x0102, 2, 2, {1, 2}},
    {"iscsi_request", "TotalAHSLength", 0xA5, 4, 1, {0xA5}},
    {"iscsi_request", "DataSegmentLength", 0x010203, 5, 3, {1, 2, 3}},
    {"iscsi_request", "LUN", UP8, 8, 8, UP8_OCTETS},
    {"iscsi_request", "InitiatorTaskTag", 0x01020304, 16, 4, {1, 2, 3, 4}},
    {"iscsi_request", "ExpectedLength", 0x01020304, 20, 4, {1, 2, 3, 4}},
    {"iscsi_request", "CmdSN", 0x01020304, 24, 4, {1, 2, 3, 4}},
    {"iscsi_request", "ExpStatSN", 0x01020304, 28, 4, {1, 2, 3, 4}},
    {"iscsi_response", "Reserved", 2, 0, 1, {0x80}},
    {"iscsi_response", "Opcode", 0x21, 0, 1, {0x21}},
    {"iscsi_response", "Flags", 0xA5, 1, 1, {0xA5}},
    {"iscsi_response", "Response", 0xA5, 2, 1, {0xA5}},
    {"iscsi_response", "Status", 0xA5, 3, 1, {0xA5}},
    {"iscsi_response", "TotalAHSLength", 0xA5, 4, 1, {0xA5}},
    {"iscsi_response", "DataSegmentLength", 0x010203, 5, 3, {1, 2, 3}},
    {"iscsi_response", "LUN", UP8, 8, 8, UP8_OCTETS},
    {"iscsi_response", "InitiatorTaskTag", 0x01020304, 16, 4, {1, 2, 3, 4}},
    {"iscsi_response", "Tag", 0x01020304, 20, 4, {1, 2, 3, 4}},
    {"iscsi_response", "StatSN", 0x01020304, 24, 4, {1, 2, 3, 4}},
    {"iscsi_response", "ExpCmdSN", 0x01020304, 28, 4, {1, 2, 3, 4}},
    {"iscsi_response", "MaxCmdSN", 0x01020304, 32, 4, {1, 2, 3, 4}},
    /* NVMe-oF 7.3: little-endian */
    {"nvme_command", "Opcode", 0xA5, 0, 1, {0xA5}},
    {"nvme_command", "Flags", 0xA5, 1, 1, {0xA5}},
    {"nvme_command", "CID", 0x0102, 2, 2, {2, 1}},
    {"nvme_command", "NSID", 0x01020304, 4, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW2", 0x01020304, 8, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW3", 0x01020304, 12, 4, {4, 3, 2, 1}},
    {"nvme_command", "MPTR", UP8, 16, 8, {8, 7, 6, 5, 4, 3, 2, 1}},
    {"nvme_command", "Address", UP8, 24, 8, {8, 7, 6, 5, 4, 3, 2, 1}},
    {"nvme_command", "Length", 0x010203, 32, 3, {3, 2, 1}},
    {"nvme_command", "Key", 0x01020304, 35, 4, {4, 3, 2, 1}},
    {"nvme_command", "Type", 0xA5, 39, 1, {0xA5}},
    {"nvme_command", "CDW10", 0x01020304, 40, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW11", 0x01020304, 44, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW12", 0x01020304, 48, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW13", 0x01020304, 52, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW14", 0x01020304, 56, 4, {4, 3, 2, 1}},
    {"nvme_command", "CDW15", 0x01020304, 60, 4, {4, 3, 2, 1}},
    {"nvme_response", "Result", UP8, 0, 8, {8, 7, 6, 5, 4, 3, 2, 1}},
    {"nvme_response", "SQHD", 0x0102, 8, 2, {2, 1}},
    {"nvme_response", "SQID", 0x0102, 10, 2, {2, 1}},
    {"nvme_response", "CID", 0x0102, 12, 2, {2, 1}},
    {"nvme_response", "Status", 0x0102, 14, 2, {2, 1}},
    /* the port mapper of draft-pinkerton-iwarp-sdp-v1.0 */
    {"port_mapper", "VER", 2, 0, 1, {0x80}},
    {"port_mapper", "MT", 1, 0, 1, {0x10}},
    {"port_mapper", "IPVer", 6, 0, 1, {6}},
    {"port_mapper", "PmTime", 0xA5, 1, 1, {0xA5}},
    {"port_mapper", "Reserved", 0x0102, 2, 2, {1, 2}},
    {"port_mapper", "ApPort", 0x0102, 4, 2, {1, 2}},
    {"port_mapper", "CpPort", 0x0102, 6, 2, {1, 2}},
    {"port_mapper", "AssocHandle", UP8, 8, 8, UP8_OCTETS},
};

/* InfiniBand's headers and MADs: test_roce.c holds them to frames of Linux rxe, test_cm.c to octets of Annex A11. */
static const char *const elsewhere[] = {
    "lrh", "bth", "deth", "mad", "cm_ids", "cm_req", "cm_rep", "cm_mra", "cm_rej", "cm_dreq",
    "cm_sidr_req", "cm_sidr_rep", "ip_cm_private", "ip_cm_service", "ip_cm_ari",
};
/* clang-format on */

START_TEST(each_field_in_both_directions)
{
    const struct golden *row = &fields[_i];
    const struct wire_layout *layout = wire_layout_find(row->layout);
    const struct wire_field *field = layout == NULL ? NULL : wire_layout_field(layout, row->field);
    uint8_t header[HEADER_MAX] = {0}, expected[HEADER_MAX] = {0};

    ck_assert_msg(field != NULL, "there is no field %s.%s", row->layout, row->field);
    memcpy(expected + row->at, row->octets, row->count);
    wire_field_set(field, header, row->value);
    ck_assert_mem_eq(header, expected, sizeof(header));
    ck_assert_uint_eq(wire_field_get(field, expected), row->value);
}
END_TEST

static bool is_elsewhere(const char *layout)
{
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (strcmp(elsewhere[i], layout) == 0)
            return true;
    return false;
}

static bool has_golden(const char *layout, const char *field)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(fields[i].layout, layout) == 0 && strcmp(fields[i].field, field) == 0)
            return true;
    return false;
}

/* Every number of every header of the project is in the table: a new header needs its golden octets, too. */
START_TEST(no_field_is_left_out)
{
    size_t headers = 0;

    for (size_t i = 0; wire_layouts[i] != NULL; i++) {
        const struct wire_layout *layout = wire_layouts[i];

        if (is_elsewhere(layout->id))
            continue;
        headers++;
        for (size_t k = 0; k < layout->field_count; k++)
            ck_assert_msg(layout->fields[k].kind == WIRE_OCTETS || has_golden(layout->id, layout->fields[k].id),
                          "%s.%s has no golden octets", layout->id, layout->fields[k].id);
    }
    ck_assert_uint_gt(headers, 0);
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        ck_assert_msg(wire_layout_find(elsewhere[i]) != NULL, "there is no header %s", elsewhere[i]);
}
END_TEST

/* Frame 4 and 6: Rev 2, S, neither M nor C nor R; IRD 1, ORD 1, no flags. */
START_TEST(start_up_of_siw)
{
    static const uint8_t request[24] = "MPA ID Req Frame\x10\x02\x00\x04\x00\x01\x00\x01";
    static const uint8_t reply[24] = "MPA ID Rep Frame\x10\x02\x00\x04\x00\x01\x00\x01";
    const uint8_t *const frames[] = {request, reply};
    const enum iwarp_mpa_start_kind kinds[] = {IWARP_MPA_REQUEST, IWARP_MPA_REPLY};

    for (size_t i = 0; i < 2; i++) {
        const uint8_t *p = frames[i];
        struct iwarp_mpa_start start;
        uint8_t packed[24];

        ck_assert_uint_eq(mpa_start_parse(&p, frames[i] + 24, kinds[i], &start), WIRE_OK);
        ck_assert(!start.markers && !start.crc && !start.rejected && start.enhanced);
        ck_assert(!start.peer_to_peer && !start.rtr_send && !start.rtr_write && !start.rtr_read);
        ck_assert_uint_eq(start.revision, 2);
        ck_assert_uint_eq(start.ird, 1);
        ck_assert_uint_eq(start.ord, 1);
        start.private_octets = 0; /* the ULP's alone */
        ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 24);
        ck_assert_mem_eq(packed, frames[i], 24);
    }
}
END_TEST

/* Frame 9: the ULPDU of a Read Request for 3000 octets. */
START_TEST(read_request_of_siw)
{
    static const uint8_t ulpdu[46] = {
        0x41, 0x41, 0,    0,    0,    0, 0, 0, 0,    1,    0,    0,    0,    1,    0, 0,
        0,    0,    0x18, 0x5D, 0x14, 0, 0, 0, 0x56, 0x2C, 0x07, 0xD4, 0xF5, 0x50, 0, 0,
        0x0B, 0xB8, 0x7B, 0x22, 0xB3, 0, 0, 0, 0x56, 0x1D, 0x6B, 0xB9, 0xB2, 0xC0,
    };
    const uint8_t *p = ulpdu;
    struct ddp_segment segment;
    struct read_request read;
    uint8_t packed[28];

    ck_assert_uint_eq(ddp_parse(&p, ulpdu + sizeof(ulpdu), &segment), WIRE_OK);
    ck_assert(!segment.tagged && segment.last);
    ck_assert_uint_eq(segment.control, 0x41);
    ck_assert_uint_eq(segment.qn, 1);
    ck_assert_uint_eq(segment.msn, 1);
    ck_assert_uint_eq(segment.mo, 0);
    p = segment.payload;
    ck_assert_uint_eq(read_request_parse(&p, p + segment.payload_octets, &read), WIRE_OK);
    ck_assert_uint_eq(read.sink_stag, 0x185D1400);
    ck_assert_uint_eq(read.sink_to, UINT64_C(0x0000562C07D4F550));
    ck_assert_uint_eq(read.octets, 3000);
    ck_assert_uint_eq(read.source_stag, 0x7B22B300);
    ck_assert_uint_eq(read.source_to, UINT64_C(0x0000561D6BB9B2C0));
    read_request_pack(&read, packed);
    ck_assert_mem_eq(packed, ulpdu + 18, sizeof(packed));
}
END_TEST

Suite *golden_suite(void)
{
    Suite *suite = suite_create("golden");
    TCase *tcase = tcase_create("golden");

    tcase_add_loop_test(tcase, each_field_in_both_directions, 0, (int)(sizeof(fields) / sizeof(fields[0])));
    tcase_add_test(tcase, no_field_is_left_out);
    tcase_add_test(tcase, start_up_of_siw);
    tcase_add_test(tcase, read_request_of_siw);
    suite_add_tcase(suite, tcase);
    return suite;
}
