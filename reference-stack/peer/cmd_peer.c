/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference stack as a program. Its options become commands of the upper tester: there is one way to do each thing.
 */
#include "reference-stack/peer/cmd_peer.h"

#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/complaint.h"
#include "reference-stack/program/confine.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/cmd_peer_cm.h"
#include "reference-stack/peer/cmd_peer_help.h"
#include "reference-stack/peer/cmd_peer_sctp.h"
#include "reference-stack/peer/driver_tcp.h"
#include "reference-stack/peer/peer_option.h"
#include "reference-stack/transport/tcp_socket.h"
#include "base/exit_status.h"

enum { DEFECTS_MAX = 64 };

enum option_code {
    OPTION_LISTEN = 256,
    OPTION_CONNECT,
    OPTION_CONTROL,
    OPTION_CONTROL_TOKEN,
    OPTION_BIND,
    OPTION_DEFECT,
    OPTION_LIST_DEFECTS,
    OPTION_VARIANT,
    OPTION_LIST_VARIANTS,
    OPTION_CHOICES,
    OPTION_REV,
    OPTION_PLAIN,
    OPTION_REV0,
    OPTION_SMBD,
    OPTION_STREAMING,
    OPTION_STREAMING_OCTETS,
    OPTION_MARKERS,
    OPTION_NO_CRC,
    OPTION_IRD,
    OPTION_ORD,
    OPTION_P2P,
    OPTION_RTR,
    OPTION_PRIVATE_DATA,
    OPTION_ACCEPT,
    OPTION_ECHO,
    OPTION_RECEIVES,
    OPTION_RECEIVE_OCTETS,
    OPTION_EMSS,
    OPTION_IPV6,
    OPTION_ONCE,
    OPTION_MAX_CONNECTIONS,
    OPTION_MAX_CONTROLS,
    OPTION_MAX_UNREAD,
    OPTION_MAX_MEMORY,
    OPTION_SEED,
    OPTION_HELP = 'h',
};

static const struct option options[] = {
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"connect", required_argument, NULL, OPTION_CONNECT},
    {"control", required_argument, NULL, OPTION_CONTROL},
    {"control-token", required_argument, NULL, OPTION_CONTROL_TOKEN},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"defect", required_argument, NULL, OPTION_DEFECT},
    {"list-defects", no_argument, NULL, OPTION_LIST_DEFECTS},
    {"variant", required_argument, NULL, OPTION_VARIANT},
    {"list-variants", no_argument, NULL, OPTION_LIST_VARIANTS},
    {"choices", required_argument, NULL, OPTION_CHOICES},
    {"rev", required_argument, NULL, OPTION_REV},
    {"plain", no_argument, NULL, OPTION_PLAIN},
    {"rev0", no_argument, NULL, OPTION_REV0},
    {"smbd", no_argument, NULL, OPTION_SMBD},
    {"streaming", required_argument, NULL, OPTION_STREAMING},
    {"streaming-octets", required_argument, NULL, OPTION_STREAMING_OCTETS},
    {"markers", no_argument, NULL, OPTION_MARKERS},
    {"no-crc", no_argument, NULL, OPTION_NO_CRC},
    {"ird", required_argument, NULL, OPTION_IRD},
    {"ord", required_argument, NULL, OPTION_ORD},
    {"p2p", no_argument, NULL, OPTION_P2P},
    {"rtr", required_argument, NULL, OPTION_RTR},
    {"private-data", required_argument, NULL, OPTION_PRIVATE_DATA},
    {"accept", required_argument, NULL, OPTION_ACCEPT},
    {"echo", no_argument, NULL, OPTION_ECHO},
    {"receives", required_argument, NULL, OPTION_RECEIVES},
    {"receive-octets", required_argument, NULL, OPTION_RECEIVE_OCTETS},
    {"emss", required_argument, NULL, OPTION_EMSS},
    {"ipv6", no_argument, NULL, OPTION_IPV6},
    {"once", no_argument, NULL, OPTION_ONCE},
    {"max-connections", required_argument, NULL, OPTION_MAX_CONNECTIONS},
    {"max-controls", required_argument, NULL, OPTION_MAX_CONTROLS},
    {"max-unread", required_argument, NULL, OPTION_MAX_UNREAD},
    {"max-memory", required_argument, NULL, OPTION_MAX_MEMORY},
    {"seed", required_argument, NULL, OPTION_SEED},
    CMD_PEER_SCTP_OPTIONS,
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

