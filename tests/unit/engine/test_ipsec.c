/* SPDX-License-Identifier: BSD-2-Clause */
/* The tester's IPsec, as far as it runs nothing: offers, configurations, and frames. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/ipsec/ipsec_frames.h"
#include "conformance/engine/ipsec/ipsec_offer.h"

Suite *ipsec_suite(void);

static struct iwarp_sentence error;

static int read_offer(struct ipsec_offer *offer, const char *text)
{
    json_t *request = json_loads(text, 0, NULL);
    int status;

    ck_assert_ptr_nonnull(request);
    status = ipsec_offer_read(offer, request, &error);
    json_decref(request);
    return status;
}

static const struct {
    const char *request, *part;
} refused[] = {
    {"{\"version\": 3}", "neither 1 nor 2"},
    {"{\"version\": 2, \"aggressive\": true}", "for version 1 of IKE alone"},
    {"{\"mode\": \"bridge\"}", "tunnel or transport was expected"},
    {"{\"method\": \"password\"}", "secret, certificate or revoked was expected"},
    {"{\"esp\": \"aes128\\n}\"}", "a proposal as \"aes128-sha1\" was expected"},
    {"{\"ike\": \"include /etc/passwd\"}", "a proposal as \"aes128-sha1\" was expected"},
    {"{\"idle\": 0}", "not from 1 to 60 seconds"},
};

START_TEST(offer_that_is_none_is_refused)
{
    struct ipsec_offer offer;

    ck_assert_int_eq(read_offer(&offer, refused[_i].request), -1);
    ck_assert_msg(strstr(error.text, refused[_i].part) != NULL, "%s", error.text);
}
END_TEST

START_TEST(offer_needs_what_the_profile_has)
{
    const struct profile_ipsec key = {.given = true, .secret_file = "key"};
    struct ipsec_offer offer;

    ck_assert_int_eq(read_offer(&offer, "{}"), 0);
    ck_assert(ipsec_offer_possible(&offer, &key, &error));
    ck_assert_int_eq(read_offer(&offer, "{\"method\": \"revoked\"}"), 0);
    ck_assert(!ipsec_offer_possible(&offer, &key, &error));
    ck_assert_str_eq(error.text, "the profile's \"ipsec\" has no \"revoked_certificate_file\"");
}
END_TEST

START_TEST(usual_offers_are_of_the_methods_that_the_profile_has)
{
    const struct profile_ipsec certificate = {.given = true, .certificate_file = "c"};
    struct ipsec_offer offer;
    size_t count = 0;

    while (ipsec_offer_usual(&offer, count, &certificate)) {
        ck_assert_int_eq(offer.method, IPSEC_CERTIFICATE);
        count++;
    }
    ck_assert_uint_eq(count, 3);
    ck_assert(ipsec_offer_usual(&offer, 0, &certificate));
    ck_assert_str_eq(ipsec_offer_name(&offer), "IKEv2 with a certificate");
}
END_TEST

static char *connection(const struct ipsec_offer *offer, const struct profile_ipsec *settings, unsigned interface_id)
{
    struct ipsec_ends ends = {.settings = settings, .interface_id = interface_id};
    char *text = NULL;
    size_t octets;
    FILE *out = open_memstream(&text, &octets);

    ck_assert_int_eq(net_address_parse(&ends.own, "10.0.1.3"), 0);
    ck_assert_int_eq(net_address_parse(&ends.device, "10.0.2.2"), 0);
    ck_assert_int_eq(ipsec_write_connection(out, offer, &ends, "/folder"), 0);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(connection_says_what_is_offered)
{
    struct profile_ipsec settings = {.given = true, .secret_file = "key", .peer_identity = "device.test"};
    struct ipsec_offer offer;
    char *text;

    ck_assert_int_eq(net_address_parse(&settings.address, "10.0.0.4"), 0);
    ck_assert_int_eq(net_address_parse(&settings.peer, "10.0.0.2"), 0);
    ck_assert_int_eq(read_offer(&offer, "{\"version\": 1, \"aggressive\": true, \"esp\": \"null-sha1\", \"idle\": 3}"),
                     0);
    text = connection(&offer, &settings, 0);
    ck_assert_ptr_nonnull(strstr(text, "version = 1\n    aggressive = yes\n"));
    ck_assert_ptr_nonnull(strstr(text, "local_addrs = 10.0.0.4\n    remote_addrs = 10.0.0.2\n"));
    ck_assert_ptr_nonnull(strstr(text, "esp_proposals = null-sha1\n        mode = tunnel\n"));
    ck_assert_ptr_nonnull(strstr(text, "local_ts = 10.0.1.3/32\n        remote_ts = 10.0.2.2/32\n"));
    ck_assert_ptr_nonnull(strstr(text, "inactivity = 3s\n"));
    ck_assert_ptr_nonnull(strstr(text, "id = \"device.test\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "include /folder/secrets.conf\n"));
    ck_assert_ptr_null(strstr(text, "if_id"));
    free(text);
}
END_TEST

START_TEST(connection_of_the_kernels_esp_has_its_interface)
{
    struct profile_ipsec settings = {.given = true, .secret_file = "key"};
    struct ipsec_offer offer;
    char *text;

    ck_assert_int_eq(net_address_parse(&settings.address, "10.0.0.4"), 0);
    ck_assert_int_eq(net_address_parse(&settings.peer, "10.0.0.2"), 0);
    ck_assert_int_eq(read_offer(&offer, "{}"), 0);
    text = connection(&offer, &settings, 7);
    ck_assert_ptr_nonnull(strstr(text, "if_id_in = 7\n        if_id_out = 7\n"));
    free(text);
}
END_TEST

static char *daemon_of(bool in_kernel)
{
    char *text = NULL;
    size_t octets;
    FILE *out = open_memstream(&text, &octets);

    ck_assert_int_eq(ipsec_write_daemon(out, "/folder", in_kernel), 0);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(charon_loads_esp_of_its_own_where_the_kernel_makes_none)
{
    char *own = daemon_of(false), *kernel = daemon_of(true);

    ck_assert_ptr_nonnull(strstr(own, " pem kernel-libipsec kernel-netlink "));
    ck_assert_ptr_nonnull(strstr(kernel, " pem kernel-netlink "));
    free(own);
    free(kernel);
}
END_TEST

START_TEST(secret_of_any_octets_is_base64)
{
    static const unsigned char octets[] = {0, 0xFF, '"', '\n'};
    char text[16], small[8];

    ck_assert_int_eq(ipsec_secret_text(octets, sizeof(octets), text, sizeof(text)), 0);
    ck_assert_str_eq(text, "0sAP8iCg==");
    ck_assert_int_eq(ipsec_secret_text((const unsigned char *)"abc", 3, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "0sYWJj");
    ck_assert_int_eq(ipsec_secret_text(octets, sizeof(octets), small, sizeof(small)), -1);
}
END_TEST

/* Ethernet and IPv4 of `protocol`, and what follows. */
static size_t frame_of(uint8_t *frame, uint8_t protocol, const uint8_t *rest, size_t octets)
{
    memset(frame, 0, 34);
    frame[12] = 0x08;
    frame[14] = 0x45;
    frame[23] = protocol;
    memcpy(frame + 34, rest, octets);
    return 34 + octets;
}

