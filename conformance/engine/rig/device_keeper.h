/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps a device reachable that is lost in the course of a run: it crashes, or it serves one connection and ends. A
 * device that refuses connections where it listens is started again by the profile's `restart_command`, if there is
 * one, and waited for. What was lost after a check's stimulus died of it: that is a finding of the check.
 *
 * A device that ends after a connection without any stimulus, and whose own process then does not crash, serves one
 * connection: its end is no finding. It is started anew before each connection.
 *
 * Where a profile asks for nothing of that, the device is looked for after a check that did not pass. One that refuses
 * each connection for some seconds, and has accepted those before the stimulus, has died of the check. Silence is no
 * proof of a death: a link that is down is silent, too. Nor is a refusal where the upper tester is gone as well: it may
 * have been the device's listener.
 */
#ifndef CONFORMANCE_ENGINE_DEVICE_KEEPER_H
#define CONFORMANCE_ENGINE_DEVICE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/device/device_command.h"
#include "conformance/engine/rig/rig.h"

struct device_keeper {
    struct device_command *commands;  /* borrowed; NULL: there are none */
    uint64_t wait_ns;                 /* how long a lost device is waited for */
    bool waits;                       /* the profile asks for that; else the device is only started */
    char label[DEVICE_COMMAND_LABEL]; /* of the check that runs: names the output of its commands */
    bool stimulated;       /* the check that runs has connected for its stimulus, since the device was started */
    bool is_device;        /* restart_command's own process is the device: it ran when the device accepted */
    bool tried;            /* some check has connected for its stimulus */
    bool served;           /* the device has accepted a connection */
    bool serves_one;       /* learned: the device ends after a connection */
    bool fresh;            /* started, and no connection since */
    struct sentence death; /* how the device was lost during the check that runs; "": it was not */
    uint64_t death_ns;     /* when that was seen */
    struct sentence lost;  /* why it will not come back: nothing can be judged any more; "": it is there */
    uint64_t deadline_ns, pause_ns; /* of the waiting that is under way; 0: none is */
    uint64_t lost_ns;               /* when that began */
    struct sentence absent; /* a device that nobody waits for is not there since a check, which this names; "": it is */
    char absent_since[DEVICE_COMMAND_LABEL]; /* the label of that check */
    unsigned restarts;                       /* of a device that had accepted connections, by restart_command */
};

/* What a profile says; `commands` may be NULL. */
void device_keeper_init(struct device_keeper *keeper, struct device_command *commands, unsigned wait_seconds);

/* Is a lost device waited for? */
bool device_keeper_waits(const struct rig *rig);

/* Is there a connect_command? */
bool device_keeper_starts_initiator(const struct rig *rig);

/* A check begins. The label is part of a file's name. */
void device_keeper_begin(struct device_keeper *keeper, const char *label);

/* The upper tester accepts no connection: the device is started, once until it accepts something again. */
void device_keeper_control_refused(struct rig *rig);

/*
 * A connection to the device is about to be opened. Starts the device that serves one connection, or whose process has
 * ended.
 */
void device_keeper_before(struct rig *rig);

/* The device has accepted a connection; `stimulating`: of a check's stimulus. */
void device_keeper_accepted(struct rig *rig, bool stimulating);

/*
 * The device has not accepted a connection. True: it is to be tried again, some time has passed on the link. False: it
 * will not come back in time, or nobody waits for it; then rig->keeper->lost says why where it was waited for.
 */
bool device_keeper_refused(struct rig *rig, const char *why);

/* After the first exchange: does the device end by itself after a connection? Remembers it. */
bool device_keeper_one(struct rig *rig);

/* A connection of the device's, or an association, is there: is it for the stimulus of a check? */
void device_keeper_stimulated(struct rig *rig);

/* The check is over: is the device there? Notes its death otherwise, and brings it back. */
void device_keeper_end(struct rig *rig, bool served);

/* Starts connect_command, which connects to the tester's `port`. -1 with a sentence. */
int device_keeper_connect(struct rig *rig, uint16_t port, struct sentence *error);

/* Its connection is there: a simulated device sends what such a program sends first. -1 with a sentence. */
int device_keeper_connected(struct rig *rig, struct sentence *error);

#endif
