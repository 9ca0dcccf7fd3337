/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/evidence/event_step.h"
#include "conformance/flow/notation/notation.h"
#include "generator/packet/pcapng.h"
#include "reports/result.h"

/* A ladder of more steps than this helps nobody. */
enum { STEPS_MAX = 400 };

struct recorder {
    struct recorder_config config;
    struct rig *rig;
    struct flow_decoder *decoder;
    struct rule_engine *rules;
    struct pcapng *evidence;
    json_t *steps;
    uint64_t frame;
    uint64_t start_ns;
    char flow[FLOW_NAME_MAX];
};

static bool is_dut(const struct recorder *recorder, const struct flow *flow, unsigned direction)
{
    const struct flow_address *sender = &flow->address[direction];
    const struct net_address *dut = &recorder->rig->dut;

    return sender->family == dut->family && memcmp(sender->octets, dut->octets, dut->family == 4 ? 4 : 16) == 0;
}

static void add_step(struct recorder *recorder, const struct flow_event *event)
{
    char text[NOTATION_MAX];
    double seconds;

    if (recorder->steps == NULL || json_array_size(recorder->steps) >= STEPS_MAX)
        return;
    if (notation_event(event, text, sizeof(text))[0] == '\0')
        return;
    seconds = (double)(event->time_ns - recorder->start_ns) / 1e9;
    (void)json_array_append_new(
        recorder->steps,
        event_step(event, text, seconds, is_dut(recorder, event->flow, event->direction) ? "dut" : "tester", SIZE_MAX));
}

static void on_rule_result(const struct rule_result *result, void *argument)
{
    struct recorder *recorder = ((void **)argument)[0];
    const struct flow *flow = ((void **)argument)[1];

    recorder->config.rule_result(recorder->config.user, result, flow);
}

static void on_event(void *context, const struct flow_event *event)
{
    struct recorder *recorder = context;

    rule_engine_event(recorder->rules, event);
    add_step(recorder, event);
    if (event->kind != FLOW_END) {
        if (is_dut(recorder, event->flow, event->direction))
            (void)flow_name(event->flow, event->direction, recorder->flow, sizeof(recorder->flow));
        return;
    }
    if (recorder->config.rule_result != NULL) {
        void *both[2] = {recorder, (void *)event->flow};

        (void)rule_engine_flow_results(recorder->rules, event->flow, on_rule_result, both);
    }
    rule_engine_flow_done(recorder->rules, event->flow);
}

static void on_finding(const struct rule_finding *finding, void *argument)
{
    const struct recorder *recorder = argument;

    recorder->config.finding(recorder->config.user, finding);
}

static bool judge_dut(const struct flow *flow, unsigned direction, void *argument)
{
    return is_dut(argument, flow, direction);
}

static bool rule_selected(const char *id, void *argument)
{
    struct recorder *recorder = argument;

    return recorder->config.selected == NULL || recorder->config.selected(id, recorder->config.user);
}

struct recorder *recorder_new(const struct recorder_config *config, struct sentence *error)
{
    struct recorder *recorder = calloc(1, sizeof(*recorder));

    if (recorder != NULL) {
        struct rule_config rules = {.selected = rule_selected,
                                    .judged = judge_dut,
                                    .finding = config->finding != NULL ? on_finding : NULL,
                                    .argument = recorder};
        struct flow_config flow = {.rule_state_octets = rule_state_octets()};

        recorder->config = *config;
        recorder->decoder = flow_decoder_create(&flow, on_event, recorder);
        recorder->rules = rule_engine_create(&rules);
    }
    if (recorder == NULL || recorder->decoder == NULL || recorder->rules == NULL) {
        (void)sentence_set(error, "out of memory for the recorder");
        recorder_free(recorder);
        return NULL;
    }
    return recorder;
}

void recorder_free(struct recorder *recorder)
{
    if (recorder == NULL)
        return;
    flow_decoder_destroy(recorder->decoder);
    rule_engine_free(recorder->rules);
    (void)pcapng_close(recorder->evidence, NULL);
    json_decref(recorder->steps);
    free(recorder);
}

static void on_frame(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct recorder *recorder = context;
    struct flow_frame seen = {.link = FLOW_LINK_ETHERNET,
                              .time_ns = time_ns,
                              .number = ++recorder->frame,
                              .octets = frame,
                              .captured = octets,
                              .length = octets};

    if (recorder->start_ns == 0)
        recorder->start_ns = time_ns;
    if (recorder->evidence != NULL)
        (void)pcapng_write_frame(recorder->evidence, time_ns, frame, octets, NULL, inbound);
    flow_decoder_frame(recorder->decoder, &seen);
}

void recorder_attach(struct recorder *recorder, struct rig *rig)
{
    recorder->rig = rig;
    rig->link->tap = on_frame;
    rig->link->tap_context = recorder;
}

/* A file of that name is of a check that was stopped: a new one takes its place, and a link is not followed. */
static struct pcapng *open_evidence(const struct place *place, const char *title, struct sentence *error)
{
    int fd;

    (void)unlinkat(place->folder, place->name, 0);
    fd = openat(place->folder, place->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0)
        return pcapng_open_file(fd, place->path, PCAPNG_ETHERNET, "warpcheck", title, error);
    (void)sentence_set(error, "%s: cannot create the capture file: %s", place->path, strerror(errno));
    return NULL;
}

int recorder_begin(struct recorder *recorder, const struct place *pcapng, const char *title, struct sentence *error)
{
    recorder->frame = 0;
    recorder->start_ns = 0;
    recorder->flow[0] = '\0';
    json_decref(recorder->steps);
    recorder->steps = recorder->config.ladder ? json_array() : NULL;
    if (pcapng == NULL)
        return 0;
    recorder->evidence = open_evidence(pcapng, title, error);
    if (recorder->evidence == NULL)
        return -1;
    pcapng_set_autoflush(recorder->evidence, !recorder->rig->simulated);
    (void)pcapng_note(recorder->evidence, title);
    return 0;
}

void recorder_note(struct recorder *recorder, const char *text)
{
    double seconds = 0;

    if (recorder->evidence != NULL)
        (void)pcapng_note(recorder->evidence, text);
    if (recorder->steps == NULL || json_array_size(recorder->steps) >= STEPS_MAX)
        return;
    if (recorder->start_ns != 0)
        seconds = (double)(rig_now(recorder->rig) - recorder->start_ns) / 1e9;
    (void)json_array_append_new(recorder->steps, result_step(seconds, "tester", "note", text, 0, NULL, 0));
}

int recorder_end(struct recorder *recorder, const char *verdict, struct sentence *error)
{
    struct pcapng *evidence = recorder->evidence;

    flow_decoder_finish(recorder->decoder);
    recorder->evidence = NULL;
    if (evidence == NULL)
        return 0;
    (void)pcapng_note(evidence, verdict);
    return pcapng_close(evidence, error);
}

uint64_t recorder_frame(const struct recorder *recorder)
{
    return recorder->frame;
}

json_t *recorder_steps(const struct recorder *recorder)
{
    return recorder->steps;
}

const char *recorder_flow(const struct recorder *recorder)
{
    return recorder->flow;
}

const struct flow_totals *recorder_totals(const struct recorder *recorder)
{
    return flow_decoder_totals(recorder->decoder);
}
