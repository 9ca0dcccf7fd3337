/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/device/control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"

/* A device that reacts late is slow in all that it does, and answers several checks at once. */
enum { ANSWERS_PER_REACTION = 3 };

enum {
    CONNECT_MILLISECONDS = 10000,
    ANSWER_MILLISECONDS = 10000, /* the slowest device is emulated, on a machine that has other things to do, too */
    LOSSES_MAX = 3,              /* in a row */
    SLICE_MILLISECONDS = 200,    /* of waiting: then the tester sees what has come on the wire meanwhile */
    PAUSE_MILLISECONDS = 20,     /* between two attempts to connect: there is nothing else to wait on */
    ANSWER_OCTETS = 1 << 12,     /* room for one at first */
    ANSWER_OCTETS_MAX = 1 << 22,
    OCTETS_PER_MILLISECOND = 1 << 10, /* of a request, on top of what its answer may take */
};

struct control {
    struct control_config config;
    int socket;   /* -1: none */
    char *answer; /* what has come and was not given yet: `count` octets */
    size_t count, room;
    unsigned losses; /* ever */
    unsigned in_a_row;
    struct iwarp_sentence gone; /* why nobody will answer any more */
};

static int left_ms(int64_t deadline)
{
    int64_t left = deadline - monotonic_ms();

    return left > 0 ? (int)left : 0;
}

static bool ended(const struct control *control, struct iwarp_sentence *why)
{
    return control->config.ended != NULL && control->config.ended(control->config.context, why);
}

/* One attempt; -1 with errno. */
static int try_connect(const struct control_config *config, int64_t deadline)
{
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    socklen_t octets = config->address.family == 4 ? sizeof(*v4) : sizeof(*v6);
    struct pollfd wait = {.events = POLLOUT};
    int status = 0;

    if (config->address.family == 4) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(config->port);
        memcpy(&v4->sin_addr, config->address.octets, 4);
    } else {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(config->port);
        memcpy(&v6->sin6_addr, config->address.octets, 16);
    }
    wait.fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wait.fd < 0)
        return -1;
    if (connect(wait.fd, (struct sockaddr *)&storage, octets) != 0) {
        socklen_t room = sizeof(status);

        status = errno;
        if (status == EINPROGRESS) {
            if (poll(&wait, 1, left_ms(deadline)) <= 0)
                status = ETIMEDOUT;
            else if (getsockopt(wait.fd, SOL_SOCKET, SO_ERROR, &status, &room) != 0)
                status = errno;
        }
    }
    if (status == 0)
        return wait.fd;
    close(wait.fd);
    errno = status;
    return -1;
}

static int open_connection(struct control *control, struct iwarp_sentence *error)
{
    int milliseconds = control->config.connect_ms;
    int64_t deadline = monotonic_ms() + milliseconds;

    for (;;) {
        struct timespec pause = {.tv_nsec = PAUSE_MILLISECONDS * 1000000};
        int status;

        control->socket = try_connect(&control->config, deadline);
        if (control->socket >= 0)
            return 0;
        status = errno;
        if (ended(control, error))
            return -1;
        if (control->config.refused != NULL)
            control->config.refused(control->config.context);
        if (left_ms(deadline) == 0)
            return iwarp_sentence_set(error, "no upper tester answers on port %u for %d s: %s", control->config.port,
                                      milliseconds / 1000, strerror(status));
        (void)nanosleep(&pause, NULL);
    }
}

static int write_all(int socket, const char *text, size_t count)
{
    while (count > 0) {
        ssize_t written = send(socket, text, count, MSG_NOSIGNAL);
        struct pollfd wait = {.fd = socket, .events = POLLOUT};

        if (written < 0 && errno == EAGAIN && poll(&wait, 1, ANSWER_MILLISECONDS) > 0)
            continue;
        if (written <= 0)
            return -1;
        text += written;
        count -= (size_t)written;
    }
    return 0;
}

/* One write a line: in two, the second would wait for the first one's delayed acknowledgment. */
static int write_line(int socket, const char *text)
{
    size_t length = strlen(text);
    char *line = malloc(length + 1);
    int status;

    if (line == NULL)
        return -1;
    memcpy(line, text, length); /* NOLINT(bugprone-not-null-terminated-result): a line ends with its newline */
    line[length] = '\n';
    status = write_all(socket, line, length + 1);
    free(line);
    return status;
}

