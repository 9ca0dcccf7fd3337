/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Member "ipsec" of a profile: how the tester's IKE and ESP reach a device that protects its streams with IPsec
 * (docs/ipsec.md). Secrets are in files: neither the profile nor a report has them.
 */
#ifndef CONFORMANCE_ENGINE_PROFILE_IPSEC_H
#define CONFORMANCE_ENGINE_PROFILE_IPSEC_H

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "base/sentence.h"
#include "generator/packet/packet.h"

/* All texts are borrowed from the profile's JSON; NULL: the profile does not have this member. */
struct profile_ipsec {
    bool given;                              /* false: the profile has no "ipsec", and the rest is not set */
    struct net_address address;              /* of the tester's IKE, on the profile's interface; no machine uses it */
    struct net_address peer;                 /* of the device's IKE; without the member: the device's address */
    const char *identity, *peer_identity;    /* as swanctl.conf has them; NULL: the addresses */
    const char *secret_file;                 /* the pre-shared key, as the file has it without its last newline */
    const char *certificate_file, *key_file; /* the tester's own, in PEM */
    const char *ca_file;                     /* who issued the device's certificate, in PEM */
    const char *revoked_certificate_file, *revoked_key_file; /* those of a tester that the device should refuse */
    const char *ike, *esp; /* proposals as swanctl.conf has them; NULL: those of the texts */
    const char *esp_by;    /* "kernel", "strongswan": who makes the tester's ESP; NULL: the kernel where it can */
};

/*
 * Reads `json` (NULL: the profile has no such member). `device` is the device's address. -1 with "path: ipsec: what is
 * wrong, what was expected".
 */
int profile_ipsec_read(struct profile_ipsec *ipsec, const json_t *json, const char *path,
                       const struct net_address *device, struct iwarp_sentence *error);

/* Does the profile ask for this maker of ESP? */
static inline bool profile_ipsec_esp_by(const struct profile_ipsec *ipsec, const char *maker)
{
    return ipsec->esp_by != NULL && strcmp(ipsec->esp_by, maker) == 0;
}

/* Does the profile say enough for this method? */
static inline bool profile_ipsec_has_secret(const struct profile_ipsec *ipsec)
{
    return ipsec->secret_file != NULL;
}

static inline bool profile_ipsec_has_certificate(const struct profile_ipsec *ipsec)
{
    return ipsec->certificate_file != NULL;
}

#endif
