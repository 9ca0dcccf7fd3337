/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/option_unknown.h"

const char probe_usage[] =
    "usage: warpcheck probe [OPTION...] [PROFILE|ADDRESS:PORT]\n"
    "  Finds out in seconds what a device is: whether it can be reached, which start-ups it accepts, how its first "
    "FPDUs\n"
    "  look, which good exchanges it serves; and writes a profile for run --dut. Without a device it probes the\n"
    "  reference stack, in a network namespace of its own.\n"
    "  Exit status: 0 nothing is wrong with what was seen, 1 a defect was seen, 2 usage, 4 the device cannot be "
    "reached, or\n"
    "  serves nothing by which it can be judged.\n"
    "  PROFILE            a JSON file that describes the device (docs/profiles.md)\n"
    "  ADDRESS:PORT       where the device listens, with --interface and --own-address; [ADDRESS]:PORT for IPv6\n"
    "  --interface IF     the tester's network interface, on the same link as the device or its router\n"
    "  --own-address ADDRESS\n"
    "                     an address of that subnet which no host owns: the tester uses it with its own TCP\n"
    "  --gateway ADDRESS  the router on that link behind which the device is; without it the device is on the link\n"
    "  --control ADDRESS:PORT\n"
    "                     the device's upper tester (docs/upper-tester.md)\n"
    "  --control-token FILE\n"
    "                     the token that the upper tester demands: the first line of this file\n"
    "  --name NAME        the device's name in the profile (my-device)\n"
    "  -o OUT             writes the profile to this file; without it the profile follows the text report\n"
    "  --force            replaces the file of -o\n"
    "  --simulate         probes the reference stack inside this process, on virtual time\n"
    "  --defect DEFECT    gives the reference stack a defect; repeat it for several (names: warpcheck list --defects)\n"
    "  --ipv6             uses IPv6 instead of IPv4 (reference stack only)\n"
    "  --seed N           chooses ports and sequence numbers (1)\n"
    "  --format F         text or jsonl\n"
    "  --help             shows this text\n";

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

struct flag {
    const char *name;
    size_t offset;
};

static const struct flag flags[] = {
    {"--simulate", offsetof(struct probe_options, simulate)},
    {"--ipv6", offsetof(struct probe_options, ipv6)},
    {"--force", offsetof(struct probe_options, force)},
    {"--help", offsetof(struct probe_options, help)},
};

static const struct flag texts[] = {
    {"--interface", offsetof(struct probe_options, interface)},
    {"--own-address", offsetof(struct probe_options, own_address)},
    {"--gateway", offsetof(struct probe_options, gateway)},
    {"--control", offsetof(struct probe_options, control)},
    {"--control-token", offsetof(struct probe_options, control_token)},
    {"--name", offsetof(struct probe_options, name)},
    {"-o", offsetof(struct probe_options, output)},
};

static bool take_flag(struct probe_options *options, const char *argument)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(argument, flags[i].name) == 0) {
            *(bool *)((char *)options + flags[i].offset) = true;
            return true;
        }
    return false;
}

static int take_seed(struct probe_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;

    options->seed = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || options->seed > INT64_MAX)
        return iwarp_sentence_set(error, "--seed \"%.40s\": a number from 0 to 2^63 - 1 was expected", value);
    return 0;
}

static int take_value(struct probe_options *options, const char *option, const char *value,
                      struct iwarp_sentence *error)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(option, texts[i].name) == 0) {
            *(const char **)((char *)options + texts[i].offset) = value;
            return 0;
        }
    if (strcmp(option, "--seed") == 0)
        return take_seed(options, value, error);
    if (strcmp(option, "--defect") == 0) {
        if (options->defect_count == PROBE_DEFECTS_MAX)
            return iwarp_sentence_set(error, "--defect was given more than %d times", PROBE_DEFECTS_MAX);
        options->defects[options->defect_count++] = value;
        return 0;
    }
    if (strcmp(option, "--format") != 0)
        return option_unknown("probe", option, probe_usage, NULL, error);
    options->jsonl = strcmp(value, "jsonl") == 0;
    if (!options->jsonl && strcmp(value, "text") != 0)
        return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, text or jsonl was expected", value);
    return 0;
}

static int take_device(struct probe_options *options, const char *argument, struct iwarp_sentence *error)
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
    for (int i = 1; i < argc; i++) {
        if (take_flag(options, argv[i]))
            continue;
        if (argv[i][0] != '-') {
            if (take_device(options, argv[i], error) != 0)
                return -1;
        } else if (i + 1 >= argc) {
            return option_unknown("probe", argv[i], probe_usage, NULL, error);
        } else if (take_value(options, argv[i], argv[i + 1], error) != 0) {
            return -1;
        } else {
            i++;
        }
    }
    return options->help ? 0 : consistent(options, error);
}