struct command_line {
    const char *name;
    const char *connect;
    struct driver_place remote; /* what `connect` says */
    const char *control, *token;
    bool listen, once;
    uint16_t port;
    struct driver_config driver;
    struct cmd_peer_sctp sctp;
    json_t *stream; /* options, as members of a command */
    const char *defects[DEFECTS_MAX];
    size_t defect_count;
    const char *variants[DEFECTS_MAX];
    size_t variant_count;
    const char *choices;
};

static int number_between(const char *name, const char *text, unsigned long least, unsigned long most,
                          unsigned long *value)
{
    char *end;

    *value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || *value < least || *value > most) {
        return complain(-1, "--%s %s: a number from %lu to %lu was expected", name, text, least, most);
    }
    return 0;
}

static int number_of(const char *name, const char *text, unsigned long most, unsigned long *value)
{
    return number_between(name, text, 0, most, value);
}

static int set_number(struct command_line *line, const char *name, const char *member, const char *text)
{
    unsigned long value;

    if (number_of(name, text, 16777216, &value) != 0)
        return -1;
    return json_object_set_new(line->stream, member, json_integer((json_int_t)value));
}

static int set_rtr(struct command_line *line, const char *text)
{
    json_t *list = json_array();

    for (const char *at = text; list != NULL && *at != '\0';) {
        size_t octets = strcspn(at, ",");

        (void)json_array_append_new(list, json_stringn(at, octets));
        at += octets;
        at += *at == ',';
    }
    return json_object_set_new(line->stream, "rtr", list);
}

static int list_rows(bool variants)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = variants ? variant_list_embedded(&sentence) : defect_list_embedded(&sentence);

    return list == NULL ? complain(EXIT_FAILS, "%s", sentence.text) : cmd_peer_print_defects(list);
}

/* Options whose value goes into a command as it is. */
static int take_stream_option(struct command_line *line, int option)
{
    switch (option) {
    case OPTION_REV: return set_number(line, "rev", "rev", optarg);
    case OPTION_PLAIN: return json_object_set_new(line->stream, "enhanced", json_false());
    case OPTION_REV0: return json_object_set_new(line->stream, "rev0", json_true());
    case OPTION_SMBD: return json_object_set_new(line->stream, "smbd", json_true());
    case OPTION_STREAMING: return json_object_set_new(line->stream, "streaming", json_string(optarg));
    case OPTION_STREAMING_OCTETS: return set_number(line, "streaming-octets", "streaming_octets", optarg);
    case OPTION_MARKERS: return json_object_set_new(line->stream, "markers", json_true());
    case OPTION_NO_CRC: return json_object_set_new(line->stream, "crc", json_false());
    case OPTION_IRD: return set_number(line, "ird", "ird", optarg);
    case OPTION_ORD: return set_number(line, "ord", "ord", optarg);
    case OPTION_P2P: return json_object_set_new(line->stream, "p2p", json_true());
    case OPTION_RTR: return set_rtr(line, optarg);
    case OPTION_PRIVATE_DATA: return json_object_set_new(line->stream, "private_data", json_string(optarg));
    case OPTION_ACCEPT: return json_object_set_new(line->stream, "accept", json_string(optarg));
    case OPTION_ECHO: return json_object_set_new(line->stream, "echo", json_true());
    case OPTION_RECEIVES: return set_number(line, "receives", "receives", optarg);
    case OPTION_RECEIVE_OCTETS: return set_number(line, "receive-octets", "receive_octets", optarg);
    case OPTION_EMSS: return set_number(line, "emss", "emss", optarg);
    default: return -1;
    }
}

