/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CM agent over a UDP socket, without privileges: RoCEv2 packets as UDP payloads. The ICRC of what is sent is right
 * for the packet that the kernel makes of it (identification 0, DF set); of what comes it cannot be checked in general,
 * since the socket does not report the identification. With `strict_icrc` it is checked as for a packet like the own
 * ones.
 */
#ifndef REFERENCE_STACK_CM_DRIVER_H
#define REFERENCE_STACK_CM_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "reference-stack/cm/cm_agent.h"

struct cm_driver;

struct cm_driver_config {
    const char *address; /* own; one of an interface: the ICRC covers it */
    uint16_t port;       /* 0: any */
    bool strict_icrc;
    struct cm_agent_config agent; /* `own` may be empty: then it is `address` */
    /* Something happened. */
    void (*event)(void *context, struct cm_driver *driver, const struct cm_event *event);
    void *context;
};

/* NULL with a sentence. */
struct cm_driver *cm_driver_new(const struct cm_driver_config *config, struct iwarp_sentence *sentence);
void cm_driver_free(struct cm_driver *driver);

/* For cm_agent_listen() and the like; cm_driver_flush() after it sends what they want sent. */
struct cm_agent *cm_driver_agent(struct cm_driver *driver);
uint64_t cm_driver_now(void);
void cm_driver_flush(struct cm_driver *driver);

uint16_t cm_driver_port(const struct cm_driver *driver);
/* The own address, as the agent has it. */
struct cm_address cm_driver_address(const struct cm_driver *driver);
/* "192.0.2.1", "fd00::1"; -1: it is none. */
int cm_address_parse(struct cm_address *address, const char *text);
const char *cm_address_format(const struct cm_address *address, char *text, size_t room);

struct cm_driver_counts {
    uint64_t foreign;  /* datagrams that carry no MAD to queue pair 1 */
    uint64_t bad_icrc; /* strict_icrc */
    uint64_t unsent;
};
void cm_driver_counts(const struct cm_driver *driver, struct cm_driver_counts *counts);

/* Runs until cm_driver_stop(), or a signal given to cm_driver_stop_on(). */
int cm_driver_run(struct cm_driver *driver, struct iwarp_sentence *sentence);
void cm_driver_stop(struct cm_driver *driver);
int cm_driver_stop_on(struct cm_driver *driver, int signal_number, struct iwarp_sentence *sentence);

#endif
