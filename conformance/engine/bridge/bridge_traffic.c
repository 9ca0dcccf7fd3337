/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/bridge/bridge_traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"

/* What an event may take beside what a script may hold: an emulated device on a busy machine is the slowest. */
enum { EVENT_SECONDS = 30 };

/* ---- the process of its own -------------------------------------------------------------------------------------- */

static int say(FILE *out, json_t *line)
{
    int rc = line != NULL && json_dumpf(line, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF ? 0 : -1;

    json_decref(line);
    return fflush(out) == 0 ? rc : -1;
}

static json_t *line_of(const struct bridge_contents *contents)
{
    return json_pack("{s:b, s:s, s:s, s:s}", "complete", contents->complete, "wrong", contents->wrong.text, "undecided",
                     contents->undecided.text, "seen", contents->seen.text);
}

static int make_traffic(const struct bridge_exchange_config *config, size_t count, FILE *out)
{
    struct iwarp_sentence error;
    struct bridge_pair pair = {.listener = {.port = 0}};
    struct bridge_exchange *exchange = bridge_exchange_new(config, &pair, &error);
    int rc = exchange != NULL ? 0 : -1;

    /* Before the first connection: the bridge has to know which are its own. */
    if (say(out, json_pack("{s:i, s:b, s:b, s:b}", "port", pair.listener.port, "sctp", pair.listener.sctp, "swapped_a",
                           pair.swapped[0], "swapped_b", pair.swapped[1])) != 0)
        return -1;

    for (size_t i = 0; rc == 0 && i < count && !config->is_unwanted(config->user); i++) {
        struct bridge_contents contents;

        rc = bridge_exchange_run(exchange, i + 1, &contents, &error);
        if (say(out, line_of(&contents)) != 0)
            return -1;
    }
    bridge_exchange_free(exchange);
    return say(out, rc == 0 ? json_pack("{s:b}", "end", 1) : json_pack("{s:s}", "lost", error.text));
}

/* The bridge has ended, or the command is to stop. A signal at its end would not do: who gives up privileges is not sent any. */
static bool is_unwanted(void *user)
{
    struct pollfd reader = {.fd = *(const int *)user};

    return run_stopped() || (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0);
}

_Noreturn static void become_traffic(int parent, int pipe, struct bridge_exchange_config *config, size_t count)
{
    struct iwarp_sentence error;
    FILE *out = fdopen(pipe, "w");

    config->is_unwanted = is_unwanted;
    config->user = &pipe;
    if (out == NULL || run_stop_child(parent) != 0)
        _exit(1);
    if (run_confine(NULL, CONFINE_CONNECTIONS, 0, &error) != 0)
        (void)say(out, json_pack("{s:s}", "lost", error.text));
    else
        (void)make_traffic(config, count, out);
    _exit(0);
}

/* ---- the bridge's side ------------------------------------------------------------------------------------------- */

size_t bridge_traffic_count(const struct bridge_options *options, uint64_t streams)
{
    if (options->upper_testers[0] == NULL)
        return 0;
    if (options->connections != 0)
        return (size_t)options->connections;
    if (streams == 0)
        return 1;
    return streams < BRIDGE_TRAFFIC_MOST ? (size_t)streams : BRIDGE_TRAFFIC_MOST;
}

static struct control *reach(const struct bridge_options *options, unsigned side, const struct upper_token *token,
                             struct iwarp_sentence *error)
{
    struct control_config config = {.token = token};
    struct iwarp_sentence why;
    struct control *control;

    (void)control_place_parse(options->upper_testers[side], &config.address, &config.port, &why); /* was looked at */
    control = control_new(&config, &why);
    if (control == NULL)
        (void)iwarp_sentence_set(error, "--upper-tester-%c %.80s: %.300s", side == 0 ? 'a' : 'b',
                                 options->upper_testers[side], why.text);
    return control;
}

/* Where A reaches B: where B's upper tester is, unless that is said. */
static void address_of_b(const struct bridge_options *options, char text[64])
{
    struct net_address address;
    struct iwarp_sentence why;
    uint16_t port;

    (void)control_place_parse(options->upper_testers[1], &address, &port, &why);
    if (options->address_b != NULL)
        (void)snprintf(text, 64, "%s", options->address_b);
    else
        (void)net_address_format(&address, text, 64);
}

static int start(struct bridge_traffic *traffic, struct bridge_exchange_config *config, struct iwarp_sentence *error)
{
    int ends[2], parent = (int)getpid();
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return iwarp_sentence_set(error, "no process for the traffic: %s", strerror(errno));
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        traffic->leave(traffic->user);
        become_traffic(parent, ends[1], config, traffic->count);
    }
    (void)close(ends[1]);
    traffic->lines.pipe = ends[0];
    return child > 0 ? 0 : iwarp_sentence_set(error, "no process for the traffic: %s", strerror(errno));
}

