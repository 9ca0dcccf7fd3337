/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tester's IKE offers to the device, and the configuration of strongSwan that makes it offer that
 * (strongswan.conf(5), swanctl.conf(5)). Nothing here runs anything.
 */
#ifndef CONFORMANCE_ENGINE_IPSEC_OFFER_H
#define CONFORMANCE_ENGINE_IPSEC_OFFER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/sentence.h"
#include "conformance/engine/profile/profile_ipsec.h"

enum { IPSEC_PROPOSAL_OCTETS = 256, IPSEC_IDLE_MOST = 60 };

enum ipsec_method { IPSEC_SECRET, IPSEC_CERTIFICATE, IPSEC_REVOKED };

struct ipsec_offer {
    unsigned version; /* of IKE: 1 or 2 */
    bool aggressive;  /* version 1 alone */
    bool transport;   /* ESP's mode; false: tunnel */
    enum ipsec_method method;
    unsigned idle_seconds; /* after which the tester deletes an SA that carries nothing; 0: never */
    char ike[IPSEC_PROPOSAL_OCTETS], esp[IPSEC_PROPOSAL_OCTETS]; /* "": those of the profile, or of the texts */
};

/* Whose traffic the tunnel carries, and between whom. */
struct ipsec_ends {
    const struct profile_ipsec *settings;
    struct net_address own;    /* the lower tester's */
    struct net_address device; /* where the device's streams are */
    unsigned interface_id;     /* of the interface into which the tester's kernel makes ESP; 0: charon makes it */
};

/*
 * Reads an offer from a request: members version, aggressive, mode ("tunnel", "transport"), method ("secret",
 * "certificate", "revoked"), idle, ike, esp; all may be missing. -1 with a sentence: a member is wrong.
 */
int ipsec_offer_read(struct ipsec_offer *offer, const json_t *request, struct iwarp_sentence *error);

/* Has the profile what the tester proves its identity with by the offer's method? False with a sentence. */
bool ipsec_offer_possible(const struct ipsec_offer *offer, const struct profile_ipsec *settings,
                          struct iwarp_sentence *why);

/*
 * The offers with which the tester begins, the most usual first; a device takes one of them. `index` from 0; false: no
 * more.
 */
bool ipsec_offer_usual(struct ipsec_offer *offer, size_t index, const struct profile_ipsec *settings);

/* "IKEv1 Aggressive Mode with a pre-shared key", for sentences. */
const char *ipsec_offer_name(const struct ipsec_offer *offer);

/*
 * strongswan.conf of a charon whose files are all in `folder`; ESP is made by the kernel, or by charon itself. -1: the
 * stream has failed.
 */
int ipsec_write_daemon(FILE *out, const char *folder, bool in_kernel);

/* swanctl.conf with one connection "tester" and its child "stream"; the files that it names are in `folder`. */
int ipsec_write_connection(FILE *out, const struct ipsec_offer *offer, const struct ipsec_ends *ends,
                           const char *folder);

/*
 * A pre-shared key as swanctl.conf takes it, whatever its octets are: 0s and Base64. -1: longer than `room` allows.
 * `text` is to be wiped by the caller.
 */
int ipsec_secret_text(const unsigned char *secret, size_t octets, char *text, size_t room);

#endif
