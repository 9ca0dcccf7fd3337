/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a check's evidence a reproducer repeats: the connection that the verdict is about, those that were open
 * beside it, the commands to the upper tester that concern them, and what decides whether the fault is there.
 */
#ifndef CONFORMANCE_ENGINE_REPRODUCER_PLAN_H
#define CONFORMANCE_ENGINE_REPRODUCER_PLAN_H

#include "conformance/engine/reproducer/repro_evidence.h"
#include "reports/results/result.h"

enum { REPRO_VARIABLES_MAX = 10, REPRO_KEPT_MAX = 4, REPRO_FOUND_MAX = 200 };

/* A number that the device chose: an STag, and the address (TO) of its memory. */
struct repro_variable {
    uint32_t stag;
    uint64_t base;
    size_t event; /* the answer, or the segment of the device, that has it */
    bool used;
    unsigned number; /* once it is used */
};

/* A start-up frame or an FPDU of the device on a kept connection. */
struct repro_item {
    unsigned connection;
    size_t event; /* the segment that completes it */
    bool start;   /* a start-up frame */
    bool whole;
    bool crc_good;
    const uint8_t *octets;
    size_t count;
    size_t variable; /* place in `variables` that it has; SIZE_MAX: none */
};

enum repro_decision {
    REPRO_FRAME,      /* a frame of the device is as it was */
    REPRO_END,        /* its FIN or RST comes where it came */
    REPRO_ALL,        /* all that the device sends is as it was */
    REPRO_NOTHING,    /* nothing comes */
    REPRO_DELIVERIES, /* its ULP gets the same octets */
    REPRO_MEMORY,     /* the same octets are in its memory */
};

struct repro_plan {
    const struct repro_evidence *evidence;
    const struct result *result;
    enum repro_decision decision;
    unsigned connection; /* that the verdict is about */
    size_t cut;          /* the last event that counts */
    size_t item;         /* REPRO_FRAME */
    size_t memory;       /* REPRO_MEMORY: the command that read it */
    bool kept[REPRO_CONNECTIONS_MAX];
    int place[REPRO_CONNECTIONS_MAX]; /* of a kept one: its number in the reproducer */
    size_t kept_count;
    bool crc[REPRO_CONNECTIONS_MAX];     /* CRCs are in use */
    bool markers[REPRO_CONNECTIONS_MAX]; /* the tester sends Markers */
    uint8_t *streams[REPRO_KEPT_MAX];    /* of the device, of each kept connection */
    struct repro_item *items;
    size_t item_count;
    struct repro_variable variables[REPRO_FOUND_MAX];
    size_t variable_count, used_count;
};

/*
 * Fills *plan. `whole`: all connections of the check are kept up to the verdict, since one may leave something to the
 * next; else those alone that were open at the same time. 0; 1 with the sentence set: it cannot be repeated so, and
 * why; -1 with the sentence set: memory is short. repro_plan_free() in each case. Evidence and result have to stay.
 */
int repro_plan_make(struct repro_plan *plan, const struct repro_evidence *evidence, const struct result *result,
                    bool whole, struct iwarp_sentence *error);
void repro_plan_free(struct repro_plan *plan);

/* The connection of the upper tester's stream; NULL: it is not kept. */
const struct repro_connection *repro_plan_stream(const struct repro_plan *plan, const json_t *stream);

/* The variable with this STag whose value is known at `event`; NULL. `key`: the lowest octet may be another. */
struct repro_variable *repro_plan_variable(struct repro_plan *plan, uint32_t stag, bool key, size_t event);

/* Marks it as used, with a number. False: there are too many. */
bool repro_plan_use(struct repro_plan *plan, struct repro_variable *variable);

#endif
