/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/profile_ipsec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/profile/json_members.h"
#include "reports/results/member.h"

static const struct json_member members[] = {
    {"address", MEMBER_TEXT, true, "the address of the tester's IKE, which no machine uses"},
    {"peer", MEMBER_TEXT, false, "the address of the device's IKE"},
    {"identity", MEMBER_TEXT, false, "the tester's identity in IKE"},
    {"peer_identity", MEMBER_TEXT, false, "the device's identity in IKE"},
    {"secret", 0, false, "the profile never has the key itself: \"secret_file\" names a file"},
    {"secret_file", MEMBER_TEXT, false, "a file with the pre-shared key"},
    {"certificate_file", MEMBER_TEXT, false, "a file with the tester's certificate"},
    {"key_file", MEMBER_TEXT, false, "a file with the key of the tester's certificate"},
    {"ca_file", MEMBER_TEXT, false, "a file with the certificate of the authority that issued the device's"},
    {"revoked_certificate_file", MEMBER_TEXT, false, "a file with a revoked certificate"},
    {"revoked_key_file", MEMBER_TEXT, false, "a file with the key of the revoked certificate"},
    {"ike", MEMBER_TEXT, false, "proposals for IKE, as \"aes128-sha1-modp2048\""},
    {"esp", MEMBER_TEXT, false, "proposals for ESP, as \"aes128-sha1\""},
    {"esp_by", MEMBER_TEXT, false, "who makes the tester's ESP: \"kernel\" or \"strongswan\""},
};

/* What is written into the configuration of the tester's IKE has no quote and no line end in it. */
static int text_of(const char **text, const json_t *json, const char *name, const char *letters, const char *path,
                   struct iwarp_sentence *error)
{
    static const char common[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    const char *at = *text = member_text(json, name);

    for (; at != NULL && *at != '\0'; at++)
        if (strchr(common, *at) == NULL && strchr(letters, *at) == NULL)
            return iwarp_sentence_set(
                error, "%s: ipsec: \"%s\" has the character 0x%02x; letters, digits and \"-%s\" were expected", path,
                name, (unsigned char)*at, letters);
    return 0;
}

static int file_of(const char **file, const json_t *json, const char *name, const char *path,
                   struct iwarp_sentence *error)
{
    *file = member_text(json, name);
    if (*file == NULL || access(*file, R_OK) == 0)
        return 0;
    return iwarp_sentence_set(error, "%s: ipsec: \"%s\": %.200s: %s", path, name, *file, strerror(errno));
}

static int address_of(struct net_address *address, const json_t *json, const char *name, const char *path,
                      struct iwarp_sentence *error)
{
    const char *text = member_text(json, name);

    if (text != NULL && (net_address_parse(address, text) != 0 || address->family != 4))
        return iwarp_sentence_set(error, "%s: ipsec: \"%s\" is \"%.60s\", an IPv4 address was expected", path, name,
                                  text);
    return 0;
}

static int maker_of(const char **maker, const json_t *json, const char *path, struct iwarp_sentence *error)
{
    static const char *const makers[] = {"kernel", "strongswan"};
    char at[PATH_MAX + 16];

    *maker = member_text(json, "esp_by");
    (void)snprintf(at, sizeof(at), "%s: ipsec", path);
    return *maker != NULL ? json_one_of(*maker, "esp_by", makers, 2, at, error) : 0;
}

/* A certificate is of no use without its key, and the device's cannot be checked without its authority. */
static int files_fit(const struct profile_ipsec *ipsec, const char *path, struct iwarp_sentence *error)
{
    bool own = ipsec->certificate_file != NULL, revoked = ipsec->revoked_certificate_file != NULL;

    if (own != (ipsec->key_file != NULL) || own != (ipsec->ca_file != NULL))
        return iwarp_sentence_set(
            error, "%s: ipsec: \"certificate_file\", \"key_file\" and \"ca_file\" are given together, or none of them",
            path);
    if (revoked != (ipsec->revoked_key_file != NULL) || (revoked && !own))
        return iwarp_sentence_set(error,
                                  "%s: ipsec: \"revoked_certificate_file\" and \"revoked_key_file\" are given together,"
                                  " beside \"certificate_file\"",
                                  path);
    if (!own && ipsec->secret_file == NULL)
        return iwarp_sentence_set(error, "%s: ipsec: neither \"secret_file\" nor \"certificate_file\" is given", path);
    return 0;
}

int profile_ipsec_read(struct profile_ipsec *ipsec, const json_t *json, const char *path,
                       const struct net_address *device, struct iwarp_sentence *error)
{
    memset(ipsec, 0, sizeof(*ipsec));
    if (json == NULL)
        return 0;
    if (json_members_check(json, members, sizeof(members) / sizeof(members[0]), path, "ipsec", error) != 0)
        return -1;
    ipsec->peer = *device;
    if (address_of(&ipsec->address, json, "address", path, error) != 0 ||
        address_of(&ipsec->peer, json, "peer", path, error) != 0 ||
        text_of(&ipsec->identity, json, "identity", "@.:=, ", path, error) != 0 ||
        text_of(&ipsec->peer_identity, json, "peer_identity", "@.:=, ", path, error) != 0 ||
        text_of(&ipsec->ike, json, "ike", ",", path, error) != 0 ||
        text_of(&ipsec->esp, json, "esp", ",", path, error) != 0 || maker_of(&ipsec->esp_by, json, path, error) != 0 ||
        file_of(&ipsec->secret_file, json, "secret_file", path, error) != 0 ||
        file_of(&ipsec->certificate_file, json, "certificate_file", path, error) != 0 ||
        file_of(&ipsec->key_file, json, "key_file", path, error) != 0 ||
        file_of(&ipsec->ca_file, json, "ca_file", path, error) != 0 ||
        file_of(&ipsec->revoked_certificate_file, json, "revoked_certificate_file", path, error) != 0 ||
        file_of(&ipsec->revoked_key_file, json, "revoked_key_file", path, error) != 0)
        return -1;
    if (device->family != 4)
        return iwarp_sentence_set(error, "%s: ipsec: \"address\" of the device is no IPv4 address, which it has to be",
                                  path);
    ipsec->given = true;
    return files_fit(ipsec, path, error);
}
