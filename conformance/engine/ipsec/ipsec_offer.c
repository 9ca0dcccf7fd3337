/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/ipsec/ipsec_offer.h"

#include <string.h>

/*
 * RFC 7146 2.2 and 2.3 (AES-CBC with HMAC-SHA1, AES-GCM), RFC 3723 2.3.1 (3DES): a device has one of them. The group of
 * 2048 bits is RFC 7146's, that of 1024 bits RFC 3723's.
 */
static const char usual_ike[] = "aes128-sha1-modp2048,aes128-sha256-modp2048,aes128-sha1-modp1024,3des-sha1-modp1024,"
                                "aes256-sha256-modp2048,aes256-sha384-ecp384,aes128-sha256-ecp256";
static const char usual_esp[] = "aes128-sha1,aes128-sha256,aes128gcm16,aes256gcm16,aes256-sha256,3des-sha1";

static const char *const methods[] = {"secret", "certificate", "revoked"};

/* A word of the request that swanctl.conf gets: only what a proposal is made of. */
static int proposal_of(char *proposal, const json_t *request, const char *name, struct iwarp_sentence *error)
{
    const char *text = json_string_value(json_object_get(request, name));
    size_t octets = text != NULL ? strlen(text) : 0;

    proposal[0] = '\0';
    if (text == NULL)
        return 0;
    if (octets >= IPSEC_PROPOSAL_OCTETS || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-,") != octets)
        return iwarp_sentence_set(error, "\"%s\" is \"%.80s\", a proposal as \"aes128-sha1\" was expected", name, text);
    memcpy(proposal, text, octets + 1);
    return 0;
}

static int method_of(struct ipsec_offer *offer, const json_t *request, struct iwarp_sentence *error)
{
    const char *text = json_string_value(json_object_get(request, "method"));

    offer->method = IPSEC_SECRET;
    for (size_t i = 0; text != NULL && i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i], text) == 0) {
            offer->method = (enum ipsec_method)i;
            return 0;
        }
    return text == NULL ? 0
                        : iwarp_sentence_set(
                              error, "\"method\" is \"%.40s\", secret, certificate or revoked was expected", text);
}

bool ipsec_offer_possible(const struct ipsec_offer *offer, const struct profile_ipsec *settings,
                          struct iwarp_sentence *why)
{
    static const char *const members[] = {"secret_file", "certificate_file", "revoked_certificate_file"};
    const char *const files[] = {settings->secret_file, settings->certificate_file, settings->revoked_certificate_file};

    if (files[offer->method] != NULL)
        return true;
    (void)iwarp_sentence_set(why, "the profile's \"ipsec\" has no \"%s\"", members[offer->method]);
    return false;
}

int ipsec_offer_read(struct ipsec_offer *offer, const json_t *request, struct iwarp_sentence *error)
{
    const json_t *version = json_object_get(request, "version"), *idle = json_object_get(request, "idle");
    const char *mode = json_string_value(json_object_get(request, "mode"));

    *offer = (struct ipsec_offer){.version = version != NULL ? (unsigned)json_integer_value(version) : 2};
    if (offer->version != 1 && offer->version != 2)
        return iwarp_sentence_set(error, "\"version\" of IKE is neither 1 nor 2");
    offer->aggressive = json_is_true(json_object_get(request, "aggressive"));
    if (offer->aggressive && offer->version != 1)
        return iwarp_sentence_set(error, "\"aggressive\" is for version 1 of IKE alone");
    offer->transport = mode != NULL && strcmp(mode, "transport") == 0;
    if (mode != NULL && !offer->transport && strcmp(mode, "tunnel") != 0)
        return iwarp_sentence_set(error, "\"mode\" is \"%.40s\", tunnel or transport was expected", mode);
    if (idle != NULL && (json_integer_value(idle) < 1 || json_integer_value(idle) > IPSEC_IDLE_MOST))
        return iwarp_sentence_set(error, "\"idle\" is not from 1 to %d seconds", IPSEC_IDLE_MOST);
    offer->idle_seconds = (unsigned)json_integer_value(idle);
    return method_of(offer, request, error) != 0 || proposal_of(offer->ike, request, "ike", error) != 0 ||
                   proposal_of(offer->esp, request, "esp", error) != 0
               ? -1
               : 0;
}

bool ipsec_offer_usual(struct ipsec_offer *offer, size_t index, const struct profile_ipsec *settings)
{
    static const struct ipsec_offer all[] = {
        {.version = 2, .method = IPSEC_SECRET},
        {.version = 1, .method = IPSEC_SECRET},
        {.version = 2, .method = IPSEC_CERTIFICATE},
        {.version = 1, .method = IPSEC_CERTIFICATE},
        {.version = 1, .method = IPSEC_SECRET, .aggressive = true},
        {.version = 1, .method = IPSEC_CERTIFICATE, .aggressive = true},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        bool there = all[i].method == IPSEC_SECRET ? profile_ipsec_has_secret(settings)
                                                   : profile_ipsec_has_certificate(settings);

        if (there && index-- == 0) {
            *offer = all[i];
            return true;
        }
    }
    return false;
}

const char *ipsec_offer_name(const struct ipsec_offer *offer)
{
    static const char *const names[3][2] = {
        {"IKEv1 Main Mode with a pre-shared key", "IKEv1 Main Mode with a certificate"},
        {"IKEv1 Aggressive Mode with a pre-shared key", "IKEv1 Aggressive Mode with a certificate"},
        {"IKEv2 with a pre-shared key", "IKEv2 with a certificate"},
    };

    return names[offer->version == 2 ? 2 : offer->aggressive ? 1 : 0][offer->method != IPSEC_SECRET];
}

