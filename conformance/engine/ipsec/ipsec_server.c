/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/ipsec/ipsec_server.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/ipsec/ipsec_folder.h"
#include "conformance/engine/ipsec/ipsec_frames.h"
#include "conformance/engine/ipsec/ipsec_program.h"

enum {
    KEPT_SOCKET = 3,
    KEPT = 4,
    SWANCTL_SECONDS = 60,
    START_MILLISECONDS = 20000,
    LOOK_MILLISECONDS = 20,
    LOG_OCTETS = 24576,
    LAST_LINE_OCTETS = 200
};

struct server {
    int socket;
    const struct ipsec_server_config *config;
    struct ipsec_ends ends;
    struct ipsec_folder folder;
    struct ipsec_frames *frames;
    pid_t charon;
    struct ipsec_offer base;
    bool base_is_up; /* and nothing was changed since */
    bool up;
};

_Noreturn static void end(struct server *server)
{
    if (server->charon > 0) {
        (void)kill(server->charon, SIGTERM); /* it deletes its SAs, so that the device does not keep them */
        for (int i = 0; i < 100 && waitpid(server->charon, NULL, WNOHANG) == 0; i++)
            (void)poll(NULL, 0, LOOK_MILLISECONDS);
        (void)kill(server->charon, SIGKILL);
    }
    ipsec_frames_close(server->frames);
    ipsec_folder_remove(&server->folder);
    _exit(0);
}

/* ---- strongSwan -------------------------------------------------------------------------------------------------- */

/* swanctl with these words, which end with NULL. Its exit status; -1 with a sentence. */
static int swanctl(struct server *server, const char *const *words, struct ipsec_said *said,
                   struct iwarp_sentence *error)
{
    char uri[80];
    struct ipsec_call call = {.folder = server->folder.path, .network = -1, .seconds = SWANCTL_SECONDS};
    size_t count = 0;

    (void)snprintf(uri, sizeof(uri), "unix://%s/vici", server->folder.path);
    call.words[count++] = "swanctl";
    while (*words != NULL && count < IPSEC_ARGUMENTS_MOST - 3)
        call.words[count++] = *words++;
    call.words[count++] = "--uri";
    call.words[count++] = uri;
    return ipsec_program_run(&call, said, error);
}

static bool tunnel_exists(void)
{
    return if_nametoindex(IPSEC_TUNNEL) != 0;
}

static int start_charon(struct server *server, struct iwarp_sentence *error)
{
    struct ipsec_call call = {.words = {"charon-systemd"}, .folder = server->folder.path, .network = -1};
    char log[LOG_OCTETS];

    server->charon = ipsec_program_start(&call, error);
    if (server->charon < 0)
        return -1;
    for (int waited = 0; waited < START_MILLISECONDS; waited += LOOK_MILLISECONDS) {
        if (ipsec_folder_ready(&server->folder) && tunnel_exists())
            return 0;
        if (waitpid(server->charon, NULL, WNOHANG) == server->charon) {
            server->charon = 0;
            break;
        }
        (void)poll(NULL, 0, LOOK_MILLISECONDS);
    }
    ipsec_folder_log(&server->folder, log, sizeof(log));
    if (strstr(log, "'kernel-libipsec': failed to load") != NULL)
        return iwarp_sentence_set(error, "strongSwan has no plugin kernel-libipsec (Debian: libcharon-extra-plugins)");
    return iwarp_sentence_set(error, "charon-systemd did not start: %.300s",
                              strlen(log) > 300 ? log + strlen(log) - 300 : log);
}

/* What is agreed is forgotten at once: the device gets a delete, and need not answer. */
static void bring_down(struct server *server)
{
    static const char *const words[] = {"--terminate", "--ike", "tester", "--force", "--timeout", "5", NULL};
    struct ipsec_said said;

    if (server->up)
        (void)swanctl(server, words, &said, NULL);
    server->up = server->base_is_up = false;
}

/* Offers the child. True: ESP runs. */
static bool initiate(struct server *server, struct ipsec_said *said, struct iwarp_sentence *error)
{
    static const char *const words[] = {"--initiate", "--child", "stream", "--timeout", "40", NULL};

    ipsec_folder_mark(&server->folder);
    return swanctl(server, words, said, error) == 0;
}

static int bring_up(struct server *server, const struct ipsec_offer *offer, struct iwarp_sentence *error)
{
    char file[128];
    const char *words[] = {"--load-all", "--clear", "--noprompt", "--file", file, NULL};
    struct ipsec_said said;

    bring_down(server);
    (void)snprintf(file, sizeof(file), "%s/swanctl/swanctl.conf", server->folder.path);
    if (ipsec_folder_offer(&server->folder, offer, &server->ends, error) != 0)
        return -1;
    if (swanctl(server, words, &said, error) != 0)
        return iwarp_sentence_set(error, "swanctl does not take the tester's configuration: %.300s", said.text);
    server->up = initiate(server, &said, error);
    return 0;
}