enum { MAX_CONNECTIONS = 1000000, MAX_CONTROLS = 100000, MAX_MEMORY_MIB = 1048576, DEFAULT_MEMORY_MIB = 2048 };

/* What strangers may have of it. 0 would mean the default to the driver. */
static int take_limit(struct command_line *line, int option)
{
    struct driver_config *driver = &line->driver;
    unsigned long value;

    switch (option) {
    case OPTION_MAX_CONNECTIONS:
        if (number_between("max-connections", optarg, 1, MAX_CONNECTIONS, &value) != 0)
            return EXIT_USAGE;
        driver->peer.streams_max = value;
        return -1;
    case OPTION_MAX_CONTROLS:
        if (number_between("max-controls", optarg, 1, MAX_CONTROLS, &value) != 0)
            return EXIT_USAGE;
        driver->controls_max = value;
        return -1;
    case OPTION_MAX_UNREAD:
        if (number_between("max-unread", optarg, 1, INT32_MAX, &value) != 0)
            return EXIT_USAGE;
        driver->unread_max = value;
        return -1;
    case OPTION_SEED:
        if (number_between("seed", optarg, 1, LONG_MAX, &value) != 0)
            return EXIT_USAGE;
        driver->peer.seed = value;
        return -1;
    default:
        if (number_between("max-memory", optarg, 1, MAX_MEMORY_MIB, &value) != 0)
            return EXIT_USAGE;
        driver->peer.memory_max = (uint64_t)value << 20;
        return -1;
    }
}

/* Of a defect or variant. */
static int add_name(const char **names, size_t *count, const char *kind)
{
    if (*count == DEFECTS_MAX)
        return complain(EXIT_USAGE, "more than %d %s", DEFECTS_MAX, kind);
    names[(*count)++] = optarg;
    return -1;
}

/* Returns -1 to go on, else an exit status. */
static int take_option(struct command_line *line, int option)
{
    unsigned long value;

    if (option >= OPTION_LLP && option < OPTION_SCTP_END)
        return cmd_peer_sctp_option(&line->sctp, option);
    switch (option) {
    case OPTION_HELP: printf(cmd_peer_help, line->name); return EXIT_DONE;
    case OPTION_LIST_DEFECTS: return list_rows(false);
    case OPTION_LIST_VARIANTS: return list_rows(true);
    case OPTION_LISTEN:
        if (number_of("listen", optarg, 65535, &value) != 0)
            return EXIT_USAGE;
        line->listen = true;
        line->port = (uint16_t)value;
        return -1;
    case OPTION_CONNECT: line->connect = optarg; return -1;
    case OPTION_CONTROL: line->control = optarg; return -1;
    case OPTION_CONTROL_TOKEN: line->token = optarg; return -1;
    case OPTION_BIND: line->driver.bind_address = optarg; return -1;
    case OPTION_IPV6: line->driver.ipv6 = true; return -1;
    case OPTION_ONCE: line->once = true; return -1;
    case OPTION_DEFECT: return add_name(line->defects, &line->defect_count, "defects");
    case OPTION_VARIANT: return add_name(line->variants, &line->variant_count, "variants");
    case OPTION_CHOICES: line->choices = optarg; return -1;
    case OPTION_MAX_CONNECTIONS:
    case OPTION_MAX_CONTROLS:
    case OPTION_MAX_UNREAD:
    case OPTION_SEED:
    case OPTION_MAX_MEMORY: return take_limit(line, option);
    default: return take_stream_option(line, option) == 0 ? -1 : EXIT_USAGE;
    }
}

