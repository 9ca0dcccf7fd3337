/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/option_table.h"

/* "192.0.2.7:9999" or "[fd00::7]:9999". False: it is no such text. */
static bool endpoint_parse(const char *text, struct net_address *address, uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    unsigned long number;

    if (length == 0 || length >= sizeof(host) || colon[1] < '0' || colon[1] > '9')
        return false;
    if (text[0] == '[' && colon[-1] == ']')
        (void)snprintf(host, sizeof(host), "%.*s", (int)length - 2, text + 1);
    else
        (void)snprintf(host, sizeof(host), "%.*s", (int)length, text);
    number = strtoul(colon + 1, &end, 10);
    if (*end != '\0' || number < 1 || number > 65535 || net_address_parse(address, host) != 0)
        return false;
    *port = (uint16_t)number;
    return true;
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return option_jsonl(value, &((struct probe_options *)user)->jsonl, error);
}

#define MEMBER(name) offsetof(struct probe_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --interface IF     the tester's network interface, on the same link as the device or its router\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(interface)},
    {"  --own-address ADDRESS\n"
     "                     an address of that subnet which no host owns: the tester uses it with its own TCP\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(own_address)},
    {"  --gateway ADDRESS  the router on that link behind which the device is; without it the device is on the link\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(gateway)},
    {"  --control ADDRESS:PORT\n"
     "                     the device's upper tester (docs/upper-tester.md)\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(control)},
    {"  --control-token FILE\n"
     "                     the token that the upper tester demands: the first line of this file\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(control_token)},
    {"  --name NAME        the device's name in the profile (my-device)\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(name)},
    {"  -o OUT             writes the profile to this file; without it the profile follows the text report\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output)},
    {"  --force            replaces the file of -o\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --simulate         probes the reference stack inside this process, on virtual time\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(simulate)},
    {"  --defect DEFECT    gives the reference stack a defect; repeat it for several (names: warpcheck list --defects)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(defects), .count = MEMBER(defect_count), .most = PROBE_DEFECTS_MAX},
    {"  --ipv6             uses IPv6 instead of IPv4 (reference stack only)\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(ipv6)},
    {"  --seed N           chooses ports and sequence numbers (1)\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(seed), .most = INT64_MAX},
    {"  --format F         text or jsonl\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --help             shows this text\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(help)},
};
/* clang-format on */

static const struct option_table table = {
    .command = "probe",
    .head =
        "usage: warpcheck probe [OPTION...] [PROFILE|ADDRESS:PORT]\n"
        "  Finds out in seconds what a device is: whether it can be reached, which start-ups it accepts, how its first "
        "FPDUs\n"
        "  look, which good exchanges it serves; and writes a profile for run --dut. Without a device it probes the\n"
        "  reference stack, in a network namespace of its own.\n"
        "  Exit status: 0 nothing is wrong with what was seen, 1 a defect was seen, 2 usage, 4 the device cannot be "
        "reached, or\n"
        "  serves nothing by which it can be judged.\n"
        "  PROFILE            a JSON file that describes the device (docs/profiles.md)\n"
        "  ADDRESS:PORT       where the device listens, with --interface and --own-address; [ADDRESS]:PORT for IPv6\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

int probe_usage(FILE *out)
{
    return option_table_print(&table, out);
}

static int parse_device(struct probe_options *options, const char *argument, struct iwarp_sentence *error)
{
    if (options->profile != NULL || options->address.family != 0)
        return iwarp_sentence_set(error, "one device was expected, \"%.60s\" is another", argument);
    if (!endpoint_parse(argument, &options->address, &options->port))
        options->profile = argument;
    return 0;
}

static int consistent(const struct probe_options *options, struct iwarp_sentence *error)
{
    bool address = options->address.family != 0, named = address || options->profile != NULL;
    bool beside = options->interface != NULL || options->own_address != NULL || options->control != NULL ||
                  options->gateway != NULL;

    if (named && (options->simulate || options->defect_count != 0 || options->ipv6))
        return iwarp_sentence_set(
            error, "a device excludes --simulate, --defect and --ipv6: these are for the reference stack");
    if (address && (options->interface == NULL || options->own_address == NULL))
        return iwarp_sentence_set(
            error, "ADDRESS:PORT needs --interface IF, the tester's interface on that link, and --own-address "
                   "ADDRESS, an address there that no host owns");
    if (!address && beside)
        return iwarp_sentence_set(
            error, "--interface, --own-address, --gateway and --control belong to ADDRESS:PORT; a profile has its own");
    if (options->control_token != NULL && options->control == NULL)
        return iwarp_sentence_set(error, "--control-token needs --control ADDRESS:PORT");
    if (options->force && options->output == NULL)
        return iwarp_sentence_set(error, "--force needs -o OUT");
    return 0;
}

int probe_options_parse(struct probe_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    memset(options, 0, sizeof(*options));
    options->seed = 1;
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, options, argc, argv, &i, error);

        if (taken < 0 || (taken == 0 && parse_device(options, argv[i++], error) != 0))
            return -1;
    }
    return options->help ? 0 : consistent(options, error);
}
