/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/cmd_peer_cm_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/driver_tcp.h"
#include "reference-stack/peer/peer_options.h"
#include "base/sentence.h"

enum { REQUESTS_MAX = 1000000 };

/* A number up to `most`, which ends where *end is then. */
static int number_at(const char *text, unsigned long most, const char **end, unsigned long *value)
{
    char *stop;

    *value = strtoul(text, &stop, 10);
    *end = stop;
    return text[0] < '0' || text[0] > '9' || *value > most ? -1 : 0;
}

/* [PROTOCOL/]PORT */
static int set_service(void *options, const char *value, struct iwarp_sentence *error)
{
    struct cm_command_line *line = options;
    static const struct {
        const char *name;
        uint8_t protocol;
    } protocols[] = {{"tcp/", 6}, {"udp/", 17}, {"sctp/", 132}};
    struct cm_listener *service = &line->service[line->services];
    unsigned long protocol = 6, port;
    const char *at = value, *end = NULL;

    if (line->services == CM_SERVICES_MAX)
        return iwarp_sentence_set(error, "more than %d --cm-service", CM_SERVICES_MAX);
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]) && at == value; i++) {
        if (strncmp(value, protocols[i].name, strlen(protocols[i].name)) == 0) {
            protocol = protocols[i].protocol;
            at += strlen(protocols[i].name);
        }
    }
    if (at == value && strchr(value, '/') != NULL)
        at = number_at(value, 255, &end, &protocol) == 0 && *end == '/' ? end + 1 : "";
    if (number_at(at, 65535, &end, &port) != 0 || *end != '\0')
        return iwarp_sentence_set(
            error, "--cm-service \"%.60s\": [PROTOCOL/]PORT was expected, PROTOCOL tcp, udp, sctp or up to 255", value);
    memset(service, 0, sizeof(*service));
    service->protocol = (uint8_t)protocol;
    service->port = (uint16_t)port;
    line->services++;
    return 0;
}

/* REASON[/LAYER/CODE]; REASON alone: the ULP's own rejection */
static int set_reject(void *options, const char *value, struct iwarp_sentence *error)
{
    struct cm_command_line *line = options;
    unsigned long reason, layer = IP_CM_LAYER_ULP, code = 0;
    const char *end;
    bool good = number_at(value, 65535, &end, &reason) == 0;

    if (good && *end == '/') {
        good = number_at(end + 1, 1, &end, &layer) == 0 && *end == '/' && number_at(end + 1, 255, &end, &code) == 0;
        line->refusal.info_octets = layer == IP_CM_LAYER_ULP;
    }
    if (!good || *end != '\0')
        return iwarp_sentence_set(
            error, "--cm-reject \"%.60s\": REASON or REASON/LAYER/CODE was expected: 65535/1/255 at most", value);
    line->refusal.reason = (uint16_t)reason;
    line->refusal.layer = (uint8_t)layer;
    line->refusal.code = (uint8_t)code;
    line->refusal.info[0] = (uint8_t)code;
    line->refusal.without_ari = reason != CM_REASON_CONSUMER;
    line->answer = CM_ANSWER_REJECT;
    return 0;
}

static int set_version(void *options, const char *value, struct iwarp_sentence *error)
{
    struct cm_agent_config *agent = &((struct cm_command_line *)options)->driver.agent;
    unsigned long major, minor;
    const char *end;

    if (number_at(value, 15, &end, &major) != 0 || *end != '.' || number_at(end + 1, 15, &end, &minor) != 0 ||
        *end != '\0')
        return iwarp_sentence_set(error, "--cm-version \"%.60s\": MAJOR.MINOR was expected: 15.15 at most", value);
    agent->major = (uint8_t)major;
    agent->minor = agent->client_minor = (uint8_t)minor;
    return 0;
}

static int set_families(void *options, const char *value, struct iwarp_sentence *error)
{
    struct cm_agent_config *agent = &((struct cm_command_line *)options)->driver.agent;
    bool four = strcmp(value, "4") == 0, six = strcmp(value, "6") == 0;

    if (!four && !six && strcmp(value, "4,6") != 0 && strcmp(value, "6,4") != 0)
        return iwarp_sentence_set(error, "--cm-families \"%.60s\": 4, 6 or 4,6 was expected", value);
    agent->families = (uint8_t)((six ? 0 : CM_FAMILY_4) | (four ? 0 : CM_FAMILY_6));
    return 0;
}

