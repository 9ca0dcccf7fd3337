/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference stack as a program. Its options become commands of the upper tester: there is one way to do each thing.
 */
#include "reference-stack/peer/cmd_peer.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/complaint.h"
#include "reference-stack/program/confine.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/cmd_peer_cm.h"
#include "reference-stack/peer/driver_tcp.h"
#include "reference-stack/peer/peer_options.h"
#include "reference-stack/transport/tcp_socket.h"
#include "base/exit_status.h"

struct command_line {
    struct peer_options options;
    struct driver_place remote; /* what --connect says */
    struct driver_config driver;
    json_t *stream; /* options, as members of a command */
};

/* Addresses and token, as far as they can be judged before anything is opened. 0, or -1 with a sentence. */
static int check_addresses(struct command_line *line, struct iwarp_sentence *error)
{
    const struct peer_options *options = &line->options;
    struct iwarp_sentence sentence;
    struct sockaddr_storage name;
    struct driver_place place;

    if (options->token != NULL && upper_token_read(&line->driver.token, options->token, &sentence) != 0)
        return iwarp_sentence_set(error, "--control-token %s", sentence.text);
    if (options->bind != NULL && socket_name_parse(options->bind, 0, &name) != 0)
        return iwarp_sentence_set(error, "--bind %s: an IPv4 or IPv6 address was expected, no name", options->bind);
    if (options->connect != NULL && driver_place_parse(&line->remote, options->connect, NULL) != 0)
        return iwarp_sentence_set(error, "--connect %s: ADDRESS:PORT was expected, no name", options->connect);
    if (options->control != NULL && strchr(options->control, '/') == NULL &&
        driver_place_parse(&place, options->control, "127.0.0.1") != 0)
        return iwarp_sentence_set(error, "--control %s: a port, ADDRESS:PORT or a path was expected", options->control);
    return 0;
}

/* 0 would mean the default to the driver, as in the options. */
static void set_limits(const struct peer_options *options, struct driver_config *driver)
{
    driver->bind_address = options->bind;
    driver->ipv6 = options->ipv6;
    driver->peer.streams_max = (size_t)options->connections_max;
    driver->controls_max = (size_t)options->controls_max;
    driver->unread_max = (size_t)options->unread_max;
    driver->peer.seed = options->seed;
    driver->peer.memory_max = options->memory_mib << 20;
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
    (void)json_object_set_new(command, "port", json_integer((json_int_t)line->options.listen));
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
    for (uint64_t more = 1; reply != NULL && more < line->options.sctp.queue_pairs; more++) {
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
    const char *slash = line->options.control != NULL ? strrchr(line->options.control, '/') : NULL;
    char *folder = slash != NULL ? strndup(line->options.control, (size_t)(slash - line->options.control) + 1) : NULL;
    const char *writable[] = {folder};
    struct confine_config config = {writable, folder != NULL, CONFINE_CONNECTIONS, kept_capabilities};
    int status = confine(&config, sentence);

    free(folder);
    return status;
}

static int run(const struct command_line *line, struct driver *driver)
{
    struct iwarp_sentence sentence = {""};
    bool listens = line->options.listen != UINT64_MAX;
    int port = 0;
    int control = 0;

    if (line->options.control != NULL)
        control = driver_control(driver, line->options.control, &sentence);
    if (control < 0 || driver_stop_on(driver, SIGINT, &sentence) != 0 ||
        driver_stop_on(driver, SIGTERM, &sentence) != 0) {
        return complain(EXIT_FAILS, "%s", sentence.text);
    }
    if (listens && do_listen(line, driver, &port) != 0)
        return EXIT_FAILS;
    if (line->options.connect != NULL && do_connect(line, driver) != 0)
        return EXIT_FAILS;
    if (give_up_rest(line, &sentence) != 0) {
        return complain(EXIT_FAILS, "%s", sentence.text);
    }
    printf("READY");
    if (listens)
        printf(" listen=%d", port);
    if (line->options.over_sctp && !line->options.sctp.kernel)
        printf(" udp=%u", driver_sctp_udp_port(driver));
    if (control != 0)
        printf(" control=%d", control);
    printf("\n");
    if (fflush(stdout) != 0)
        return EXIT_ENVIRONMENT; /* nobody learns the ports; main() reports it */
    if (driver_run(driver, line->options.once, &sentence) != 0) {
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
    const struct defect_names names = {.defects = line->options.defects,
                                       .defect_count = line->options.defect_count,
                                       .variants = line->options.variants,
                                       .variant_count = line->options.variant_count,
                                       .choices = line->options.choices,
                                       .layer = choice_layer_of(line->options.over_sctp, line->options.sctp.draft)};
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

static int run_options(struct command_line *line, struct iwarp_sentence *error)
{
    if (peer_options_sctp(&line->options, &line->driver, error) != 0 || check_addresses(line, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    set_limits(&line->options, &line->driver);
    line->stream = peer_options_members(&line->options.stream);
    if (line->stream == NULL)
        return complain(EXIT_FAILS, "out of memory");
    return run_with_defects(line);
}

int cmd_peer(int argc, char **argv)
{
    struct command_line line = {.stream = NULL};
    struct iwarp_sentence error = {""};
    int status;

    complain_as(argv[0], NULL);
    if (cmd_peer_cm_wanted(argc, argv))
        return cmd_peer_cm(argc, argv);
    if (peer_options_parse(&line.options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (line.options.help)
        return peer_options_print(argv[0]);
    if (line.options.list_defects)
        return cmd_peer_print_defects(defect_list_embedded(&error), &error);
    if (line.options.list_variants)
        return cmd_peer_print_defects(variant_list_embedded(&error), &error);
    (void)signal(SIGPIPE, SIG_IGN); /* of sockets; --help | head ends as that of any program */
    status = run_options(&line, &error);
    json_decref(line.stream);
    return status;
}
