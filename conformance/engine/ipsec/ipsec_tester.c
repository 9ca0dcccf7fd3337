/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/ipsec/ipsec_tester.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/ipsec/ipsec_program.h"
#include "conformance/engine/ipsec/ipsec_server.h"

enum { NAME_OCTETS = 16, BASE_OCTETS = 64 };

struct ipsec_tester {
    int socket;
    pid_t server;
    bool changed, base_asked, kernel;
    char interface[NAME_OCTETS];
    char base[BASE_OCTETS];
};

static int find_programs(struct iwarp_sentence *error)
{
    static const char *const needed[][2] = {
        {"charon-systemd", "charon-systemd"}, {"swanctl", "strongswan-swanctl"}, {"ip", "iproute2"}};
    char path[4096];

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!ipsec_program_find(needed[i][0], path, sizeof(path)))
            return iwarp_sentence_set(error, "%s is not installed (Debian: %s)", needed[i][0], needed[i][1]);
    return 0;
}

static int start(struct ipsec_tester *tester, const struct ipsec_tester_config *config, struct iwarp_sentence *error)
{
    struct ipsec_server_config server = {
        .network = {.interface = config->interface,
                    .veth = tester->interface,
                    .own = config->own,
                    .device = config->device,
                    .address = config->settings->address,
                    .peer = config->settings->peer,
                    .gateway = config->gateway},
        .ends = {.settings = config->settings, .own = config->own, .device = config->device}};
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return iwarp_sentence_set(error, "%s", strerror(errno));
    (void)fflush(NULL);
    tester->server = fork();
    if (tester->server == 0) {
        close(sockets[0]);
        ipsec_server_serve(sockets[1], &server);
    }
    close(sockets[1]);
    tester->socket = sockets[0];
    return tester->server > 0 ? 0 : iwarp_sentence_set(error, "%s", strerror(errno));
}

/* The first message, which comes when the device has agreed or will not. */
static int await(struct ipsec_tester *tester, struct iwarp_sentence *error)
{
    json_t *answer = NULL;
    int got;

    while ((got = ipsec_tester_answer(tester, &answer, error)) == 0) {
        struct pollfd file = {.fd = tester->socket, .events = POLLIN};

        (void)poll(&file, 1, -1);
    }
    if (got < 0)
        return -1;
    if (json_is_true(json_object_get(answer, "ok"))) {
        (void)snprintf(tester->base, sizeof(tester->base), "%s", json_string_value(json_object_get(answer, "base")));
        tester->kernel = json_is_true(json_object_get(answer, "kernel"));
        json_decref(answer);
        return 0;
    }
    (void)iwarp_sentence_set(error, "%s", json_string_value(json_object_get(answer, "error")));
    json_decref(answer);
    return -1;
}

struct ipsec_tester *ipsec_tester_new(const struct ipsec_tester_config *config, struct iwarp_sentence *error)
{
    struct ipsec_tester *tester = calloc(1, sizeof(*tester));
    struct iwarp_sentence why = {{0}};

    if (tester == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the tester's IPsec");
        return NULL;
    }
    tester->socket = -1;
    (void)snprintf(tester->interface, sizeof(tester->interface), "wcips%d", (int)getpid());
    if (find_programs(&why) == 0 && start(tester, config, &why) == 0 && await(tester, &why) == 0)
        return tester;
    (void)iwarp_sentence_set(error, "IPsec: %s", why.text);
    ipsec_tester_free(tester);
    return NULL;
}

const char *ipsec_tester_interface(const struct ipsec_tester *tester)
{
    return tester->interface;
}

const char *ipsec_tester_base(const struct ipsec_tester *tester)
{
    return tester->base;
}

bool ipsec_tester_kernel(const struct ipsec_tester *tester)
{
    return tester->kernel;
}

bool ipsec_tester_changed(const struct ipsec_tester *tester)
{
    return tester->changed;
}

static int lost(struct iwarp_sentence *error)
{
    return iwarp_sentence_set(error, "the process of the tester's IPsec has ended");
}

int ipsec_tester_ask(struct ipsec_tester *tester, const json_t *request, struct iwarp_sentence *error)
{
    const char *verb = json_string_value(json_object_get(request, "verb"));
    char *text = json_dumps(request, JSON_COMPACT);
    bool sent = text != NULL && strlen(text) < IPSEC_MESSAGE_OCTETS &&
                send(tester->socket, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);

    free(text);
    tester->base_asked = verb != NULL && strcmp(verb, "base") == 0;
    tester->changed |=
        verb != NULL && (strcmp(verb, "up") == 0 || strcmp(verb, "delete") == 0 || strcmp(verb, "renew") == 0);
    return sent ? 0 : lost(error);
}

int ipsec_tester_answer(struct ipsec_tester *tester, json_t **answer, struct iwarp_sentence *error)
{
    static char text[IPSEC_MESSAGE_OCTETS];
    ssize_t got = recv(tester->socket, text, sizeof(text), MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    *answer = got > 0 ? json_loadb(text, (size_t)got, 0, NULL) : NULL;
    if (*answer == NULL)
        return lost(error);
    if (tester->base_asked && json_is_true(json_object_get(*answer, "ok")))
        tester->changed = false;
    return 1;
}

void ipsec_tester_free(struct ipsec_tester *tester)
{
    if (tester == NULL)
        return;
    if (tester->socket >= 0)
        close(tester->socket);
    if (tester->server > 0)
        while (waitpid(tester->server, NULL, 0) < 0 && errno == EINTR)
            continue;
    free(tester);
}