static const struct {
    const char *name;
    uint8_t protocol;
    size_t octets;
    uint8_t rest[48];
    enum ipsec_packet_kind kind;
    size_t begin;
} packets[] = {
    {"ESP over IP", 50, 16, {1, 2, 3, 4}, IPSEC_PACKET_ESP, 34},
    {"ESP in UDP", 17, 20, {0x11, 0x94, 0x11, 0x94, 0, 20, 9, 9, 1, 2, 3, 4}, IPSEC_PACKET_ESP, 42},
    {"ESP in UDP, cut", 17, 15, {0x11, 0x94, 0x11, 0x94, 0, 15, 9, 9, 1, 2, 3, 4}, IPSEC_PACKET_OTHER, 0},
    {"the octet that keeps a NAT open", 17, 9, {0x11, 0x94, 0x11, 0x94, 0, 9, 0, 0, 0xFF}, IPSEC_PACKET_OTHER, 0},
    {"a request of IKEv2", 17, 40, {0x11, 0x94, 0x11, 0x94, [29] = 0x20, [31] = 0x08}, IPSEC_PACKET_REQUEST, 46},
    {"a response of IKEv2", 17, 40, {0x11, 0x94, 0x11, 0x94, [29] = 0x20, [31] = 0x20}, IPSEC_PACKET_RESPONSE, 46},
    {"IKEv2, cut", 17, 39, {0x11, 0x94, 0x11, 0x94, [29] = 0x20, [31] = 0x20}, IPSEC_PACKET_OTHER, 46},
    {"IKEv2 on port 500", 17, 36, {1, 0xF4, 1, 0xF4, [25] = 0x20, [27] = 0x08}, IPSEC_PACKET_REQUEST, 42},
    {"IKEv1", 17, 36, {1, 0xF4, 1, 0xF4, [25] = 0x10}, IPSEC_PACKET_OTHER, 42},
    {"TCP", 6, 20, {0}, IPSEC_PACKET_OTHER, 0},
    {"nothing", 17, 0, {0}, IPSEC_PACKET_OTHER, 0},
};

