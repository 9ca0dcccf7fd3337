/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/evidence/ladder.h"
#include "conformance/engine/evidence/own_connections.h"
#include "conformance/flow/decoder.h"
#include "generator/packet/pcapng.h"

/* What is remembered of flows: whether they are the tester's. */
enum { FLOWS_REMEMBERED = 1024 };

enum { EVIDENCE_FRAME_OCTETS = 40 }; /* that pcapng adds to a frame, about */

struct recorder {
    struct recorder_config config;
    struct rig *rig;
    struct flow_decoder *decoder;
    struct rule_engine *rules;
    struct pcapng *evidence;
    bool empty_poll; /* the last command was a poll without an event, and no frame came since */
    struct ladder *ladder;
    struct own_connections *own;
    struct {
        uint64_t number; /* of the flow */
        bool own;
    } flows[FLOWS_REMEMBERED];
    struct flow_count foreign; /* frames of other hosts, which the decoder does not get */
    struct flow_totals totals; /* the decoder's, and these */
    uint64_t frame;
    uint64_t start_ns;
    uint64_t written;       /* octets of the evidence */
    uint64_t cut, left_out; /* frames, by its limit */
    struct {
        char name[FLOW_NAME_MAX];
        uint64_t number; /* of the flow; 0: it has no name */
        enum flow_direction direction;
    } latest; /* flow in which the device sent something */
};

static bool is_address(const struct flow_address *seen, const struct net_address *address)
{
    return seen->family == address->family && memcmp(seen->octets, address->octets, address->family == 4 ? 4 : 16) == 0;
}

/* The device sends in this direction, to the tester. */
static bool is_dut(const struct recorder *recorder, const struct flow *flow, unsigned direction)
{
    return is_address(&flow->address[direction], &recorder->rig->dut) &&
           is_address(&flow->address[flow_reverse((enum flow_direction)direction)], &recorder->rig->own);
}

static unsigned dut_direction(const struct recorder *recorder, const struct flow *flow)
{
    return is_dut(recorder, flow, FLOW_FROM_RESPONDER) ? FLOW_FROM_RESPONDER : FLOW_FROM_INITIATOR;
}

/*
 * Is it a flow between the device and this run's tester, and if over TCP, a connection that the tester made or
 * accepted? The device may have others: with its upper tester, with a second run, with whomever it likes.
 */
static bool find_own(const struct recorder *recorder, const struct flow *flow)
{
    unsigned dut = dut_direction(recorder, flow);

    if (!is_dut(recorder, flow, dut))
        return false;
    return flow->kind != FLOW_CONNECTION ||
           own_connections_has(recorder->own, flow->address[!dut].port, flow->address[dut].port);
}

static bool is_own(struct recorder *recorder, const struct flow *flow)
{
    size_t at = flow->number % FLOWS_REMEMBERED;

    if (recorder->flows[at].number != flow->number) {
        recorder->flows[at].own = find_own(recorder, flow);
        recorder->flows[at].number = flow->number;
    }
    return recorder->flows[at].own;
}

static double seconds_at(const struct recorder *recorder, uint64_t time_ns)
{
    return recorder->start_ns == 0 ? 0 : (double)(time_ns - recorder->start_ns) / 1e9;
}

static void add_steps(struct recorder *recorder, const struct flow_event *event)
{
    unsigned dut = dut_direction(recorder, event->flow);

    for (; event != NULL; event = event->next)
        ladder_event(recorder->ladder, event, seconds_at(recorder, event->time_ns), event->direction == dut,
                     event->flow->address[!dut].port, event->flow->address[dut].port);
}

static void on_rule_result(const struct rule_result *result, void *argument)
{
    struct recorder *recorder = ((void **)argument)[0];
    const struct flow *flow = ((void **)argument)[1];

    recorder->config.rule_result(recorder->config.user, result, flow);
}

/* The device has sent something in this flow: most events are of the same one as before. */
static void note_flow(struct recorder *recorder, const struct flow *flow, enum flow_direction direction)
{
    if (flow->number != 0 && recorder->latest.number == flow->number && recorder->latest.direction == direction &&
        flow->kind != FLOW_CM_EXCHANGE) /* its id comes later */
        return;
    (void)flow_name(flow, direction, recorder->latest.name, sizeof(recorder->latest.name));
    recorder->latest.number = flow->number;
    recorder->latest.direction = direction;
}

