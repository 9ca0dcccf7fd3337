/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/cmd_peer_cm_line.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/cmd_peer_cm.h"
#include "reference-stack/peer/cmd_peer_help.h"
#include "reference-stack/peer/driver_tcp.h"
#include "reference-stack/peer/peer_option.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"

enum { REQUESTS_MAX = 1000000 };

enum option_code {
    OPTION_CM = 256,
    OPTION_SERVICE,
    OPTION_PORT,
    OPTION_ANSWER,
    OPTION_REJECT,
    OPTION_VERSION,
    OPTION_FAMILIES,
    OPTION_WITHOUT,
    OPTION_UNCHECKED,
    OPTION_SUGGEST,
    OPTION_INFO_LENGTH,
    OPTION_MRA,
    OPTION_RETRIES,
    OPTION_TIMEOUT,
    OPTION_REQUESTS,
    OPTION_CHECK_ICRC,
    OPTION_BIND,
    OPTION_CONNECT,
    OPTION_ONCE,
    OPTION_PRIVATE_DATA,
    OPTION_DEFECT,
    OPTION_LIST_DEFECTS,
    OPTION_HELP = 'h',
};

static const struct option options[] = {
    {"cm", no_argument, NULL, OPTION_CM},
    {"cm-service", required_argument, NULL, OPTION_SERVICE},
    {"cm-port", required_argument, NULL, OPTION_PORT},
    {"cm-answer", required_argument, NULL, OPTION_ANSWER},
    {"cm-reject", required_argument, NULL, OPTION_REJECT},
    {"cm-version", required_argument, NULL, OPTION_VERSION},
    {"cm-families", required_argument, NULL, OPTION_FAMILIES},
    {"cm-without", no_argument, NULL, OPTION_WITHOUT},
    {"cm-unchecked", no_argument, NULL, OPTION_UNCHECKED},
    {"cm-suggest", no_argument, NULL, OPTION_SUGGEST},
    {"cm-info-length", required_argument, NULL, OPTION_INFO_LENGTH},
    {"cm-mra", no_argument, NULL, OPTION_MRA},
    {"cm-retries", required_argument, NULL, OPTION_RETRIES},
    {"cm-timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"cm-requests", required_argument, NULL, OPTION_REQUESTS},
    {"cm-check-icrc", no_argument, NULL, OPTION_CHECK_ICRC},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"connect", required_argument, NULL, OPTION_CONNECT},
    {"once", no_argument, NULL, OPTION_ONCE},
    {"private-data", required_argument, NULL, OPTION_PRIVATE_DATA},
    {"defect", required_argument, NULL, OPTION_DEFECT},
    {"list-defects", no_argument, NULL, OPTION_LIST_DEFECTS},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

/* --- Values of options -------------------------------------------------------------------------------------------- */

/* A number up to `most`, which ends where *end is then. */
static int number_at(const char *text, unsigned long most, const char **end, unsigned long *value)
{
    char *stop;

    *value = strtoul(text, &stop, 10);
    *end = stop;
    return text[0] < '0' || text[0] > '9' || *value > most ? -1 : 0;
}

static int number_of(const char *option, unsigned long least, unsigned long most, unsigned long *value)
{
    const char *end;

    if (number_at(optarg, most, &end, value) == 0 && *end == '\0' && *value >= least)
        return 0;
    return complain(-1, "--%s %s: a number from %lu to %lu was expected", option, optarg, least, most);
}

/* [PROTOCOL/]PORT */
static int take_service(struct cm_command_line *line)
{
    static const struct {
        const char *name;
        uint8_t protocol;
    } protocols[] = {{"tcp/", 6}, {"udp/", 17}, {"sctp/", 132}};
    struct cm_listener *service = &line->service[line->services];
    unsigned long protocol = 6, port;
    const char *at = optarg, *end = NULL;

    if (line->services == CM_SERVICES_MAX)
        return complain(-1, "more than %d --cm-service", CM_SERVICES_MAX);
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]) && at == optarg; i++) {
        if (strncmp(optarg, protocols[i].name, strlen(protocols[i].name)) == 0) {
            protocol = protocols[i].protocol;
            at += strlen(protocols[i].name);
        }
    }
    if (at == optarg && strchr(optarg, '/') != NULL)
        at = number_at(optarg, 255, &end, &protocol) == 0 && *end == '/' ? end + 1 : "";
    if (number_at(at, 65535, &end, &port) != 0 || *end != '\0')
        return complain(-1, "--cm-service %s: [PROTOCOL/]PORT was expected, PROTOCOL tcp, udp, sctp or up to 255",
                        optarg);
    memset(service, 0, sizeof(*service));
    service->protocol = (uint8_t)protocol;
    service->port = (uint16_t)port;
    line->services++;
    return 0;
}