/* The place of a value in a list of words that ends with NULL; -1 with a sentence. */
static int word_of(const char *option, const char *value, const char *const *words, const char *expected,
                   struct iwarp_sentence *error)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    return iwarp_sentence_set(error, "%s \"%.40s\": %s was expected", option, value, expected);
}

static int set_answer(void *options, const char *value, struct iwarp_sentence *error)
{
    static const char *const words[] = {"accept", "reject", "silent", NULL};
    static const enum cm_answer answers[] = {CM_ANSWER_ACCEPT, CM_ANSWER_REJECT, CM_ANSWER_SILENT};
    int word = word_of("--cm-answer", value, words, "accept, reject or silent", error);

    if (word >= 0)
        ((struct cm_command_line *)options)->answer = answers[word];
    return word < 0 ? -1 : 0;
}

static int set_info_length(void *options, const char *value, struct iwarp_sentence *error)
{
    static const char *const words[] = {"used", "short", "whole", "none", NULL}; /* enum cm_info_length */
    int word = word_of("--cm-info-length", value, words, "used, short, whole or none", error);

    if (word >= 0)
        ((struct cm_command_line *)options)->driver.agent.info_length = (enum cm_info_length)word;
    return word < 0 ? -1 : 0;
}

static int hex_digit(char digit)
{
    const char *digits = "0123456789abcdef", *at = digit == '\0' ? NULL : strchr(digits, digit | 0x20);

    return at == NULL ? -1 : (int)(at - digits);
}

static int set_data(void *options, const char *value, struct iwarp_sentence *error)
{
    struct cm_command_line *line = options;
    const char *at = value;

    for (line->octets = 0; *at != '\0' && line->octets < CM_DATA_MAX; at += 2) {
        int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);

        if (low < 0)
            break;
        line->data[line->octets++] = (uint8_t)(high << 4 | low);
    }
    if (*at != '\0')
        return iwarp_sentence_set(error,
                                  "--private-data \"%.40s\": pairs of hexadecimal digits were expected, at most %d",
                                  value, CM_DATA_MAX);
    return 0;
}

/* --- The command line --------------------------------------------------------------------------------------------- */

#define ROW(text, of_kind, ...)                                                                                        \
    {                                                                                                                  \
        .help = (text), .effect = OPTION_SHOWS, .kind = (of_kind), __VA_ARGS__                                         \
    }
#define MEMBER(name)                 .member = offsetof(struct cm_command_line, name)
#define FLAG(text, name)             ROW(text, OPTION_FLAG, MEMBER(name))
#define TEXT(text, name)             ROW(text, OPTION_TEXT, MEMBER(name))
#define NUMBER(text, name, from, to) ROW(text, OPTION_NUMBER, MEMBER(name), .least = (from), .most = (to))
#define OWN(text, function)          ROW(text, OPTION_OWN, .parse = (function))

/* Options of the other lower layers that have a meaning here, too. */
static const struct option_row shared_rows[] = {
    TEXT(PEER_HELP_BIND, driver.address),
    TEXT(PEER_HELP_CONNECT, connect),
    FLAG(PEER_HELP_ONCE, once),
    OWN(PEER_HELP_PRIVATE_DATA, set_data),
    ROW(PEER_HELP_DEFECT, OPTION_LIST, MEMBER(defects), .count = offsetof(struct cm_command_line, defect_count),
        .most = CM_DEFECTS_MAX),
    FLAG(PEER_HELP_LIST_DEFECTS, list_defects),
    ROW(PEER_HELP_HELP, OPTION_FLAG, MEMBER(help), .also = "-h"),
};