/* Takes one line out of what has been received; what follows it stays. NULL: it is not complete. */
static char *next_line(struct control *control)
{
    char *newline = control->count != 0 ? memchr(control->answer, '\n', control->count) : NULL;
    size_t length;

    if (newline == NULL)
        return NULL;
    length = (size_t)(newline - control->answer);
    newline = strndup(control->answer, length);
    control->count -= length + 1;
    memmove(control->answer, control->answer + length + 1, control->count);
    return newline;
}

/* Room for more of an answer. -1 with a sentence. */
static int reserve(struct control *control, struct iwarp_sentence *error)
{
    size_t room = control->room == 0 ? ANSWER_OCTETS : control->room * 2;
    char *grown;

    if (control->count < control->room)
        return 0;
    if (control->count == ANSWER_OCTETS_MAX)
        return iwarp_sentence_set(error, "the upper tester answered a line of more than %d octets", ANSWER_OCTETS_MAX);
    grown = realloc(control->answer, room);
    if (grown == NULL)
        return iwarp_sentence_set(error, "out of memory for the upper tester's answer");
    control->answer = grown;
    control->room = room;
    return 0;
}

/* Waits for octets, and lets the tester go on meanwhile. False: none have come in time. */
static bool await_octets(struct control *control, int64_t deadline)
{
    struct pollfd wait = {.fd = control->socket, .events = POLLIN};

    for (;;) {
        int left = left_ms(deadline), slice = left < SLICE_MILLISECONDS ? left : SLICE_MILLISECONDS;
        int got = poll(&wait, 1, slice);

        if (got != 0)
            return got > 0;
        if (left == slice)
            return false;
        if (control->config.waiting != NULL)
            control->config.waiting(control->config.context);
    }
}

/* The answer to a request of so many octets, which a busy device may take seconds to read. */
static char *read_line(struct control *control, size_t request_octets, struct iwarp_sentence *error)
{
    int allowed = control->config.answer_ms + (int)(request_octets / OCTETS_PER_MILLISECOND);
    int64_t deadline = monotonic_ms() + allowed;

    for (;;) {
        char *line = next_line(control);
        ssize_t got;

        if (line != NULL)
            return line;
        if (reserve(control, error) != 0)
            return NULL;
        if (!await_octets(control, deadline)) {
            (void)iwarp_sentence_set(error, "the upper tester did not answer within %d s", allowed / 1000);
            return NULL;
        }
        got = recv(control->socket, control->answer + control->count, control->room - control->count, 0);
        if (got < 0 && errno == EAGAIN)
            continue;
        if (got <= 0) {
            (void)iwarp_sentence_set(error, "the upper tester closed its connection");
            return NULL;
        }
        control->count += (size_t)got;
    }
}

/* The next command gets another connection: what comes late must not pass for its answer. */
static void hang_up(struct control *control)
{
    if (control->socket >= 0)
        close(control->socket);
    control->socket = -1;
    control->count = 0;
}

/* A command was not answered, for this reason. */
static void lost(struct control *control, struct iwarp_sentence *error)
{
    struct timespec pause = {.tv_nsec = 10000000};
    struct iwarp_sentence why = *error;

    hang_up(control);
    control->losses++;
    control->in_a_row++;
    if (control->config.ended != NULL)
        (void)nanosleep(&pause, NULL); /* lets a dying process become waitable */
    if (ended(control, &why)) {
        *error = why;
        control->gone = why;
    } else if (control->in_a_row >= LOSSES_MAX) {
        (void)iwarp_sentence_set(&control->gone, "%.200s, %u times in a row", why.text, control->in_a_row);
    }
}

/*
 * The first line of a connection. Where no token is known, none is demanded. -1: it was not answered; 1: it is refused.
 */