static void on_event(void *context, const struct flow_event *event)
{
    struct recorder *recorder = context;
    void *both[2] = {recorder, (void *)event->flow};
    struct rule_flow_end wanted = {recorder->config.rule_result != NULL ? on_rule_result : NULL, NULL, both};

    rule_engine_event(recorder->rules, event);
    if (is_own(recorder, event->flow))
        add_steps(recorder, event);
    if (event->kind != FLOW_END) {
        if (is_own(recorder, event->flow) && is_dut(recorder, event->flow, event->direction))
            note_flow(recorder, event->flow, event->direction);
        return;
    }
    rule_engine_flow_end(recorder->rules, event->flow, &wanted);
}

static void on_finding(const struct rule_finding *finding, void *argument)
{
    const struct recorder *recorder = argument;

    recorder->config.finding(recorder->config.user, finding);
}

static bool judge_dut(const struct flow *flow, unsigned direction, void *argument)
{
    return is_own(argument, flow) && is_dut(argument, flow, direction);
}

static bool rule_selected(const char *id, void *argument)
{
    struct recorder *recorder = argument;

    return recorder->config.selected == NULL || recorder->config.selected(id, recorder->config.user);
}

struct recorder *recorder_new(const struct recorder_config *config, struct iwarp_sentence *error)
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
        recorder->ladder = ladder_new();
        recorder->own = own_connections_new();
    }
    if (recorder == NULL || recorder->decoder == NULL || recorder->rules == NULL || recorder->ladder == NULL ||
        recorder->own == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the recorder");
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
    ladder_free(recorder->ladder);
    own_connections_free(recorder->own);
    free(recorder);
}

/* Beyond the limit the headers stay, so that frames keep their numbers; a capture that grows on is not continued. */
static void write_evidence(struct recorder *recorder, const uint8_t *frame, size_t octets, uint64_t time_ns,
                           bool inbound)
{
    uint64_t limit = recorder->config.evidence_limit;
    size_t kept = octets;

    if (limit != 0 && recorder->written + octets > limit)
        kept = octets < EVIDENCE_CUT_OCTETS ? octets : EVIDENCE_CUT_OCTETS;
    if (limit != 0 && recorder->written + kept > 2 * limit) {
        recorder->left_out++;
        return;
    }
    recorder->cut += kept != octets;
    recorder->written += kept + EVIDENCE_FRAME_OCTETS;
    (void)pcapng_write_cut_frame(recorder->evidence, time_ns, frame, kept, octets, NULL, inbound);
}

static void on_frame(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct recorder *recorder = context;
    struct flow_frame seen = {.link = FLOW_LINK_ETHERNET,
                              .time_ns = time_ns,
                              .number = recorder->frame + 1,
                              .octets = frame,
                              .captured = octets,
                              .length = octets};
    struct packet packet;

    if (packet_parse(&packet, frame, octets, NULL) == 0 && packet.kind == PACKET_TCP &&
        !own_connections_frame(recorder->own, recorder->rig, &packet, seen.number, time_ns)) {
        recorder->foreign.frames++;
        recorder->foreign.octets += octets;
        return;
    }
    recorder->frame++;
    if (recorder->start_ns == 0)
        recorder->start_ns = time_ns;
    recorder->empty_poll = false;
    if (recorder->evidence != NULL)
        write_evidence(recorder, frame, octets, time_ns, inbound);
    flow_decoder_frame(recorder->decoder, &seen);
}

void recorder_attach(struct recorder *recorder, struct rig *rig)
{
    recorder->rig = rig;
    rig->link->tap = on_frame;
    rig->link->tap_context = recorder;
}

/* A file of that name is of a check that was stopped: a new one takes its place, and a link is not followed. */
static struct pcapng *open_evidence(const struct place *place, const char *title, struct iwarp_sentence *error)
{
    int fd;

    (void)unlinkat(place->folder, place->name, 0);
    fd = openat(place->folder, place->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0)
        return pcapng_open_file(fd, place->path, PCAPNG_ETHERNET, "warpcheck", title, error);
    (void)iwarp_sentence_set(error, "%s: cannot create the capture file: %s", place->path, strerror(errno));
    return NULL;
}

