/* SPDX-License-Identifier: BSD-2-Clause */
/* A CM agent over UDP as a program: a server that answers as its options say, or a client that sends one request. */
#include "reference-stack/peer/cmd_peer_cm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/cm_event_json.h"
#include "reference-stack/peer/cmd_peer_cm_line.h"
#include "reference-stack/peer/peer_options.h"
#include "reference-stack/program/complaint.h"
#include "reference-stack/program/confine.h"
#include "base/exit_status.h"

enum { CLIENT_PORT = 49152 };

bool cmd_peer_cm_wanted(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--cm") == 0)
            return true;
    return false;
}

int cmd_peer_print_defects(struct defect_list *list, const struct iwarp_sentence *why)
{
    if (list == NULL)
        return complain(EXIT_FAILS, "%s", why->text);
    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *defect = defect_list_at(list, i);

        printf("%s\t%s", defect->id, defect->requirement);
        if (defect->warns != NULL) /* a variant */
            printf("\t%s", defect->warns[0] != '\0' ? defect->warns : "-");
        printf("\t%s\t%s\t%s\t%s\n", defect->hook, defect->target, defect->operation, defect->value);
    }
    defect_list_free(list);
    return EXIT_DONE;
}

/*
 * --- Running -------------------------------------------------------------------------------------------------------
 */

/* The client: established ends in its own DREQ with --once, anything else is the end. */
static void follow(struct cm_command_line *line, struct cm_driver *driver, const struct cm_event *event)
{
    switch (event->kind) {
    case CM_EVENT_ESTABLISHED:
        line->status = EXIT_DONE;
        if (line->once)
            (void)cm_agent_disconnect(cm_driver_agent(driver), event->id, cm_driver_now(), NULL);
        break;
    case CM_EVENT_REJECTED:
    case CM_EVENT_TIMEOUT:
        line->status = EXIT_FAILS;
        cm_driver_stop(driver);
        break;
    case CM_EVENT_DISCONNECTED: cm_driver_stop(driver); break;
    case CM_EVENT_REQUEST:
    case CM_EVENT_REFUSED:
    default: break;
    }
}

/* The server: what the ULP decides. */
static void decide(const struct cm_command_line *line, struct cm_driver *driver, const struct cm_event *event)
{
    if (line->answer == CM_ANSWER_REJECT)
        (void)cm_agent_reject(cm_driver_agent(driver), event->id, &line->refusal, cm_driver_now(), NULL);
    else
        (void)cm_agent_accept(cm_driver_agent(driver), event->id, line->data, line->octets, cm_driver_now(), NULL);
}

/* With --once: the server's one request has come to its end. */
static bool is_end(const struct cm_command_line *line, const struct cm_event *event)
{
    switch (event->kind) {
    case CM_EVENT_REQUEST: return line->answer == CM_ANSWER_REJECT;
    case CM_EVENT_ESTABLISHED: return false;
    case CM_EVENT_REFUSED:
    case CM_EVENT_REJECTED:
    case CM_EVENT_TIMEOUT:
    case CM_EVENT_DISCONNECTED:
    default: return true;
    }
}

static void on_event(void *context, struct cm_driver *driver, const struct cm_event *event)
{
    struct cm_command_line *line = context;
    char *text = cm_event_json(event);

    if (text == NULL || puts(text) < 0 || fflush(stdout) != 0) {
        line->status = EXIT_ENVIRONMENT; /* main() says why */
        cm_driver_stop(driver);
    }
    free(text);
    if (line->connect != NULL) {
        follow(line, driver, event);
        return;
    }
    if (event->kind == CM_EVENT_REQUEST)
        decide(line, driver, event);
    if (line->once && is_end(line, event))
        cm_driver_stop(driver);
}

static int listen_all(struct cm_command_line *line, struct cm_driver *driver, struct iwarp_sentence *sentence)
{
    for (size_t i = 0; i < line->services; i++) {
        struct cm_listener *service = &line->service[i];

        service->answer = line->answer == CM_ANSWER_SILENT ? CM_ANSWER_SILENT : CM_ANSWER_ASK; /* decide() */
        if (cm_agent_listen(cm_driver_agent(driver), service, sentence) != 0)
            return -1;
    }
    return 0;
}

