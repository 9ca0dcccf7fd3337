/* SPDX-License-Identifier: BSD-2-Clause */
/* What is refused before a guest is built or booted. */
#include <check.h>
#include <string.h>

#include "conformance/engine/run/lab_options.h"

Suite *lab_options_suite(void);

static struct iwarp_sentence error;

static const char *refusal(const struct lab_options *options, const char *dut)
{
    memset(&error, 0, sizeof(error));
    return lab_options_check(options, dut, &error) != 0 ? error.text : "";
}

START_TEST(options_of_labs_are_for_their_devices)
{
    const struct lab_options tree = {.kernel_tree = "linux"}, source = {.siw_source = "linux"};
    const struct lab_options config = {.kernel_tree = "linux", .kernel_config_count = 1},
                             alone = {.kernel_config_count = 1};
    const struct lab_options warns = {.panic_on_warn = true}, ipsec = {.ipsec = true}, none = {.ipsec = false};

    ck_assert_str_eq(refusal(&tree, "linux-siw-6.12"), "");
    ck_assert_str_eq(refusal(&tree, "linux-rxe"), "");
    ck_assert_str_eq(refusal(&warns, "linux-rxe-6.1"), "");
    ck_assert_str_eq(refusal(&source, "linux-siw"), "");
    ck_assert_str_eq(refusal(&none, NULL), "");
    ck_assert_str_eq(refusal(&none, "device.json"), "");
    ck_assert_str_eq(refusal(&tree, "linux-sctp-6.12"), "");
    ck_assert_str_eq(refusal(&tree, NULL),
                     "--kernel-tree is for --dut linux-siw, linux-rxe and linux-sctp (docs/lab-kernels.md)");
    ck_assert_str_eq(refusal(&config, "linux-sctp"), "");
    ck_assert_str_eq(refusal(&alone, NULL),
                     "--kernel-config is for --dut linux-siw, linux-rxe and linux-sctp (docs/lab-kernels.md)");
    ck_assert_str_eq(refusal(&source, "linux-sctp"), "--siw-source is for --dut linux-siw (docs/lab-kernels.md)");
    ck_assert_str_eq(refusal(&source, "linux-rxe"), "--siw-source is for --dut linux-siw (docs/lab-kernels.md)");
    ck_assert_str_eq(refusal(&ipsec, "device.json"),
                     "--ipsec is for --dut linux-siw: a device's profile has a member \"ipsec\" (docs/ipsec.md)");
}
END_TEST

START_TEST(a_guest_that_runs_already_has_its_own_kernel)
{
    struct lab_options options = {.guest = "10.0.2.15", .guest_token = "token"};

    ck_assert_str_eq(refusal(&options, "linux-siw"), "");
    options.kernel_tree = "linux";
    ck_assert_str_eq(refusal(&options, "linux-siw"), "--guest excludes --kernel-tree: that guest runs already");
    options.kernel_tree = NULL;
    options.panic_on_warn = true;
    ck_assert_str_eq(refusal(&options, "linux-siw"), "--guest excludes --panic-on-warn: that guest runs already");
    options.panic_on_warn = false;
    options.guest_token = NULL;
    ck_assert_str_eq(refusal(&options, "linux-siw"),
                     "--guest needs --guest-token FILE, and --guest-token needs --guest ADDRESS");
}
END_TEST

START_TEST(a_kernel_is_configured_from_a_tree)
{
    struct lab_options options = {.kernel_configs = {"kasan"}, .kernel_config_count = 1};

    ck_assert_str_eq(refusal(&options, "linux-siw"), "--kernel-config needs --kernel-tree DIR, the kernel's source");
    options.kernel_tree = "linux";
    ck_assert_str_eq(refusal(&options, "linux-siw"), "");
    options.ipsec = true;
    ck_assert_str_eq(refusal(&options, "linux-siw"), "--ipsec excludes --kernel-tree: its guest has Debian's kernel");
}
END_TEST

Suite *lab_options_suite(void)
{
    Suite *suite = suite_create("lab_options");
    TCase *refusals = tcase_create("refusals");

    tcase_add_test(refusals, options_of_labs_are_for_their_devices);
    tcase_add_test(refusals, a_guest_that_runs_already_has_its_own_kernel);
    tcase_add_test(refusals, a_kernel_is_configured_from_a_tree);
    suite_add_tcase(suite, refusals);
    return suite;
}