/* ---- what it is asked -------------------------------------------------------------------------------------------- */

static void say_state(struct server *server, json_t *answer)
{
    static const char *const words[] = {"--list-sas", NULL};
    static char log[LOG_OCTETS];
    struct ipsec_said said;

    ipsec_folder_log(&server->folder, log, sizeof(log));
    (void)json_object_set_new(answer, "up", json_boolean(server->up));
    (void)json_object_set_new(answer, "log", json_string(log));
    if (swanctl(server, words, &said, NULL) != 0)
        said.text[0] = '\0';
    ipsec_folder_print(said.text);
    (void)json_object_set_new(answer, "sas", json_string(said.text));
}

static int do_up(struct server *server, const json_t *request, json_t *answer, struct iwarp_sentence *error)
{
    struct ipsec_offer offer;

    if (ipsec_offer_read(&offer, request, error) != 0)
        return -1;
    if (!ipsec_offer_possible(&offer, server->ends.settings, error)) {
        (void)json_object_set_new(answer, "up", json_false());
        (void)json_object_set_new(answer, "lacking", json_string(error->text));
        return 0;
    }
    if (bring_up(server, &offer, error) != 0)
        return -1;
    say_state(server, answer);
    return 0;
}

static int do_base(struct server *server, json_t *answer, struct iwarp_sentence *error)
{
    if (!server->base_is_up && bring_up(server, &server->base, error) != 0)
        return -1;
    server->base_is_up = server->up;
    (void)json_object_set_new(answer, "up", json_boolean(server->up));
    return server->up ? 0
                      : iwarp_sentence_set(error, "the device does not agree any more to %s, with which the run began",
                                           ipsec_offer_name(&server->base));
}

static int do_delete(struct server *server, const json_t *request, json_t *answer, struct iwarp_sentence *error)
{
    bool ike = json_is_true(json_object_get(request, "ike"));
    const char *const words[] = {"--terminate", ike ? "--ike" : "--child", ike ? "tester" : "stream", "--timeout", "20",
                                 NULL};
    struct ipsec_said said;
    int status;

    server->base_is_up = false;
    ipsec_folder_mark(&server->folder);
    status = swanctl(server, words, &said, error);
    if (status < 0)
        return -1;
    (void)json_object_set_new(answer, "done", json_boolean(status == 0));
    say_state(server, answer);
    return 0;
}

static int do_renew(struct server *server, json_t *answer, struct iwarp_sentence *error)
{
    struct ipsec_said said;

    server->base_is_up = false;
    error->text[0] = '\0';
    server->up = initiate(server, &said, error);
    say_state(server, answer);
    return 0;
}

static int do_count(struct server *server, json_t *answer)
{
    struct ipsec_counts counts = ipsec_frames_count(server->frames);

    (void)json_object_set_new(answer, "esp_in", json_integer(counts.esp_in));
    (void)json_object_set_new(answer, "esp_out", json_integer(counts.esp_out));
    (void)json_object_set_new(answer, "requests_out", json_integer(counts.requests_out));
    (void)json_object_set_new(answer, "responses_in", json_integer(counts.responses_in));
    return 0;
}

static int do_resend(struct server *server, const json_t *request, json_t *answer, struct iwarp_sentence *error)
{
    bool ike = json_is_true(json_object_get(request, "ike"));
    int count = ipsec_frames_resend(server->frames, ike ? IPSEC_PACKET_REQUEST : IPSEC_PACKET_ESP,
                                    json_is_true(json_object_get(request, "alter")), error);

    (void)json_object_set_new(answer, "frames", json_integer(count));
    return count < 0 ? -1 : 0;
}

static int act(struct server *server, const json_t *request, json_t *answer, struct iwarp_sentence *error)
{
    const char *verb = json_string_value(json_object_get(request, "verb"));

    if (verb == NULL)
        return iwarp_sentence_set(error, "a request without \"verb\"");
    if (strcmp(verb, "up") == 0)
        return do_up(server, request, answer, error);
    if (strcmp(verb, "base") == 0)
        return do_base(server, answer, error);
    if (strcmp(verb, "delete") == 0)
        return do_delete(server, request, answer, error);
    if (strcmp(verb, "renew") == 0)
        return do_renew(server, answer, error);
    if (strcmp(verb, "count") == 0)
        return do_count(server, answer);
    if (strcmp(verb, "resend") == 0)
        return do_resend(server, request, answer, error);
    if (strcmp(verb, "mark") == 0)
        ipsec_frames_forget(server->frames);
    else if (strcmp(verb, "look") == 0)
        say_state(server, answer);
    else
        return iwarp_sentence_set(error, "the verb \"%.40s\" is unknown", verb);
    return 0;
}

static void send_answer(struct server *server, json_t *answer, int status, const struct iwarp_sentence *error)
{
    char *text;

    (void)json_object_set_new(answer, "ok", json_boolean(status == 0));
    if (status != 0)
        (void)json_object_set_new(answer, "error", json_string(error->text));
    text = json_dumps(answer, JSON_COMPACT);
    if (text == NULL || send(server->socket, text, strlen(text), MSG_NOSIGNAL) < 0)
        end(server);
    free(text);
    json_decref(answer);
}