static const struct option_row rows[] = {
    FLAG("  --cm                    a CM agent; each thing that happens is a line on the standard output, a JSON "
         "object\n",
         cm),
    OWN("  --cm-service SERVICE    what it listens for, or asks for: [PROTOCOL/]PORT; PROTOCOL: tcp (without it), "
        "udp,\n"
        "                          sctp or a number\n",
        set_service),
    NUMBER("  --cm-port PORT          own UDP port (4791); 0: any port\n", port, 0, UINT16_MAX),
    OWN("  --cm-answer HOW         accept, reject or silent: to a request that is good (accept)\n", set_answer),
    OWN("  --cm-reject REASON      rejects, with REASON[/LAYER/CODE] (28/1/0); layer 0: the service, 1: the ULP\n",
        set_reject),
    OWN("  --cm-version VERSION    MAJOR.MINOR of the service (0.0)\n", set_version),
    OWN("  --cm-families LIST      4,6 (both)\n", set_families),
    FLAG("  --cm-without            is a server that does not know the service\n", without),
    FLAG("  --cm-unchecked          accepts whatever addresses a request contains\n", unchecked),
    FLAG("  --cm-suggest            suggests a value for each field that is refused\n", driver.agent.suggest),
    OWN("  --cm-info-length HOW    used, short, whole or none: the Reject Info Length (used)\n", set_info_length),
    FLAG("  --cm-mra                sends an MRA before each REP\n", driver.agent.mra_first),
    NUMBER("  --cm-retries N          sends a message without an answer so many times again (7)\n", retries, 0, 15),
    NUMBER("  --cm-timeout N          the peer answers within 4.096 us times 2 to this power (18)\n", timeout, 0, 31),
    NUMBER("  --cm-requests N         rejects requests beyond N at once (4096)\n", requests, 1, REQUESTS_MAX),
    FLAG("  --cm-check-icrc         ignores packets whose ICRC does not fit the packets that Linux makes of a socket's "
         "datagrams\n",
         driver.strict_icrc),
};

const struct option_table cmd_peer_cm_table = {
    .head =
        "\nRDMA IP CM Service (IBTA Annex A11): CM messages as RoCEv2 packets in UDP datagrams. In addition to these "
        "options,\n"
        "--cm takes --bind (127.0.0.1), --connect, --once, --private-data, --defect and --list-defects. Without "
        "--connect it\n"
        "is a server.\n\n",
    .tail =
        "\nWhen all sockets are open, a line READY is printed. It contains listen=PORT and control=PORT if these were\n"
        "opened, with --cm or SCTP in user space also udp=PORT.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0])};

/* What the options say together. 0, or -1 with a sentence. */
static int check_together(struct cm_command_line *line, struct iwarp_sentence *error)
{
    struct cm_address address;
    struct driver_place place;

    if (cm_address_parse(&address, line->driver.address) != 0)
        return iwarp_sentence_set(error, "--bind %s: an IPv4 or IPv6 address was expected, no name",
                                  line->driver.address);
    if (line->services == 0)
        return iwarp_sentence_set(error, "--cm-service was expected, see --help");
    if (line->connect == NULL)
        return 0;
    if (driver_place_parse(&place, line->connect, NULL) != 0)
        return iwarp_sentence_set(error, "--connect %s: ADDRESS:PORT was expected, no name", line->connect);
    if (cm_address_parse(&address, place.address) != 0)
        return iwarp_sentence_set(error, "--connect %s: an IPv4 or IPv6 address was expected", line->connect);
    line->remote.family = address.family;
    memcpy(line->remote.address, address.octets, sizeof(line->remote.address));
    line->remote.port = place.port;
    if (line->services != 1 || line->octets > IP_CM_CONSUMER_OCTETS)
        return iwarp_sentence_set(error,
                                  "--connect: one --cm-service and at most %d octets of --private-data were expected",
                                  IP_CM_CONSUMER_OCTETS);
    return 0;
}

int cmd_peer_cm_options(struct cm_command_line *line, int argc, char **argv, struct iwarp_sentence *error)
{
    static const struct option_table shared = {
        .head = "", .rows = shared_rows, .count = sizeof(shared_rows) / sizeof(shared_rows[0])};
    static const struct option_table *const tables[] = {&shared, &cmd_peer_cm_table};
    struct cm_agent_config *agent = &line->driver.agent;

    line->port = line->driver.port;
    line->retries = agent->retries;
    line->timeout = UINT64_MAX; /* not given */
    line->requests = agent->exchanges_max;
    if (peer_options_read(tables, 2, line, NULL, argc, argv, error) != 0)
        return -1;
    if (line->help || line->list_defects)
        return 0;
    line->driver.port = (uint16_t)line->port;
    agent->retries = (uint8_t)line->retries;
    agent->exchanges_max = (size_t)line->requests;
    if (line->timeout != UINT64_MAX)
        agent->remote_timeout = agent->local_timeout = (uint8_t)line->timeout;
    agent->service = agent->service && !line->without;
    agent->check_formats = agent->check_formats && !line->unchecked;
    agent->check_destination = agent->check_destination && !line->unchecked;
    return check_together(line, error);
}