START_TEST(frame_is_reported_by_what_it_carries)
{
    uint8_t frame[128];
    size_t octets = frame_of(frame, packets[_i].protocol, packets[_i].rest, packets[_i].octets);
    struct ipsec_packet packet = ipsec_packet_of(frame, octets);

    ck_assert_msg(packet.kind == packets[_i].kind, "%s", packets[_i].name);
    if (packet.kind != IPSEC_PACKET_OTHER)
        ck_assert_msg(packet.begin == packets[_i].begin, "%s", packets[_i].name);
}
END_TEST

START_TEST(frame_sent_again_has_no_checksum_and_may_be_altered)
{
    uint8_t frame[128], before[128];
    size_t octets = frame_of(frame, packets[1].protocol, packets[1].rest, packets[1].octets);
    struct ipsec_packet packet = ipsec_packet_of(frame, octets);

    memcpy(before, frame, octets);
    ipsec_packet_prepare(frame, &packet, false);
    ck_assert_uint_eq(frame[40] | frame[41], 0);
    ck_assert_mem_eq(frame + 42, before + 42, octets - 42);
    ipsec_packet_prepare(frame, &packet, true);
    ck_assert_mem_eq(frame + 42, before + 42, 4); /* the SPI stays */
    ck_assert_uint_eq(frame[48], before[48] ^ 0x04);
}
END_TEST

Suite *ipsec_suite(void)
{
    Suite *suite = suite_create("ipsec");
    TCase *tests = tcase_create("ipsec");

    tcase_add_loop_test(tests, offer_that_is_none_is_refused, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tests, offer_needs_what_the_profile_has);
    tcase_add_test(tests, usual_offers_are_of_the_methods_that_the_profile_has);
    tcase_add_test(tests, connection_says_what_is_offered);
    tcase_add_test(tests, connection_of_the_kernels_esp_has_its_interface);
    tcase_add_test(tests, charon_loads_esp_of_its_own_where_the_kernel_makes_none);
    tcase_add_test(tests, secret_of_any_octets_is_base64);
    tcase_add_loop_test(tests, frame_is_reported_by_what_it_carries, 0, (int)(sizeof(packets) / sizeof(packets[0])));
    tcase_add_test(tests, frame_sent_again_has_no_checksum_and_may_be_altered);
    suite_add_tcase(suite, tests);
    return suite;
}
