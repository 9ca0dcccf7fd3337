/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps a device reachable that is lost during a run: it crashes, or it serves one connection and ends. If the device
 * refuses connections at its port, the profile's `restart_command` starts it again, if there is one, and the run waits
 * for it. A device that is lost after a check's stimulus has died of it: that is a finding of the check.
 *
 * A device that ends, without a crash of its own process, after a connection without any stimulus serves one
 * connection: its end is no finding. It is started again before each connection.
 *
 * If the profile has no such members, the run tries to connect after each check that did not pass. A device that
 * refuses each connection for some seconds, but accepted connections before the stimulus, has died of the check.
 * Silence does not prove that it died: a link that is down is silent, too. A refusal does not prove it if the upper
 * tester is gone as well: the listener may have been the upper tester's. An upper tester that says that it is the
 * device's program (`one_program`) takes nothing with it that is not the device's, so that both have died of the check.
 * The same holds where the run waits for the device, and no restart_command of ours has started it.
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
    bool stimulated;             /* the check that runs has connected for its stimulus, since the device was started */
    bool is_device;              /* restart_command's own process is the device: it ran when the device accepted */
    bool tried;                  /* some check has connected for its stimulus */
    bool accepted_connection;    /* the device has accepted a connection */
    bool serves_one;             /* learned: the device ends after a connection */
    bool fresh;                  /* started, and no connection since */
    struct iwarp_sentence death; /* how the device was lost during the check that runs; "": it was not */
    uint64_t death_ns;           /* when that was seen */
    struct iwarp_sentence lost;  /* why it will not come back: nothing can be judged any more; "": it is there */
    uint64_t deadline_ns, pause_ns; /* of the waiting that is under way; 0: none is */
    uint64_t lost_ns;               /* when that began */
    struct iwarp_sentence
        absent; /* the device is lost, the run does not wait for it, and this names the check; "": not so */
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

/*
 * To be called when the upper tester accepts no connection. Starts the device, but not again before it has accepted a
 * connection.
 */
void device_keeper_control_refused(struct rig *rig);

/*
 * To be called before a connection to the device is opened. Starts the device if it serves one connection, or if its
 * process has ended.
 */
void device_keeper_before(struct rig *rig);

/* The device has accepted a connection; `stimulating`: of a check's stimulus. */
void device_keeper_accepted(struct rig *rig, bool stimulating);

/*
 * To be called when the device has not accepted a connection. True: the function has waited, and the caller tries
 * again. False: the device will not come back in time, or the run does not wait for it. If the run has waited,
 * rig->keeper->lost says why the device is lost.
 */
bool device_keeper_refused(struct rig *rig, const char *why);

/* After the first exchange: does the device end by itself after a connection? Remembers it. */
bool device_keeper_one(struct rig *rig);

/*
 * To be called when the device has opened a connection or an association: notes whether it is for the stimulus of a
 * check.
 */
void device_keeper_stimulated(struct rig *rig);

/* To be called at the end of a check. If the device is lost, notes its death and brings it back. */
void device_keeper_end(struct rig *rig, bool good_exchange);

/* Starts connect_command, which connects to the tester's `port`. -1 with a sentence. */
int device_keeper_connect(struct rig *rig, uint16_t port, struct iwarp_sentence *error);

/* Its connection is there: a simulated device sends what such a program sends first. -1 with a sentence. */
int device_keeper_connected(struct rig *rig, struct iwarp_sentence *error);

#endif