static int show_token(struct control *control, struct iwarp_sentence *error)
{
    const struct upper_token *token = control->config.token;
    char *command, *answer = NULL;
    json_t *reply;
    int status = 0;

    if (token == NULL || token->text[0] == '\0')
        return 0;
    command = upper_token_command(token);
    if (command == NULL)
        return iwarp_sentence_set(error, "out of memory for the token");
    if (write_line(control->socket, command) != 0)
        (void)iwarp_sentence_set(error, "the upper tester closed its connection: %s", strerror(errno));
    else
        answer = read_line(control, strlen(command), error);
    free(command);
    if (answer == NULL)
        return -1;
    reply = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_true(json_object_get(reply, "ok")) && !json_is_true(json_object_get(reply, "unsupported"))) {
        (void)iwarp_sentence_set(error, "the upper tester refuses the token: %.200s", answer);
        status = 1;
    }
    json_decref(reply);
    free(answer);
    return status;
}

int control_place_parse(const char *text, struct net_address *address, uint16_t *port, struct iwarp_sentence *expected)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    char host[64], *end;
    unsigned long number;

    if (length >= sizeof(host) || length < 2)
        return iwarp_sentence_set(expected, "\"address:port\" was expected");
    if (text[0] == '[' && colon[-1] == ']')
        (void)snprintf(host, sizeof(host), "%.*s", (int)length - 2, text + 1);
    else
        (void)snprintf(host, sizeof(host), "%.*s", (int)length, text);
    number = strtoul(colon + 1, &end, 10);
    if (*end != '\0' || number < 1 || number > UINT16_MAX)
        return iwarp_sentence_set(expected, "a port from 1 to 65535 was expected");
    *port = (uint16_t)number;
    return net_address_parse(address, host) == 0 ? 0
                                                 : iwarp_sentence_set(expected, "an IPv4 or IPv6 address was expected");
}

struct control *control_new(const struct control_config *config, struct iwarp_sentence *error)
{
    struct control *control = calloc(1, sizeof(*control));

    if (control == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a control connection");
        return NULL;
    }
    control->config = *config;
    if (control->config.connect_ms == 0)
        control->config.connect_ms = CONNECT_MILLISECONDS;
    if (control->config.answer_ms == 0)
        control->config.answer_ms = ANSWER_MILLISECONDS;
    if (open_connection(control, error) == 0 && show_token(control, error) == 0)
        return control;
    control_free(control);
    return NULL;
}

int control_answer_ms(unsigned reaction_seconds)
{
    int wanted = (int)reaction_seconds * 1000 * ANSWERS_PER_REACTION;

    return wanted > ANSWER_MILLISECONDS ? wanted : ANSWER_MILLISECONDS;
}

char *control_call(struct control *control, const char *request, struct iwarp_sentence *error)
{
    char *line;

    if (control->gone.text[0] != '\0') {
        (void)iwarp_sentence_set(error, "the connection to the upper tester is lost: %.400s", control->gone.text);
        return NULL;
    }
    if (control->socket < 0) {
        int refused = open_connection(control, error) != 0 ? 1 : show_token(control, error);

        if (refused < 0) {
            lost(control, error); /* slow, as it may be with a command */
            return NULL;
        }
        if (refused > 0) {
            control->losses++;
            control->gone = *error;
            return NULL;
        }
    }
    if (write_line(control->socket, request) != 0) {
        (void)iwarp_sentence_set(error, "the upper tester closed its connection: %s", strerror(errno));
        lost(control, error);
        return NULL;
    }
    line = read_line(control, strlen(request), error);
    if (line == NULL)
        lost(control, error);
    else
        control->in_a_row = 0;
    return line;
}

json_t *control_answer(char *text, struct iwarp_sentence *error)
{
    json_t *answer = json_loads(text, 0, NULL);

    if (!json_is_object(answer)) {
        (void)iwarp_sentence_set(error, "the upper tester's answer is not a JSON object: %.200s", text);
        json_decref(answer);
        answer = NULL;
    }
    free(text);
    return answer;
}

unsigned control_losses(const struct control *control)
{
    return control->losses;
}

const char *control_gone(const struct control *control)
{
    return control->gone.text[0] != '\0' ? control->gone.text : NULL;
}

void control_free(struct control *control)
{
    if (control == NULL)
        return;
    hang_up(control);
    free(control->answer);
    free(control);
}