int ipsec_write_daemon(FILE *out, const char *folder, bool in_kernel)
{
    /*
     * kernel-libipsec stands before kernel-netlink, so that ESP is made in this process where the kernel of the tester
     * does not have it. Routes are ours: what the tester sends is in the tunnel, or nowhere.
     */
    (void)fprintf(
        out,
        "charon-systemd {\n"
        "  load = random nonce drbg kdf aes des sha1 sha2 md5 hmac cmac xcbc ctr ccm gcm mgf1 gmp curve25519 openssl "
        "x509 revocation constraints pubkey pkcs1 pkcs8 pem%s kernel-netlink socket-default "
        "files curl vici\n"
        "  install_routes = no\n"
        "  install_virtual_ip = no\n"
        "  retransmit_timeout = 2.0\n"
        "  retransmit_base = 1.5\n"
        "  retransmit_tries = 3\n"
        "  delete_rekeyed_delay = 1\n"
        "  filelog {\n"
        "    tester {\n"
        "      path = %s/log\n"
        "      default = 1\n"
        "      flush_line = yes\n"
        "    }\n"
        "  }\n"
        "  journal {\n"
        "    default = -1\n"
        "  }\n"
        "  plugins {\n"
        "    vici {\n"
        "      socket = unix://%s/vici\n"
        "    }\n"
        "    kernel-libipsec {\n"
        "      allow_peer_ts = yes\n"
        "    }\n"
        "  }\n"
        "}\n",
        in_kernel ? "" : " kernel-libipsec", folder, folder);
    return ferror(out) ? -1 : 0;
}

static void write_end(FILE *out, const struct ipsec_offer *offer, const struct ipsec_ends *ends, const char *folder,
                      bool own)
{
    const struct profile_ipsec *settings = ends->settings;
    const char *identity = own ? settings->identity : settings->peer_identity;

    (void)fprintf(out, "    %s {\n      auth = %s\n", own ? "local" : "remote",
                  offer->method == IPSEC_SECRET ? "psk" : "pubkey");
    if (identity != NULL)
        (void)fprintf(out, "      id = \"%s\"\n", identity);
    if (own && offer->method != IPSEC_SECRET)
        (void)fprintf(out, "      certs = %s/%s.pem\n", folder,
                      offer->method == IPSEC_REVOKED ? "revoked" : "certificate");
    (void)fprintf(out, "    }\n");
}

static void write_child(FILE *out, const struct ipsec_offer *offer, const struct ipsec_ends *ends)
{
    const struct profile_ipsec *settings = ends->settings;
    char own[64], device[64];

    (void)fprintf(out, "    children {\n      stream {\n        local_ts = %s/32\n        remote_ts = %s/32\n",
                  net_address_format(&ends->own, own, sizeof(own)),
                  net_address_format(&ends->device, device, sizeof(device)));
    (void)fprintf(out,
                  "        esp_proposals = %s\n        mode = %s\n        start_action = none\n"
                  "        close_action = none\n        rekey_time = 0\n",
                  offer->esp[0] != '\0'   ? offer->esp
                  : settings->esp != NULL ? settings->esp
                                          : usual_esp,
                  offer->transport ? "transport" : "tunnel");
    if (ends->interface_id != 0)
        (void)fprintf(out, "        if_id_in = %u\n        if_id_out = %u\n", ends->interface_id, ends->interface_id);
    if (offer->idle_seconds != 0)
        (void)fprintf(out, "        inactivity = %us\n", offer->idle_seconds);
    (void)fprintf(out, "      }\n    }\n");
}

int ipsec_write_connection(FILE *out, const struct ipsec_offer *offer, const struct ipsec_ends *ends,
                           const char *folder)
{
    const struct profile_ipsec *settings = ends->settings;
    char local[64], remote[64];

    (void)fprintf(out,
                  "connections {\n  tester {\n    version = %u\n    aggressive = %s\n    local_addrs = %s\n"
                  "    remote_addrs = %s\n    proposals = %s\n    rekey_time = 0\n    send_cert = always\n"
                  "    keyingtries = 1\n",
                  offer->version, offer->aggressive ? "yes" : "no",
                  net_address_format(&settings->address, local, sizeof(local)),
                  net_address_format(&settings->peer, remote, sizeof(remote)),
                  offer->ike[0] != '\0'   ? offer->ike
                  : settings->ike != NULL ? settings->ike
                                          : usual_ike);
    write_end(out, offer, ends, folder, true);
    write_end(out, offer, ends, folder, false);
    write_child(out, offer, ends);
    (void)fprintf(out, "  }\n}\n");
    if (profile_ipsec_has_secret(settings))
        (void)fprintf(out, "include %s/secrets.conf\n", folder);
    return ferror(out) ? -1 : 0;
}

int ipsec_secret_text(const unsigned char *secret, size_t octets, char *text, size_t room)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t used = 2;

    if ((octets + 2) / 3 * 4 + 3 > room)
        return -1;
    text[0] = '0';
    text[1] = 's';
    for (size_t i = 0; i < octets; i += 3) {
        unsigned long three = (unsigned long)secret[i] << 16;

        if (i + 1 < octets)
            three |= (unsigned long)secret[i + 1] << 8;
        if (i + 2 < octets)
            three |= secret[i + 2];
        text[used++] = digits[three >> 18 & 63];
        text[used++] = digits[three >> 12 & 63];
        text[used++] = i + 1 < octets ? digits[three >> 6 & 63] : '=';
        text[used++] = i + 2 < octets ? digits[three & 63] : '=';
    }
    text[used] = '\0';
    return 0;
}