static void serve_one(struct server *server)
{
    static char text[IPSEC_MESSAGE_OCTETS];
    struct iwarp_sentence error = {{0}};
    ssize_t got = recv(server->socket, text, sizeof(text), 0);
    json_t *request, *answer = json_object();
    int status;

    if (got < 0 && errno == EINTR) {
        json_decref(answer);
        return;
    }
    if (got <= 0 || answer == NULL)
        end(server);
    request = json_loadb(text, (size_t)got, 0, NULL);
    status = act(server, request, answer, &error);
    json_decref(request);
    send_answer(server, answer, status, &error);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* The last line of the log that says why there is no SA, without its number of the thread and its group. */
static void reason_of(struct server *server, char reason[LAST_LINE_OCTETS])
{
    static char log[LOG_OCTETS];
    char *rest = NULL;

    reason[0] = '\0';
    ipsec_folder_log(&server->folder, log, sizeof(log));
    for (char *line = strtok_r(log, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        const char *text = strchr(line, ']');

        if (text != NULL &&
            (strstr(line, "received") != NULL || strstr(line, "failed") != NULL || strstr(line, "giving up") != NULL ||
             strstr(line, "unable") != NULL) &&
            strstr(line, "received packet") == NULL)
            (void)snprintf(reason, LAST_LINE_OCTETS, "%s", text + 2);
    }
}

static bool heard(struct server *server)
{
    static char log[LOG_OCTETS];

    ipsec_folder_log(&server->folder, log, sizeof(log));
    return strstr(log, "received packet") != NULL;
}

/*
 * The first of the usual offers that the device agrees to. A device that is silent to IKEv2 and IKEv1 speaks neither.
 */
static int find_base(struct server *server, struct iwarp_sentence *error)
{
    const struct profile_ipsec *settings = server->ends.settings;
    char reason[LAST_LINE_OCTETS] = "", address[64];
    bool answers = false;

    for (size_t i = 0; ipsec_offer_usual(&server->base, i, settings) && (answers || i < 2); i++) {
        if (bring_up(server, &server->base, error) != 0)
            return -1;
        if (server->up) {
            server->base_is_up = true;
            return 0;
        }
        answers |= heard(server);
        reason_of(server, reason);
    }
    (void)net_address_format(&settings->peer, address, sizeof(address));
    return answers ? iwarp_sentence_set(error, "the device at %s agrees to nothing that the tester's IKE offers: %s",
                                        address, reason)
                   : iwarp_sentence_set(error, "the device at %s does not answer IKE", address);
}

/* Who makes ESP: the kernel where it can, unless the profile says strongSwan. */
static int choose_esp(struct server *server, struct iwarp_sentence *error)
{
    const struct profile_ipsec *settings = server->ends.settings;
    struct iwarp_sentence why = {{0}};

    if (!profile_ipsec_esp_by(settings, "strongswan") && ipsec_network_kernel_esp(&why))
        server->ends.interface_id = IPSEC_INTERFACE_ID;
    else if (profile_ipsec_esp_by(settings, "kernel"))
        return iwarp_sentence_set(error, "the kernel makes no ESP (\"esp_by\" of the profile): %.300s", why.text);
    return ipsec_folder_daemon(&server->folder, server->ends.interface_id != 0, error);
}

static int prepare(struct server *server, struct iwarp_sentence *error)
{
    const struct ipsec_network *network = &server->config->network;

    if (ipsec_folder_make(&server->folder, server->ends.settings, error) != 0 ||
        ipsec_network_enter(network, error) != 0 || choose_esp(server, error) != 0 ||
        start_charon(server, error) != 0 || ipsec_network_join(network, error) != 0 ||
        (server->frames = ipsec_frames_open(IPSEC_OUTER, error)) == NULL)
        return -1;
    return find_base(server, error);
}

_Noreturn void ipsec_server_serve(int socket, const struct ipsec_server_config *config)
{
    struct server server = {.socket = KEPT_SOCKET, .config = config, .ends = config->ends};
    struct iwarp_sentence error = {{0}};
    json_t *answer = json_object();
    int high = fcntl(socket, F_DUPFD_CLOEXEC, 64), status;

    (void)dup3(high, KEPT_SOCKET, O_CLOEXEC);
    (void)close_range(KEPT, ~0U, 0);
    (void)setpgid(0, 0); /* Ctrl-C is for the run, which ends this when it ends */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    if (answer == NULL)
        _exit(1);
    status = prepare(&server, &error);
    (void)json_object_set_new(answer, "base", json_string(ipsec_offer_name(&server.base)));
    (void)json_object_set_new(answer, "kernel", json_boolean(server.ends.interface_id != 0));
    send_answer(&server, answer, status, &error);
    if (status != 0)
        end(&server);
    for (;;)
        serve_one(&server);
}