/* REASON[/LAYER/CODE]; REASON alone: the ULP's own rejection */
static int take_reject(struct cm_command_line *line)
{
    unsigned long reason, layer = IP_CM_LAYER_ULP, code = 0;
    const char *end;
    bool good = number_at(optarg, 65535, &end, &reason) == 0;

    if (good && *end == '/') {
        good = number_at(end + 1, 1, &end, &layer) == 0 && *end == '/' && number_at(end + 1, 255, &end, &code) == 0;
        line->refusal.info_octets = layer == IP_CM_LAYER_ULP;
    }
    if (!good || *end != '\0')
        return complain(-1, "--cm-reject %s: REASON or REASON/LAYER/CODE was expected: 65535/1/255 at most", optarg);
    line->refusal.reason = (uint16_t)reason;
    line->refusal.layer = (uint8_t)layer;
    line->refusal.code = (uint8_t)code;
    line->refusal.info[0] = (uint8_t)code;
    line->refusal.without_ari = reason != CM_REASON_CONSUMER;
    line->answer = CM_ANSWER_REJECT;
    return 0;
}

static int take_version(struct cm_agent_config *agent)
{
    unsigned long major, minor;
    const char *end;

    if (number_at(optarg, 15, &end, &major) != 0 || *end != '.' || number_at(end + 1, 15, &end, &minor) != 0 ||
        *end != '\0')
        return complain(-1, "--cm-version %s: MAJOR.MINOR was expected: 15.15 at most", optarg);
    agent->major = (uint8_t)major;
    agent->minor = agent->client_minor = (uint8_t)minor;
    return 0;
}

static int take_families(struct cm_agent_config *agent)
{
    bool four = strcmp(optarg, "4") == 0, six = strcmp(optarg, "6") == 0;

    if (!four && !six && strcmp(optarg, "4,6") != 0 && strcmp(optarg, "6,4") != 0)
        return complain(-1, "--cm-families %s: 4, 6 or 4,6 was expected", optarg);
    agent->families = (uint8_t)((six ? 0 : CM_FAMILY_4) | (four ? 0 : CM_FAMILY_6));
    return 0;
}

/* The place of a word in a list that ends with NULL; -1 with a complaint. */
static int word_of(const char *option, const char *const *words, const char *expected)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(optarg, words[i]) == 0)
            return i;
    return complain(-1, "--%s %s: %s was expected", option, optarg, expected);
}

static int take_answer(struct cm_command_line *line)
{
    static const char *const words[] = {"accept", "reject", "silent", NULL};
    static const enum cm_answer answers[] = {CM_ANSWER_ACCEPT, CM_ANSWER_REJECT, CM_ANSWER_SILENT};
    int word = word_of("cm-answer", words, "accept, reject or silent");

    if (word >= 0)
        line->answer = answers[word];
    return word < 0 ? -1 : 0;
}

static int take_info_length(struct cm_agent_config *agent)
{
    static const char *const words[] = {"used", "short", "whole", "none", NULL}; /* enum cm_info_length */
    int word = word_of("cm-info-length", words, "used, short, whole or none");

    if (word >= 0)
        agent->info_length = (enum cm_info_length)word;
    return word < 0 ? -1 : 0;
}

static int hex_digit(char digit)
{
    const char *digits = "0123456789abcdef", *at = digit == '\0' ? NULL : strchr(digits, digit | 0x20);

    return at == NULL ? -1 : (int)(at - digits);
}

static int take_data(struct cm_command_line *line)
{
    const char *at = optarg;

    for (line->octets = 0; *at != '\0' && line->octets < CM_DATA_MAX; at += 2) {
        int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);

        if (low < 0)
            break;
        line->data[line->octets++] = (uint8_t)(high << 4 | low);
    }
    if (*at != '\0')
        return complain(-1, "--private-data %.40s: pairs of hexadecimal digits were expected, at most %d", optarg,
                        CM_DATA_MAX);
    return 0;
}

