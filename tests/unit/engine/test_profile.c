/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/profile.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD "\"address\": \"192.0.2.7\", \"port\": 9999, \"interface\": \"eth1\", \"own_address\": \"192.0.2.9\""

static struct pics *pics;
static struct catalogue *catalogue;
static struct profile profile;
static char path[] = "/tmp/warpcheck-profile-XXXXXX";
static struct iwarp_sentence error;

static void setup(void)
{
    int fd;

    (void)snprintf(path, sizeof(path), "/tmp/warpcheck-profile-XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    memset(&profile, 0, sizeof(profile));
}

static void teardown(void)
{
    profile_free(&profile);
    pics_free(pics);
    catalogue_free(catalogue);
    unlink(path);
}

static int load(const char *text)
{
    const struct profile_context context = {catalogue, pics, "2026-11-22"};
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    return profile_load(&profile, path, &context, &error);
}

START_TEST(complete_profile_is_loaded)
{
    ck_assert_msg(load("{ \"name\": \"dut\", " GOOD ", \"control\": \"192.0.2.7:7471\", \"own_mac\": "
                       "\"02:00:00:00:00:09\", \"capabilities\": { \"mpa.markers\": \"no\", \"ird\": 7 } }") == 0,
                  "%s", error.text);
    ck_assert_str_eq(profile.name, "dut");
    ck_assert_uint_eq(profile.place.port, 9999);
    ck_assert_uint_eq(profile.place.control_port, 7471);
    ck_assert_uint_eq(profile.place.own_mac[5], 9);
    ck_assert(!pics_holds(pics, "mpa.markers"));
    ck_assert_str_eq(pics_find(pics, "ird")->value, "7");
    ck_assert(pics_holds(pics, "upper_tester"));
    ck_assert_msg(!pics_holds(pics, "instrumented"), "a device is not instrumented unless it says so");
}
END_TEST

START_TEST(commands_are_lists_of_words)
{
    ck_assert_int_eq(load("{ " GOOD ", \"reaction_seconds\": 30, \"wait_for_device\": 600, \"restart_command\": "
                          "[\"./server\", \"a b; $c\", \"\"], "
                          "\"connect_command\": [\"x\"] }"),
                     0);
    ck_assert_uint_eq(profile.reaction_seconds, 30);
    ck_assert_uint_eq(profile.send_buffer, 0);
    ck_assert_uint_eq(profile.wait_for_device, 600);
    ck_assert_str_eq(profile.restart_command[0], "./server");
    ck_assert_str_eq(profile.restart_command[1], "a b; $c");
    ck_assert_str_eq(profile.restart_command[2], "");
    ck_assert_ptr_null(profile.restart_command[3]);
    ck_assert_str_eq(profile.connect_command[0], "x");
    ck_assert_ptr_null(profile.connect_command[1]);
    profile_free(&profile);
    ck_assert_int_eq(load("{ " GOOD ", \"restart_command\": null }"), 0);
    ck_assert_ptr_null(profile.restart_command);
    ck_assert_uint_eq(profile.wait_for_device, 0);
}
END_TEST

START_TEST(no_control_means_no_upper_tester)
{
    ck_assert_int_eq(load("{ " GOOD " }"), 0);
    ck_assert(!pics_holds(pics, "upper_tester"));
    ck_assert_uint_eq(profile.place.control.family, 0);
}
END_TEST

START_TEST(control_address_may_be_ipv6)
{
    ck_assert_int_eq(load("{ " GOOD ", \"control\": \"[fd00::7]:7471\" }"), 0);
    ck_assert_uint_eq(profile.place.control.family, 6);
}
END_TEST

START_TEST(gateway_is_a_router)
{
    ck_assert_int_eq(load("{ " GOOD " }"), 0);
    ck_assert_uint_eq(profile.gateway.family, 0);
    profile_free(&profile);
    ck_assert_msg(load("{ " GOOD ", \"gateway\": \"192.0.2.1\" }") == 0, "%s", error.text);
    ck_assert_uint_eq(profile.gateway.family, 4);
    ck_assert_uint_eq(profile.gateway.octets[3], 1);
}
END_TEST

#define IPSEC(members) "{ " GOOD ", \"ipsec\": { " members " } }"

START_TEST(ipsec_member_claims_the_capability)
{
    ck_assert_msg(load("{ " GOOD " }") == 0, "%s", error.text);
    ck_assert(!profile.ipsec.given && !pics_holds(pics, "ipsec"));
    profile_free(&profile);
    ck_assert_msg(load(IPSEC("\"address\": \"192.0.2.11\", \"secret_file\": \"/dev/null\"")) == 0, "%s", error.text);
    ck_assert(profile.ipsec.given && pics_holds(pics, "ipsec"));
    ck_assert(net_address_equal(&profile.ipsec.peer, &profile.address));
    profile_free(&profile);
    ck_assert_msg(load("{ " GOOD ", \"capabilities\": { \"ipsec\": \"no\" }, \"ipsec\": { \"address\": \"192.0.2.11\", "
                       "\"secret_file\": \"/dev/null\" } }") == 0,
                  "%s", error.text);
    ck_assert(!pics_holds(pics, "ipsec"));
}
END_TEST

START_TEST(identity_of_a_profile_has_nothing_of_its_ipsec)
{
    json_t *identity;
    char *text;

    ck_assert_msg(load("{ " GOOD ", \"vendor\": \"v\", \"ipsec\": { \"address\": \"192.0.2.11\", \"secret_file\": "
                       "\"/dev/null\" } }") == 0,
                  "%s", error.text);
    identity = profile_identity(&profile);
    text = json_dumps(identity, 0);
    ck_assert_ptr_null(strstr(text, "/dev/null"));
    ck_assert_ptr_null(json_object_get(identity, "ipsec"));
    free(text);
    json_decref(identity);
}
END_TEST

#define DEVIATIONS(entry) "{ " GOOD ", \"known_deviations\": [ " entry " ] }"
#define HAZARD(entry)     "{ " GOOD ", \"hazards\": [ " entry " ] }"
#define MARKERS           "\"requirement\": \"MPA-7.1.1-07\""

struct bad {
    const char *text;
    const char *part; /* of the sentence */
};

static const struct bad bad[] = {
    {"", "this is not JSON"},
    {"[]", "this is a list, an object was expected"},
    {"{ \"name\": \"x\" }", "\"address\" is missing, the device's IPv4 or IPv6 address was expected"},
    {"{ " GOOD ", \"name\": \"a\", \"name\": \"b\" }", "duplicate"},
    {"{ \"address\": \"here\", \"port\": 1, \"interface\": \"e\", \"own_address\": \"192.0.2.9\" }",
     "\"address\" is \"here\", an IPv4 or IPv6 address was expected"},
    {"{ \"address\": \"192.0.2.7\", \"port\": 1, \"interface\": \"e\", \"own_address\": \"fd00::1\" }",
     "different families"},
    {"{ " GOOD ", \"gateway\": \"fd00::1\" }", "\"address\" and \"gateway\" are of different families"},
    {"{ " GOOD ", \"gateway\": \"router\" }", "\"gateway\" is \"router\", an IPv4 or IPv6 address was expected"},
    {"{ " GOOD ", \"gateway\": \"192.0.2.7\" }", "as \"address\" is; a router's address was expected"},
    {"{ " GOOD ", \"gateway\": \"192.0.2.9\" }", "as \"own_address\" is; a router's address was expected"},
    {IPSEC(""), "ipsec: \"address\" is missing, the address of the tester's IKE, which no machine uses was expected"},
    {IPSEC("\"address\": \"fd00::1\", \"secret_file\": \"/dev/null\""),
     "ipsec: \"address\" is \"fd00::1\", an IPv4 address was expected"},
    {IPSEC("\"address\": \"192.0.2.11\""), "ipsec: neither \"secret_file\" nor \"certificate_file\" is given"},
    {IPSEC("\"address\": \"192.0.2.11\", \"secret\": \"abc\""), "\"secret_file\" names a file"},
    {IPSEC("\"address\": \"192.0.2.11\", \"secret_file\": \"/nowhere/key\""),
     "ipsec: \"secret_file\": /nowhere/key: No such file"},
    {IPSEC("\"address\": \"192.0.2.11\", \"certificate_file\": \"/dev/null\""),
     "ipsec: \"certificate_file\", \"key_file\" and \"ca_file\" are given together, or none of them"},
    {IPSEC("\"address\": \"192.0.2.11\", \"secret_file\": \"/dev/null\", \"esp\": \"aes128\\n}\""),
     "ipsec: \"esp\" has the character 0x0a; letters, digits"},
    {IPSEC("\"address\": \"192.0.2.11\", \"secret_file\": \"/dev/null\", \"esp_by\": \"hand\""),
     "ipsec: \"esp_by\" is \"hand\", one of kernel, strongswan was expected"},
    {"{ \"address\": \"192.0.2.7\", \"own_address\": \"192.0.2.9\", \"port\": 1 }", "\"interface\" is missing"},
    {"{ \"address\": \"192.0.2.7\", \"own_address\": \"192.0.2.9\", \"interface\": \"e\", \"port\": 0 }", "1 to 65535"},
    {"{ \"address\": \"192.0.2.7\", \"own_address\": \"192.0.2.9\", \"interface\": \"e\", \"port\": \"9999\" }",
     "\"port\" is a text, a port from 1 to 65535 was expected"},
    {"{ " GOOD ", \"control\": \"192.0.2.7\" }", "\"address:port\" was expected"},
    {"{ " GOOD ", \"control\": \"192.0.2.7:x\" }", "a port from 1 to 65535"},
    {"{ " GOOD ", \"control\": 7471 }", "\"control\" is a number, the upper tester's \"address:port\" was expected"},
    {"{ " GOOD ", \"control_token_file\": 7 }", "\"control_token_file\" is a number, a file with the token"},
    {"{ " GOOD ", \"control_token_file\": \"/nowhere/token\" }",
     "\"control_token_file\": /nowhere/token: No such file"},
    {"{ " GOOD ", \"control_token_file\": \"/dev/null\" }",
     "/dev/null: a token was expected as the first line: 16 to 256"},
    {"{ " GOOD ", \"own_mac\": \"zz\" }", "own_mac"},
    {"{ " GOOD ", \"own_mac\": true }", "\"own_mac\" is true"},
    {"{ " GOOD ", \"name\": \"\" }", "\"name\" is empty"},
    {"{ " GOOD ", \"replay\": 1.5 }", "\"replay\" is a number with a fraction"},
    /* how a device is kept */
    {"{ " GOOD ", \"wait_for_device\": \"10\" }",
     "\"wait_for_device\" is a text, seconds that a lost device may take to accept connections again was expected"},
    {"{ " GOOD ", \"reaction_seconds\": 0 }", "\"reaction_seconds\" is 0, seconds from 1 to 600 were expected"},
    {"{ " GOOD ", \"send_buffer\": 65535 }", "\"send_buffer\" is 65535, octets from 65536 to 12582912 were expected"},
    {"{ " GOOD ", \"send_buffer\": 12582913 }", "\"send_buffer\" is 12582913, octets from"},
    {"{ " GOOD ", \"send_buffer\": -1 }", "\"send_buffer\" is -1"},
    {"{ " GOOD ", \"send_buffer\": \"4M\" }", "\"send_buffer\" is a text, octets that the device's TCP or SCTP takes"},
    {"{ " GOOD ", \"wait_for_device\": 0 }", "\"wait_for_device\" is 0, seconds from 1 to 600 were expected"},
    {"{ " GOOD ", \"wait_for_device\": -1 }", "\"wait_for_device\" is -1"},
    {"{ " GOOD ", \"wait_for_device\": 601 }", "\"wait_for_device\" is 601"},
    {"{ " GOOD ", \"wait_for_device\": 1.5 }", "\"wait_for_device\" is a number with a fraction"},
    {"{ " GOOD ", \"restart_command\": \"reboot\" }", "\"restart_command\" is a text, a list of texts"},
    {"{ " GOOD ", \"restart_command\": [] }", "\"restart_command\" has 0 members, a program and its arguments"},
    {"{ " GOOD ", \"restart_command\": [\"a\", 7] }", "restart_command[1] is a number, a text was expected"},
    {"{ " GOOD ", \"restart_command\": [\"\"] }", "restart_command[0] is empty, a text was expected: the program"},
    {"{ " GOOD ", \"connect_command\": {} }", "\"connect_command\" is an object, a list of texts"},
    {"{ " GOOD ", \"connect_command\": [\"a\", [\"b\"]] }", "connect_command[1] is a list, a text was expected"},
    {"{ " GOOD ", \"conect_command\": [\"a\"] }", "did you mean \"connect_command\"?"},
    /* members that are not there: the nearest, or all of them */
    {"{ " GOOD ", \"hazard\": [] }", "there is no member \"hazard\", did you mean \"hazards\"?"},
    {"{ " GOOD ", \"Capabilities\": {} }", "there is no member \"Capabilities\", did you mean \"capabilities\"?"},
    {"{ " GOOD ", \"known_deviation\": [] }", "did you mean \"known_deviations\"?"},
    {"{ " GOOD ", \"q\": [] }", "there is no member \"q\", expected are name, replay, address, "},
    /* capabilities */
    {"{ " GOOD ", \"capabilities\": [] }", "\"capabilities\" is a list, an object with answers to PICS items"},
    {"{ " GOOD ", \"capabilities\": { \"telepathy\": \"yes\" } }",
     "capabilities: there is no PICS item \"telepathy\" (warpcheck pics lists them)"},
    {"{ " GOOD ", \"capabilities\": { \"mpa.marker\": \"yes\" } }",
     "capabilities: there is no PICS item \"mpa.marker\", did you mean \"mpa.markers\"?"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": \"lots\" } }",
     "\"ird\" is \"lots\", a number from 0 to 999999999 was expected"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": \"yes\" } }",
     "\"ird\" is \"yes\", a number from 0 to 999999999 was expected"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": true } }", "\"ird\" is true, a number from 0 to 999999999 was expected"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": \"16\" } }",
     "\"ird\" is \"16\", a number from 0 to 999999999 was expected"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": 1000000000 } }",
     "\"ird\" is 1000000000, a number from 0 to 999999999 was expected"},
    {"{ " GOOD ", \"questions\": 5 }", "\"questions\" is a number, an object with the questions"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": -1 } }", "\"ird\" is -1, a number from 0 to 999999999 was expected"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": 1.5 } }", "\"ird\" is a number with a fraction"},
    {"{ " GOOD ", \"capabilities\": { \"ird\": null } }", "\"ird\" is null"},
    {"{ " GOOD ", \"capabilities\": { \"mpa.markers\": 7 } }", "\"mpa.markers\" is 7, \"yes\" or \"no\" was expected"},
    {"{ " GOOD ", \"capabilities\": { \"mpa.markers\": \"maybe\" } }",
     "\"mpa.markers\" is \"maybe\", \"yes\" or \"no\" was expected"},
    {"{ " GOOD ", \"capabilities\": { \"mpa.markers\": [] } }", "\"mpa.markers\" is a list"},
    /* hazards that would protect from nothing */
    {"{ " GOOD ", \"hazards\": 5 }", "\"hazards\" is a number, a list of hazards was expected"},
    {"{ " GOOD ", \"hazards\": {} }", "\"hazards\" is an object"},
    {HAZARD("5"), "hazards[0]: this is a number, an object was expected"},
    {HAZARD("{ " MARKERS ", \"note\": \"x\" }, { \"note\": \"x\" }"), "hazards[1]: \"requirement\" is missing"},
    {HAZARD("{ " MARKERS " }"), "hazards[0]: \"note\" is missing"},
    {HAZARD("{ " MARKERS ", \"note\": \"x\", \"rol\": \"responder\" }"), "did you mean \"role\"?"},
    {HAZARD("{ " MARKERS ", \"note\": \"x\", \"role\": \"responders\" }"),
     "hazards[0]: \"role\" is \"responders\", did you mean \"responder\"?"},
    {HAZARD("{ " MARKERS ", \"note\": \"x\", \"role\": \"both\" }"), "one of initiator, responder was expected"},
    {HAZARD("{ \"requirement\": \"MPA-7.1.1-7\", \"note\": \"x\" }"),
     "there is no requirement \"MPA-7.1.1-7\", did you mean \"MPA-7.1.1-"},
    {HAZARD("{ \"requirement\": \"MPB-*\", \"note\": \"x\" }"), "there is no requirement \"MPB-*\""},
    /* known deviations: the list; its entries are in test_deviation.c */
    {"{ " GOOD ", \"known_deviations\": {} }", "\"known_deviations\" is an object, a list of known deviations"},
    {DEVIATIONS("7"), "known_deviations[0]: this is a number"},
    {DEVIATIONS("{ " MARKERS ", \"actual\": \"RST\" }"), "known_deviations[0]: \"review_by\" is missing"},
};

#define PLACE(own, control)                                                                                            \
    "{ \"own_address\": \"192.0.2." own "\", \"port\": 9901, \"control\": \"192.0.2.7:" control "\" }"
#define BESIDE(list) "{ " GOOD ", \"control\": \"192.0.2.7:7471\", \"beside\": [ " list " ] }"

/* Of places for checks side by side: two that would take each other's frames, or reset each other's work, are none. */
static const struct bad bad_places[] = {
    {BESIDE("{ \"port\": 9901 }"), "beside[0]: \"own_address\" is missing"},
    {BESIDE("{ \"own_address\": \"192.0.2.10\" }"), "beside[0]: \"port\" is missing"},
    {BESIDE("{ \"own_address\": \"192.0.2.10\", \"port\": 9901 }"),
     "beside[0]: \"control\" is missing here and given in the profile"},
    {"{ " GOOD ", \"beside\": [ " PLACE("10", "7473") " ] }",
     "beside[0]: \"control\" is given here and missing in the profile"},
    {BESIDE(PLACE("9", "7473")), "beside[0]: \"own_address\" is another place's, too"},
    {BESIDE(PLACE("10", "7471")), "beside[0]: \"control\" is another place's, too"},
    {BESIDE(PLACE("10", "7473") ", " PLACE("10", "7474")), "beside[1]: \"own_address\" is another place's, too"},
    {BESIDE(PLACE("10", "7473") ", " PLACE("11", "7473")), "beside[1]: \"control\" is another place's, too"},
    {BESIDE(PLACE("10", "99999")), "beside[0]: \"control\" is"},
    {BESIDE("{ \"own_address\": \"2001:db8::1\", \"port\": 9901 }"),
     "beside[0]: \"address\" and \"own_address\" are of"},
    {BESIDE("{ \"own_address\": \"192.0.2.10\", \"ports\": 9901 }"), "beside[0]: "},
    {BESIDE("7"), "beside[0]"},
    {"{ " GOOD ", \"beside\": {} }", "\"beside\" is"},
};

START_TEST(places_that_are_none)
{
    ck_assert_int_eq(load(bad_places[_i].text), -1);
    ck_assert_msg(strstr(error.text, bad_places[_i].part) != NULL, "'%s' lacks '%s'", error.text, bad_places[_i].part);
    ck_assert_msg(strstr(error.text, path) != NULL, "'%s' does not name the file", error.text);
}
END_TEST

START_TEST(places_side_by_side)
{
    char *text = malloc(64 * 1024);
    size_t used;

    ck_assert_msg(load(BESIDE(PLACE("10", "7473") ", " PLACE("11", "7474"))) == 0, "%s", error.text);
    ck_assert_uint_eq(profile.beside_count, 2);
    ck_assert_uint_eq(profile.beside[1].own_address.octets[3], 11);
    ck_assert_uint_eq(profile.beside[1].control_port, 7474);
    ck_assert_uint_eq(profile.beside[0].port, 9901);
    ck_assert_uint_eq(profile.place.port, 9999);
    profile_free(&profile);
    ck_assert_ptr_nonnull(text);
    used = (size_t)sprintf(text, "{ " GOOD ", \"beside\": [");
    for (unsigned i = 0; i <= PROFILE_BESIDE_MOST; i++)
        used += (size_t)sprintf(text + used, "%s{ \"own_address\": \"192.0.2.%u\", \"port\": 1 }", i != 0 ? "," : "",
                                100 + i);
    (void)sprintf(text + used, "] }");
    ck_assert_int_eq(load(text), -1);
    free(text);
    ck_assert_ptr_nonnull(strstr(error.text, "\"beside\" has 65 places, at most 64 were expected"));
}
END_TEST

START_TEST(bad_profile_is_refused_with_its_place)
{
    ck_assert_int_eq(load(bad[_i].text), -1);
    ck_assert_msg(strstr(error.text, bad[_i].part) != NULL, "'%s' lacks '%s'", error.text, bad[_i].part);
    ck_assert_msg(strstr(error.text, path) != NULL, "'%s' does not name the file", error.text);
}
END_TEST

START_TEST(missing_profile_is_named)
{
    const struct profile_context context = {catalogue, pics, "2026-11-22"};

    ck_assert_int_eq(profile_load(&profile, "/nonexistent/profile.json", &context, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/profile.json"));
}
END_TEST

START_TEST(hazard_is_found_by_pattern_and_role)
{
    ck_assert_msg(
        load(HAZARD("{ \"requirement\": \"EMPA-9.2-1[1-6]\", \"role\": \"responder\", \"note\": \"it dies\" }, "
                    "{ " MARKERS ", \"note\": \"so, too\" }")) == 0,
        "%s", error.text);
    ck_assert_str_eq(profile_hazard(&profile, "EMPA-9.2-14", "responder"), "it dies");
    ck_assert_ptr_null(profile_hazard(&profile, "EMPA-9.2-14", "initiator"));
    ck_assert_ptr_null(profile_hazard(&profile, "EMPA-9.2-19", "responder"));
    ck_assert_str_eq(profile_hazard(&profile, "MPA-7.1.1-07", "initiator"), "so, too");
}
END_TEST

/* What `pics --format profile` writes and people leave as it is. */
START_TEST(what_is_not_read)
{
    ck_assert_msg(load("{ " GOOD ", \"control\": null, \"own_mac\": null, \"questions\": { \"ird\": \"how many?\" }, "
                       "\"known_deviations\": [], \"hazards\": [], \"capabilities\": { \"mpa.markers\": false } }") ==
                      0,
                  "%s", error.text);
    ck_assert_uint_eq(profile.place.control.family, 0);
    ck_assert_uint_eq(profile.deviations.count, 0);
    ck_assert(!pics_holds(pics, "mpa.markers"));
}
END_TEST

Suite *profile_suite(void);

Suite *profile_suite(void)
{
    Suite *suite = suite_create("profile");
    TCase *tests = tcase_create("profile");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, complete_profile_is_loaded);
    tcase_add_test(tests, no_control_means_no_upper_tester);
    tcase_add_test(tests, commands_are_lists_of_words);
    tcase_add_test(tests, control_address_may_be_ipv6);
    tcase_add_test(tests, gateway_is_a_router);
    tcase_add_test(tests, ipsec_member_claims_the_capability);
    tcase_add_test(tests, identity_of_a_profile_has_nothing_of_its_ipsec);
    tcase_add_loop_test(tests, bad_profile_is_refused_with_its_place, 0, (int)(sizeof(bad) / sizeof(bad[0])));
    tcase_add_loop_test(tests, places_that_are_none, 0, (int)(sizeof(bad_places) / sizeof(bad_places[0])));
    tcase_add_test(tests, places_side_by_side);
    tcase_add_test(tests, missing_profile_is_named);
    tcase_add_test(tests, hazard_is_found_by_pattern_and_role);
    tcase_add_test(tests, what_is_not_read);
    suite_add_tcase(suite, tests);
    return suite;
}
