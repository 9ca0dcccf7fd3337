/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations that no stream can have: a sentence each, and no stream. */
#include <check.h>
#include <string.h>

#include "iwarp/stream.h"

Suite *stream_config_suite(void);

static void refused(const struct iwarp_stream_config *config, const char *wanted)
{
    struct iwarp_device *device = iwarp_device_new(NULL);
    struct iwarp_sentence sentence = {""};

    ck_assert_ptr_nonnull(device);
    ck_assert_ptr_null(iwarp_stream_new(device, config, 1, &sentence));
    ck_assert_msg(strstr(sentence.text, wanted) != NULL, "'%s', but '%s' was expected", sentence.text, wanted);
    ck_assert_ptr_null(iwarp_stream_new(device, config, 1, NULL));
    iwarp_device_free(device);
}

START_TEST(missing_configuration_is_refused)
{
    struct iwarp_stream_config config;
    struct iwarp_sentence sentence = {""};

    iwarp_stream_config_default(&config, IWARP_RESPONDER);
    refused(NULL, "a configuration");
    ck_assert_ptr_null(iwarp_stream_new(NULL, &config, 1, &sentence));
    ck_assert_ptr_nonnull(strstr(sentence.text, "a device"));
}
END_TEST

START_TEST(out_of_range)
{
    struct iwarp_stream_config good, config;

    iwarp_stream_config_default(&good, IWARP_INITIATOR);
    config = good;
    config.role = (enum iwarp_role)7;
    refused(&config, "role 7");
    config = good;
    config.accept = (enum iwarp_accept_policy)7;
    refused(&config, "accept 7");
    config = good;
    config.extensions = (enum iwarp_extensions)7;
    refused(&config, "extensions 7");
    config = good;
    config.rtr = 8;
    refused(&config, "0x8");
    config = good;
    config.revision = 0;
    refused(&config, "revision 0");
    config = good;
    config.ird = 0x4000;
    refused(&config, "14 bits");
    config = good;
    config.ord = 0x3000;
    refused(&config, "the device has");
    config = good;
    config.private_octets = 509;
    refused(&config, "508");
    config = good;
    config.enhanced = false;
    config.peer_to_peer = true;
    refused(&config, "peer-to-peer");
}
END_TEST

Suite *stream_config_suite(void)
{
    Suite *suite = suite_create("stream_config");
    TCase *tcase = tcase_create("impossible");

    tcase_add_test(tcase, missing_configuration_is_refused);
    tcase_add_test(tcase, out_of_range);
    suite_add_tcase(suite, tcase);
    return suite;
}