static int list_defects(void)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_embedded_cm(&sentence);

    return list == NULL ? complain(EXIT_FAILS, "%s", sentence.text) : cmd_peer_print_defects(list);
}

/* --- The command line --------------------------------------------------------------------------------------------- */

static int take_number(struct cm_command_line *line, int option)
{
    struct cm_agent_config *agent = &line->driver.agent;
    unsigned long value;

    switch (option) {
    case OPTION_PORT:
        if (number_of("cm-port", 0, 65535, &value) != 0)
            return -1;
        line->driver.port = (uint16_t)value;
        return 0;
    case OPTION_RETRIES:
        if (number_of("cm-retries", 0, 15, &value) != 0)
            return -1;
        agent->retries = (uint8_t)value;
        return 0;
    case OPTION_TIMEOUT:
        if (number_of("cm-timeout", 0, 31, &value) != 0)
            return -1;
        agent->remote_timeout = agent->local_timeout = (uint8_t)value;
        return 0;
    default:
        if (number_of("cm-requests", 1, REQUESTS_MAX, &value) != 0)
            return -1;
        agent->exchanges_max = value;
        return 0;
    }
}

static int take_value(struct cm_command_line *line, int option)
{
    struct cm_agent_config *agent = &line->driver.agent;

    switch (option) {
    case OPTION_CM: return 0;
    case OPTION_SERVICE: return take_service(line);
    case OPTION_ANSWER: return take_answer(line);
    case OPTION_REJECT: return take_reject(line);
    case OPTION_VERSION: return take_version(agent);
    case OPTION_FAMILIES: return take_families(agent);
    case OPTION_WITHOUT: agent->service = false; return 0;
    case OPTION_UNCHECKED: agent->check_formats = agent->check_destination = false; return 0;
    case OPTION_SUGGEST: agent->suggest = true; return 0;
    case OPTION_INFO_LENGTH: return take_info_length(agent);
    case OPTION_MRA: agent->mra_first = true; return 0;
    case OPTION_CHECK_ICRC: line->driver.strict_icrc = true; return 0;
    case OPTION_BIND: line->driver.address = optarg; return 0;
    case OPTION_CONNECT: line->connect = optarg; return 0;
    case OPTION_ONCE: line->once = true; return 0;
    case OPTION_PRIVATE_DATA: return take_data(line);
    case OPTION_DEFECT:
        if (line->defect_count == CM_DEFECTS_MAX)
            return complain(-1, "more than %d defects", CM_DEFECTS_MAX);
        line->defects[line->defect_count++] = optarg;
        return 0;
    default: return take_number(line, option);
    }
}

/* What the options say together. -1: go on, else an exit status. */
static int check_together(struct cm_command_line *line)
{
    struct cm_address address;
    struct driver_place place;

    if (cm_address_parse(&address, line->driver.address) != 0)
        return complain(EXIT_USAGE, "--bind %s: an IPv4 or IPv6 address was expected, no name", line->driver.address);
    if (line->services == 0)
        return complain(EXIT_USAGE, "--cm-service was expected, see --help");
    if (line->connect == NULL)
        return -1;
    if (driver_place_parse(&place, line->connect, NULL) != 0)
        return complain(EXIT_USAGE, "--connect %s: ADDRESS:PORT was expected, no name", line->connect);
    if (cm_address_parse(&address, place.address) != 0)
        return complain(EXIT_USAGE, "--connect %s: an IPv4 or IPv6 address was expected", line->connect);
    line->remote.family = address.family;
    memcpy(line->remote.address, address.octets, sizeof(line->remote.address));
    line->remote.port = place.port;
    if (line->services != 1 || line->octets > IP_CM_CONSUMER_OCTETS)
        return complain(EXIT_USAGE, "--connect: one --cm-service and at most %d octets of --private-data were expected",
                        IP_CM_CONSUMER_OCTETS);
    return -1;
}

int cmd_peer_cm_options(struct cm_command_line *line, int argc, char **argv)
{
    int option;

    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return peer_option_refuse(option, argv, options, " of --cm");
        if (option == OPTION_HELP) {
            printf(cmd_peer_help, line->name);
            return EXIT_DONE;
        }
        if (option == OPTION_LIST_DEFECTS)
            return list_defects();
        if (take_value(line, option) != 0)
            return EXIT_USAGE;
    }
    if (optind != argc)
        return complain(EXIT_USAGE, "'%s' is no option, see --help", argv[optind]);
    return check_together(line);
}