int recorder_begin(struct recorder *recorder, const struct place *pcapng, const char *title,
                   struct iwarp_sentence *error)
{
    recorder->frame = 0;
    recorder->start_ns = 0;
    recorder->written = recorder->cut = recorder->left_out = 0;
    recorder->latest.name[0] = '\0';
    recorder->latest.number = 0;
    ladder_begin(recorder->ladder, recorder->config.ladder);
    own_connections_begin(recorder->own);
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
    if (recorder->evidence != NULL)
        (void)pcapng_note(recorder->evidence, text);
    ladder_note(recorder->ladder, text, seconds_at(recorder, recorder->start_ns == 0 ? 0 : rig_now(recorder->rig)));
}

/* Of many in a row one is enough. */
static bool is_empty_poll(const json_t *request, const json_t *answer)
{
    const char *verb = json_string_value(json_object_get(request, "verb"));
    const json_t *events = json_object_get(answer, "events");

    return verb != NULL && strcmp(verb, "poll") == 0 && json_is_array(events) && json_array_size(events) == 0;
}

void recorder_command(struct recorder *recorder, const json_t *request, const json_t *answer)
{
    char *text, *asked, *answered;
    const char *verb = json_string_value(json_object_get(request, "verb"));

    bool empty = is_empty_poll(request, answer), again = empty && recorder->empty_poll;

    recorder->empty_poll = empty;
    if (recorder->evidence == NULL || again)
        return;
    text = malloc(RECORDER_COMMAND_OCTETS);
    asked = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_SORT_KEYS);
    answered = json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (text != NULL && asked != NULL && answered != NULL) {
        if (snprintf(text, RECORDER_COMMAND_OCTETS, RECORDER_COMMAND "%s -> %s", asked, answered) >=
            RECORDER_COMMAND_OCTETS)
            (void)snprintf(text, RECORDER_COMMAND_OCTETS, RECORDER_COMMAND "%.40s, too long to be kept here",
                           verb != NULL ? verb : "a command");
        (void)pcapng_note(recorder->evidence, text);
    }
    free(text);
    free(asked);
    free(answered);
}

int recorder_end(struct recorder *recorder, const char *verdict, struct iwarp_sentence *error)
{
    struct pcapng *evidence = recorder->evidence;
    struct iwarp_sentence limited;

    flow_decoder_finish(recorder->decoder);
    recorder->evidence = NULL;
    if (evidence == NULL)
        return 0;
    (void)pcapng_note(evidence, verdict);
    if (recorder->cut != 0 || recorder->left_out != 0) {
        (void)iwarp_sentence_set(&limited, "%" PRIu64 " frames are cut, and %" PRIu64 " left out: run --evidence-limit",
                                 recorder->cut, recorder->left_out);
        (void)pcapng_note(evidence, limited.text);
    }
    return pcapng_close(evidence, error);
}

uint64_t recorder_frame(const struct recorder *recorder)
{
    return recorder->frame;
}

json_t *recorder_steps(const struct recorder *recorder)
{
    return ladder_steps(recorder->ladder);
}

uint64_t recorder_cite(struct recorder *recorder, const struct last_seen *last_seen, json_t **step)
{
    const struct own_frame *frame = own_connections_find(recorder->own, last_seen);

    *step = ladder_find(recorder->ladder, last_seen, frame, recorder->start_ns);
    if (*step != NULL)
        return (uint64_t)json_integer_value(json_object_get(*step, "frame"));
    return frame != NULL ? frame->frame : 0;
}

const char *recorder_flow(const struct recorder *recorder)
{
    return recorder->latest.name;
}

const struct flow_totals *recorder_totals(struct recorder *recorder)
{
    struct flow_count *row = &recorder->totals.account.row[FLOW_ROW_OTHER_HOSTS];

    recorder->totals = *flow_decoder_totals(recorder->decoder);
    recorder->totals.frames += recorder->foreign.frames;
    recorder->totals.octets += recorder->foreign.octets;
    row->frames += recorder->foreign.frames;
    row->octets += recorder->foreign.octets;
    return &recorder->totals;
}
