/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The devices of an interoperability matrix, and their upper testers (docs/upper-tester.md). A device is the reference
 * stack, which the command starts itself, or one that a profile describes. With itself a device speaks through a second
 * upper tester: two processes of the reference stack, or two profiles.
 */
#ifndef CONFORMANCE_ENGINE_INTEROP_DEVICE_H
#define CONFORMANCE_ENGINE_INTEROP_DEVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "conformance/engine/device/upper_side.h"
#include "conformance/engine/profile/profile.h"

enum {
    INTEROP_DEVICES_MOST = 16,
    INTEROP_INSTANCES = 2,
    INTEROP_DEFECTS_MOST = 16,
    INTEROP_NAME_OCTETS = 48,
};

struct interop_device;

/* One upper tester and what stands below it. */
struct interop_instance {
    const struct interop_device *device;
    struct profile profile; /* of a device that is not the reference stack */
    struct upper_side upper;
    pid_t process;             /* of the reference stack; 0: none, or it has ended */
    uint16_t port;             /* of its control socket */
    json_t *abilities;         /* its answer to `capabilities` */
    struct iwarp_sentence end; /* how its process ended */
};

struct interop_device {
    char name[INTEROP_NAME_OCTETS];
    bool is_stack; /* the reference stack */
    char *words;   /* what follows NAME=, cut at its commas */
    const char *defects[INTEROP_DEFECTS_MOST];
    size_t defect_count;
    struct interop_instance instances[INTEROP_INSTANCES];
    size_t count; /* instances */
};

/*
 * Takes "[NAME=]libiwarp[,DEFECT...]" or "[NAME=]PROFILE[,PROFILE]". 0, or -1 with a sentence; interop_device_free() in
 * either case.
 */
int interop_device_parse(struct interop_device *device, const char *argument, const struct catalogue *catalogue,
                         struct iwarp_sentence *error);

/* Starts the processes of the reference stack: before the command is confined. 0, or -1 with a sentence. */
int interop_device_start(struct interop_device *device, struct iwarp_sentence *error);

/* Connects to the upper testers and asks for their capabilities. 0, or -1 with a sentence. */
int interop_device_connect(struct interop_device *device, struct iwarp_sentence *error);

/* The interface on which a device is reached; NULL: the reference stack, which is on this host. */
const char *interop_interface(const struct interop_device *device);

/* Where `target` is reached from `from`: a numeric address. 0, or -1 with a sentence. */
int interop_address(const struct interop_instance *target, const struct interop_instance *from, char text[64],
                    struct iwarp_sentence *error);

void interop_device_free(struct interop_device *device);

#endif