int bridge_traffic_start(struct bridge_traffic *traffic, const struct bridge_options *options,
                         struct iwarp_sentence *error)
{
    struct bridge_exchange_config config = {.seconds = EVENT_SECONDS + (unsigned)options->hold};
    struct upper_token token = {{0}};
    char address[64];
    int rc = 0;

    if (traffic->count == 0)
        return 0;
    address_of_b(options, address);
    config.address = address;
    traffic->contents = calloc(traffic->count, sizeof(*traffic->contents));
    if (traffic->contents == NULL)
        rc = iwarp_sentence_set(error, "out of memory for %zu connections", traffic->count);
    if (rc == 0 && options->token != NULL)
        rc = upper_token_read(&token, options->token, error);
    for (unsigned side = 0; rc == 0 && side < 2; side++) {
        config.control[side] = reach(options, side, &token, error);
        rc = config.control[side] != NULL ? 0 : -1;
    }
    if (rc == 0)
        rc = start(traffic, &config, error);
    control_free(config.control[0]); /* the process has them */
    control_free(config.control[1]);
    return rc;
}

static void take_text(const json_t *line, const char *member, struct iwarp_sentence *text)
{
    const char *value = json_string_value(json_object_get(line, member));

    (void)iwarp_sentence_set(text, "%s", value != NULL ? value : "");
}

static int on_line(void *user, const char *text, size_t length, struct iwarp_sentence *error)
{
    struct bridge_traffic *traffic = user;
    json_t *line = json_loadb(text, length, 0, NULL);

    (void)error;
    if (json_object_get(line, "port") != NULL) {
        struct bridge_pair *pair = &traffic->pair;

        pair->listener.port = (uint16_t)json_integer_value(json_object_get(line, "port"));
        pair->listener.sctp = json_is_true(json_object_get(line, "sctp"));
        pair->swapped[0] = json_is_true(json_object_get(line, "swapped_a"));
        pair->swapped[1] = json_is_true(json_object_get(line, "swapped_b"));
    }
    traffic->whole |= json_is_true(json_object_get(line, "end"));
    if (json_object_get(line, "lost") != NULL) {
        take_text(line, "lost", &traffic->lost);
    } else if (json_object_get(line, "seen") != NULL && traffic->done < traffic->count) {
        struct bridge_contents *contents = &traffic->contents[traffic->done++];

        contents->complete = json_is_true(json_object_get(line, "complete"));
        take_text(line, "wrong", &contents->wrong);
        take_text(line, "undecided", &contents->undecided);
        take_text(line, "seen", &contents->seen);
    }
    json_decref(line);
    return 0;
}

bool bridge_traffic_read(struct bridge_traffic *traffic)
{
    struct pollfd wait = {.fd = traffic->lines.pipe, .events = POLLIN};
    struct iwarp_sentence error;

    if (traffic->lines.pipe >= 0 && poll(&wait, 1, 0) == 1 &&
        worker_lines_read(&traffic->lines, on_line, traffic, &error) != 0) {
        traffic->lost = error;
        (void)close(traffic->lines.pipe);
        traffic->lines.pipe = -1;
    }
    return traffic->lines.pipe >= 0;
}

void bridge_traffic_free(struct bridge_traffic *traffic)
{
    worker_lines_free(&traffic->lines);
    free(traffic->contents);
}