/* Addresses, as far as they can be judged before anything is opened. Returns -1 to go on, else an exit status. */
static int check_addresses(struct command_line *line)
{
    const char *bind = line->driver.bind_address;
    struct sockaddr_storage name;
    struct iwarp_sentence sentence;

    if (line->token != NULL && upper_token_read(&line->driver.token, line->token, &sentence) != 0)
        return complain(EXIT_USAGE, "--control-token %s", sentence.text);
    if (bind != NULL && socket_name_parse(bind, 0, &name) != 0)
        return complain(EXIT_USAGE, "--bind %s: an IPv4 or IPv6 address was expected, no name", bind);
    if (line->connect != NULL && driver_place_parse(&line->remote, line->connect, NULL) != 0)
        return complain(EXIT_USAGE, "--connect %s: ADDRESS:PORT was expected, no name", line->connect);
    if (line->control != NULL && strchr(line->control, '/') == NULL) {
        struct driver_place place;

        if (driver_place_parse(&place, line->control, "127.0.0.1") != 0)
            return complain(EXIT_USAGE, "--control %s: a port, ADDRESS:PORT or a path was expected", line->control);
    }
    return -1;
}

static int take_options(struct command_line *line, int argc, char **argv)
{
    int option, status;

    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return peer_option_refuse(option, argv, options, "");
        status = take_option(line, option);
        if (status >= 0)
            return status;
    }
    if (optind != argc) {
        return complain(EXIT_USAGE, "'%s' is no option, see --help", argv[optind]);
    }
    if (!line->listen && line->connect == NULL && line->control == NULL) {
        return complain(EXIT_USAGE, "--listen, --connect or --control was expected, see --help");
    }
    status = cmd_peer_sctp_finish(&line->sctp, &line->driver);
    return status >= 0 ? status : check_addresses(line);
}

/* Gives one command to the peer. Returns the reply, or NULL with a message printed. */
static json_t *order(struct driver *driver, json_t *command)
{
    char *text = json_dumps(command, 0);
    char *answer = text == NULL ? NULL : peer_command(driver_peer(driver), text, driver_now(driver));
    json_t *reply = answer == NULL ? NULL : json_loads(answer, 0, NULL);

    free(text);
    free(answer);
    json_decref(command);
    if (reply != NULL && json_is_true(json_object_get(reply, "ok")))
        return reply;
    (void)complain(0, "%s", reply == NULL ? "out of memory" : json_string_value(json_object_get(reply, "error")));
    json_decref(reply);
    return NULL;
}

static int do_listen(const struct command_line *line, struct driver *driver, int *port)
{
    json_t *command = json_deep_copy(line->stream);
    json_t *reply;

    (void)json_object_set_new(command, "verb", json_string("listen"));
    (void)json_object_set_new(command, "port", json_integer(line->port));
    reply = order(driver, command);
    if (reply == NULL)
        return -1;
    *port = (int)json_integer_value(json_object_get(reply, "port"));
    json_decref(reply);
    return 0;
}

static int do_connect(const struct command_line *line, struct driver *driver)
{
    json_t *command = json_deep_copy(line->stream);
    json_t *reply;

    (void)json_object_set_new(command, "verb", json_string("connect"));
    (void)json_object_set_new(command, "address", json_string(line->remote.address));
    (void)json_object_set_new(command, "port", json_integer(line->remote.port));
    reply = order(driver, command);
    for (unsigned long more = 1; reply != NULL && more < line->sctp.queue_pairs; more++) {
        json_t *next = json_deep_copy(line->stream);

        (void)json_object_set_new(next, "verb", json_string("connect"));
        (void)json_object_set(next, "association", json_object_get(reply, "association"));
        json_decref(reply);
        reply = order(driver, next);
    }
    json_decref(reply);
    return reply == NULL ? -1 : 0;
}

/* CAP_NET_BIND_SERVICE, by its number: an upper tester closes a port below 1024 and opens it again. */
static const uint64_t kept_capabilities = UINT64_C(1) << 10;

