/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain messages over libusrsctp between two processes on loopback, to compare the stack over SCTP with: SCTP in UDP
 * datagrams as the stack has it, with the same path MTU, the same room and without threads, and with nothing above
 * SCTP.
 */
#ifndef TESTS_BENCH_PLAIN_SCTP_H
#define TESTS_BENCH_PLAIN_SCTP_H

#include "tests/bench/plain_tcp.h"

/* False: this build has no libusrsctp. */
bool plain_sctp_there(void);

/*
 * Messages of `size` octets one way, or (ping) there and back, for `limit` seconds. libusrsctp has one stack in a
 * process: it is called in a process that uses it for nothing else.
 */
struct result plain_sctp(bool ping, size_t size, double limit);

#endif
