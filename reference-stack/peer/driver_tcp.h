/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer over kernel TCP: a libuv loop, one write for each FPDU with Nagle off so that FPDUs and segments go together
 * (RFC 5044 5.1), the EMSS that the kernel reports; or over SCTP, in UDP datagrams or of the kernel; and the upper
 * tester on a control socket: one JSON object a line.
 */
#ifndef REFERENCE_STACK_DRIVER_TCP_H
#define REFERENCE_STACK_DRIVER_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "reference-stack/peer/peer.h"
#include "upper-tester/token.h"

struct driver;

enum {
    DRIVER_LINE_MAX = 64 << 20,  /* octets of one command; a longer one gets an error */
    DRIVER_CONTROLS_MAX = 256,   /* control clients at once, by default */
    DRIVER_UNREAD_MAX = 1 << 20, /* octets of replies that a control client has not read, by default */
};

/* SCTP: libusrsctp's in UDP datagrams (RFC 6951), or the kernel's. */
struct driver_sctp_config {
    bool on;                /* in place of TCP; peer.association is to be set then */
    bool kernel;            /* over IP, and to peers with a UDP port in UDP datagrams; udp_port is not looked at */
    uint16_t udp_port;      /* own; 0: any */
    uint16_t peer_udp_port; /* of peers, where a command names none; kernel: 0: SCTP over IP */
};

struct driver_config {
    bool ipv6;                /* listen on :: (both families) rather than on 0.0.0.0 */
    const char *bind_address; /* to listen on; NULL: any */
    size_t controls_max;      /* control clients at once; 0: the default. One more gets an error, and is closed */
    size_t unread_max;        /* octets of replies that wait, after which no command is obeyed; 0: the default */
    struct upper_token token; /* that control clients have to show first; empty: none */
    struct driver_sctp_config sctp;
    struct peer_config peer; /* peer.memory_max is the limit of what control clients and sockets hold, too */
    /* Something was refused for the first time: a connection, a control client, memory. NULL: not called. */
    void (*refused)(void *context, const char *what);
    void *context;
};

/* NULL with a sentence. `config` may be NULL. */
struct driver *driver_new(const struct driver_config *config, struct iwarp_sentence *sentence);
void driver_free(struct driver *driver);

/* The peer, for peer_command(). Between two calls of driver_run() only. */
struct peer *driver_peer(struct driver *driver);

/* The own UDP port below SCTP; 0: over TCP, or over SCTP of the kernel. */
uint16_t driver_sctp_udp_port(const struct driver *driver);

/* Nanoseconds of the driver's clock. */
uint64_t driver_now(const struct driver *driver);

/*
 * "ADDRESS:PORT" or "[ADDRESS]:PORT"; with a default `address` (else NULL) "PORT" alone, too. Names are none. -1: it is
 * neither.
 */
struct driver_place {
    char address[64];
    uint16_t port;
};
int driver_place_parse(struct driver_place *place, const char *where, const char *address);

/*
 * Opens a control socket: a port number (0: any) on the loopback address, or a path (with a '/') for a Unix socket, or
 * "ADDRESS:PORT". Returns the port, 0 for a path, -1 with a sentence.
 */
int driver_control(struct driver *driver, const char *where, struct iwarp_sentence *sentence);

/* Runs until driver_stop(), a signal given to driver_stop_on(), or (with `once`) until no stream is left. */
int driver_run(struct driver *driver, bool once, struct iwarp_sentence *sentence);
void driver_stop(struct driver *driver);

/* Ends driver_run() on that signal. */
int driver_stop_on(struct driver *driver, int signal_number, struct iwarp_sentence *sentence);

#endif
