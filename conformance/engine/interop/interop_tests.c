/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_tests.h"

/* clang-format off */
const struct interop_test interop_tests[] = {
    {"S",  "start-up",    "Start-up",   "enhanced start-up: Private Data both ways, depths agreed, a Send each way", interop_start_enhanced, NULL},
    {"S1", "start-up-1",  "Start-up",   "plain start-up of Rev 1, a Send each way", interop_start_plain, NULL},
    {"SP", "peer",        "Start-up",   "peer-to-peer start-up with an RTR message, a Send each way", interop_start_peer, "EMPA-9.2-01"},
    {"M",  "markers",     "Start-up",   "Markers both ways, Sends of several Marker intervals", interop_start_markers, NULL},
    {"C",  "crc",         "Start-up",   "CRCs asked for and in force, a Send each way", interop_start_crc, NULL},
    {"NC", "no-crc",      "Start-up",   "no side asks for CRCs, a Send each way", interop_start_without_crc, NULL},
    {"RJ", "reject",      "Start-up",   "the responder rejects, with Private Data", interop_start_reject, NULL},
    {"X",  "close",       "Start-up",   "the initiator closes: both see an end, and no error", interop_close_initiator, NULL},
    {"XR", "close-peer",  "Start-up",   "the responder closes: both see an end, and no error", interop_close_responder, NULL},
    {"N",  "send",        "Operations", "Send, each way", interop_data_send, NULL},
    {"NE", "send-se",     "Operations", "Send with Solicited Event, each way", interop_data_send_solicited, NULL},
    {"NI", "send-inv",    "Operations", "Send with Invalidate, each way: the STag is invalid afterwards", interop_data_send_invalidate, NULL},
    {"NX", "send-se-inv", "Operations", "Send with Solicited Event and Invalidate, each way", interop_data_send_solicited_invalidate, NULL},
    {"W",  "write",       "Operations", "RDMA Write, each way, between octets that must stay", interop_data_write, NULL},
    {"R",  "read",        "Operations", "RDMA Read, each way", interop_data_read, NULL},
    {"A",  "atomic",      "Operations", "FetchAdd and CmpSwap, each way", interop_data_atomic, NULL},
    {"I",  "immediate",   "Operations", "Immediate Data, each way", interop_data_immediate, NULL},
    {"0",  "empty",       "Sizes",      "Send, Write and Read of no octets, each way", interop_data_empty, NULL},
    {"Z",  "sizes",       "Sizes",      "Send, Write and Read of many sizes, around words, Markers and segments, each way", interop_data_sizes, NULL},
    {"L",  "large",       "Sizes",      "Write and Read of 1 MiB, each way", interop_data_large, NULL},
    {"B",  "burst",       "Sizes",      "many Sends, Writes and Reads of both sides at once", interop_data_burst, NULL},
    {"ES", "bad-stag",    "Errors",     "a Write to an unknown STag: a Terminate, the end, nothing else is touched", interop_error_stag, NULL},
    {"EB", "bounds",      "Errors",     "a Write beyond the end of a region: the same", interop_error_bounds, NULL},
    {"ER", "rights",      "Errors",     "a Read of memory without the right to: the same", interop_error_rights, "RDMAP-8.1.1-06"},
    {"EL", "too-long",    "Errors",     "a Send longer than the receive: the same", interop_error_long, NULL},
    {"EN", "no-receive",  "Errors",     "a Send without a receive: the same", interop_error_no_receive, NULL},
};
/* clang-format on */

const size_t interop_test_count = sizeof(interop_tests) / sizeof(interop_tests[0]);