static int connect_once(struct cm_command_line *line, struct cm_driver *driver, struct iwarp_sentence *sentence)
{
    struct cm_connect connect = {.to = line->remote,
                                 .from = cm_driver_address(driver),
                                 .tuple = {.protocol = line->service[0].protocol,
                                           .source = cm_driver_address(driver),
                                           .destination = {.family = line->remote.family},
                                           .source_port = CLIENT_PORT,
                                           .destination_port = line->service[0].port},
                                 .data = line->data,
                                 .octets = line->octets};
    uint32_t id;

    if (connect.from.family != connect.to.family)
        return iwarp_sentence_set(sentence, "--connect %s: an address of the family of --bind was expected",
                                  line->connect);
    memcpy(connect.tuple.destination.octets, line->remote.address, sizeof(connect.tuple.destination.octets));
    line->status = EXIT_FAILS;
    return cm_agent_connect(cm_driver_agent(driver), &connect, cm_driver_now(), &id, sentence);
}

static int run(struct cm_command_line *line, struct cm_driver *driver)
{
    struct confine_config confinement = {NULL, 0, CONFINE_CONNECTIONS, 0};
    struct iwarp_sentence sentence = {""};

    if (cm_driver_stop_on(driver, SIGINT, &sentence) != 0 || cm_driver_stop_on(driver, SIGTERM, &sentence) != 0 ||
        (line->connect != NULL ? connect_once(line, driver, &sentence) : listen_all(line, driver, &sentence)) != 0 ||
        confine(&confinement, &sentence) != 0)
        return complain(EXIT_FAILS, "%s", sentence.text);
    printf("READY udp=%u\n", cm_driver_port(driver));
    if (fflush(stdout) != 0)
        return EXIT_ENVIRONMENT;
    if (cm_driver_run(driver, &sentence) != 0)
        return complain(EXIT_FAILS, "%s", sentence.text);
    return line->status;
}

static int run_with_defects(struct cm_command_line *line)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = NULL;
    struct defect_set *set = NULL;
    struct cm_driver *driver;
    int status;

    if (line->defect_count != 0) {
        list = defect_list_embedded_cm(&sentence);
        if (list != NULL)
            set = defect_set_new(list, line->defects, line->defect_count, &sentence);
        defect_list_free(list);
        if (set == NULL)
            return complain(EXIT_USAGE, "%s", sentence.text);
    }
    line->driver.agent.faults = defect_set_cm_faults(set);
    driver = confine_libraries(&sentence) == 0 ? cm_driver_new(&line->driver, &sentence) : NULL;
    status = driver == NULL ? complain(EXIT_ENVIRONMENT, "%s", sentence.text) : run(line, driver);
    cm_driver_free(driver);
    defect_set_free(set);
    return status;
}

/*
 * Communication IDs differ from run to run, or a peer takes the second run's for the first one's (reasons 10 and 30).
 */
static uint64_t seed_of_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int cmd_peer_cm(int argc, char **argv)
{
    struct cm_command_line *line = calloc(1, sizeof(*line));
    struct iwarp_sentence error = {""};
    int status;

    if (line == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    line->driver.address = "127.0.0.1";
    line->driver.port = ROCE_V2_PORT;
    line->driver.event = on_event;
    line->driver.context = line;
    line->refusal = (struct cm_refusal){.reason = CM_REASON_CONSUMER, .layer = IP_CM_LAYER_ULP, .info_octets = 1};
    cm_agent_config_default(&line->driver.agent);
    line->driver.agent.seed = seed_of_now();
    if (cmd_peer_cm_options(line, argc, argv, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else if (line->help)
        status = peer_options_print(argv[0]);
    else if (line->list_defects)
        status = cmd_peer_print_defects(defect_list_embedded_cm(&error), &error);
    else
        status = run_with_defects(line);
    free(line);
    return status;
}