/* Peers and control clients are strangers. A Unix socket goes with the program, so that its folder has to change. */
static int give_up_rest(const struct command_line *line, struct iwarp_sentence *sentence)
{
    const char *slash = line->control != NULL ? strrchr(line->control, '/') : NULL;
    char *folder = slash != NULL ? strndup(line->control, (size_t)(slash - line->control) + 1) : NULL;
    const char *writable[] = {folder};
    struct confine_config config = {writable, folder != NULL, CONFINE_CONNECTIONS, kept_capabilities};
    int status = confine(&config, sentence);

    free(folder);
    return status;
}

static int run(const struct command_line *line, struct driver *driver)
{
    struct iwarp_sentence sentence = {""};
    int port = 0;
    int control = 0;

    if (line->control != NULL)
        control = driver_control(driver, line->control, &sentence);
    if (control < 0 || driver_stop_on(driver, SIGINT, &sentence) != 0 ||
        driver_stop_on(driver, SIGTERM, &sentence) != 0) {
        return complain(EXIT_FAILS, "%s", sentence.text);
    }
    if (line->listen && do_listen(line, driver, &port) != 0)
        return EXIT_FAILS;
    if (line->connect != NULL && do_connect(line, driver) != 0)
        return EXIT_FAILS;
    if (give_up_rest(line, &sentence) != 0) {
        return complain(EXIT_FAILS, "%s", sentence.text);
    }
    printf("READY");
    if (line->listen)
        printf(" listen=%d", port);
    if (line->sctp.on && !line->sctp.kernel)
        printf(" udp=%u", driver_sctp_udp_port(driver));
    if (control != 0)
        printf(" control=%d", control);
    printf("\n");
    if (fflush(stdout) != 0)
        return EXIT_ENVIRONMENT; /* nobody learns the ports; main() reports it */
    if (driver_run(driver, line->once, &sentence) != 0) {
        return complain(EXIT_FAILS, "%s", sentence.text);
    }
    return EXIT_DONE;
}

static void on_refused(void *context, const char *what)
{
    (void)context;
    (void)complain(0, "%s", what);
}

static int run_with_defects(struct command_line *line)
{
    struct iwarp_sentence sentence = {""};
    const struct defect_names names = {.defects = line->defects,
                                       .defect_count = line->defect_count,
                                       .variants = line->variants,
                                       .variant_count = line->variant_count,
                                       .choices = line->choices,
                                       .layer = choice_layer_of(line->sctp.on, line->sctp.draft)};
    struct defect_set *set = NULL;
    struct driver *driver;
    int status;

    if (defect_set_named(&names, &set, &sentence) != 0)
        return complain(EXIT_USAGE, "%s", sentence.text);
    line->driver.peer.defects = set;
    line->driver.refused = on_refused;
    driver = confine_libraries(&sentence) == 0 ? driver_new(&line->driver, &sentence) : NULL;
    if (driver == NULL)
        status = complain(EXIT_ENVIRONMENT, "%s", sentence.text);
    else if (peer_check_options(driver_peer(driver), line->stream, &sentence) != 0)
        status = complain(EXIT_USAGE, "%s", sentence.text);
    else
        status = run(line, driver);
    driver_free(driver);
    defect_set_free(set);
    return status;
}

int cmd_peer(int argc, char **argv)
{
    struct command_line line = {.name = argv[0],
                                .driver = {.peer = {.memory_max = (uint64_t)DEFAULT_MEMORY_MIB << 20}},
                                .stream = json_object()};
    int status;

    complain_as(argv[0], NULL);
    if (cmd_peer_cm_wanted(argc, argv)) {
        json_decref(line.stream);
        return cmd_peer_cm(argc, argv);
    }
    if (line.stream == NULL)
        return EXIT_FAILS;
    status = take_options(&line, argc, argv);
    (void)signal(SIGPIPE, SIG_IGN); /* of sockets; --help | head ends as that of any program */
    if (status < 0)
        status = run_with_defects(&line);
    json_decref(line.stream);
    return status;
}
