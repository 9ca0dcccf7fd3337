/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tester's own IPsec: a process with a network namespace, a charon of strongSwan and its files to itself, which is
 * asked by lines of JSON. It is started before the run gives up its privileges, and ends with the run.
 *
 * Each request is an object with "verb"; each answer is one with "ok", and "error" where that is false.
 *
 *   {"verb":"up", ...}      ends what is there, and offers something else (ipsec_offer.h). "up": the device has agreed,
 *                           and ESP runs here. "log": what charon said meanwhile, "sas": the SAs as swanctl lists them.
 *                           "lacking": why the profile does not allow the offer; then nothing was done
 *   {"verb":"base"}         the offer with which the run began; nothing happens where that is in force
 *   {"verb":"delete"}       deletes the SA of ESP; with "ike": true that of IKE, and with it both
 *   {"verb":"renew"}        makes another SA of ESP, as new traffic would
 *   {"verb":"look"}         "log" since the last "up", "delete" or "renew", and "sas"
 *   {"verb":"mark"}         counts and keeps frames from now on
 *   {"verb":"count"}        "esp_in", "esp_out", "requests_out", "responses_in" since "mark"
 *   {"verb":"resend"}       sends the ESP packets since "mark" again; with "alter": true under other sequence numbers,
 *                           with "ike": true the last request of IKEv2 instead. "frames": how many
 */
#ifndef CONFORMANCE_ENGINE_IPSEC_TESTER_H
#define CONFORMANCE_ENGINE_IPSEC_TESTER_H

#include "base/sentence.h"
#include "conformance/engine/profile/profile_ipsec.h"

struct ipsec_tester;

struct ipsec_tester_config {
    const struct profile_ipsec *settings; /* as the rest borrowed during ipsec_tester_new() */
    const char *interface;                /* the profile's */
    struct net_address own, device;       /* of the lower tester and of the device's streams */
    struct net_address gateway;           /* before the device; family 0: none */
};

/*
 * Starts it and agrees with the device on one of the usual offers. NULL with a sentence: strongSwan is not installed,
 * the network cannot be made, or the device agrees to nothing. To be called by root, or in a user namespace.
 */
struct ipsec_tester *ipsec_tester_new(const struct ipsec_tester_config *config, struct iwarp_sentence *error);

/* The interface of the lower tester, in place of the profile's. */
const char *ipsec_tester_interface(const struct ipsec_tester *tester);

/* "IKEv2 with a pre-shared key": what the run began with. */
const char *ipsec_tester_base(const struct ipsec_tester *tester);

/* Is ESP made by the kernel? False: by strongSwan. */
bool ipsec_tester_kernel(const struct ipsec_tester *tester);

/* Has anything but the base been in force since ipsec_tester_ask() was last asked for it? */
bool ipsec_tester_changed(const struct ipsec_tester *tester);

/* Sends a request. -1 with a sentence: the process has ended. */
int ipsec_tester_ask(struct ipsec_tester *tester, const json_t *request, struct iwarp_sentence *error);

/*
 * The answer, if it has come: 1, and a new reference in *answer. 0: not yet. -1 with a sentence: the process has ended.
 */
int ipsec_tester_answer(struct ipsec_tester *tester, json_t **answer, struct iwarp_sentence *error);

/* Ends it: its SAs are deleted, its files are removed. NULL is allowed. */
void ipsec_tester_free(struct ipsec_tester *tester);

#endif
