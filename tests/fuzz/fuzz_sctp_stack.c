/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An association and its sessions: user messages of a hostile peer, acknowledgements, time, and a ULP that does what it
 * likes at any moment. The first octet chooses the profile; then steps follow, an octet each and what it needs.
 */
#include "iwarp/sctp.h"
#include "tests/fuzz/fuzz.h"
#include "wire/rdmap.h"
#include "wire/ddp_sctp.h"

enum { STREAMS = 6, BUFFERS = 3, BUFFER_OCTETS = 128, HELD_MAX = 16384, PENDING_MAX = 2, STAG = 0x01020304 };

struct scene {
    struct iwarp_device *device;
    struct iwarp_association *association;
    struct iwarp_stream *streams[STREAMS];
    bool draft;
    uint64_t now;
    uint32_t outstanding[STREAMS];
    const uint8_t *at, *end;
};

static uint8_t next(struct scene *scene)
{
    return scene->at < scene->end ? *scene->at++ : 0;
}

static void look_output(struct scene *scene, const struct iwarp_sctp_output *output)
{
    size_t octets = 0;

    FUZZ_HOLDS(output->unordered && output->sid < STREAMS && output->octets >= 4);
    for (size_t i = 0; i < output->span_count; i++) {
        fuzz_touch(output->spans[i].octets, output->spans[i].count);
        octets += output->spans[i].count;
    }
    FUZZ_HOLDS(octets == output->octets);
    FUZZ_HOLDS(!output->control || octets <= DDP_SCTP_CONTROL_MAX);
    FUZZ_HOLDS(octets <= DDP_SCTP_SSN_OCTETS + iwarp_association_segment_max(scene->association));
    FUZZ_HOLDS(scene->draft ? output->ppid == DDP_SCTP_PPID_DRAFT_SEGMENT || output->ppid == DDP_SCTP_PPID_DRAFT_CONTROL
                            : output->ppid == (output->control ? (uint32_t)DDP_SCTP_PPID_CONTROL
                                                               : (uint32_t)DDP_SCTP_PPID_SEGMENT));
    scene->outstanding[output->sid]++;
}

/* All that is to be sent and reported, and what has to hold at any time. */
static void drain(struct scene *scene)
{
    const struct iwarp_association_counters *counters = iwarp_association_counters(scene->association);
    struct iwarp_association_event reported;
    struct iwarp_sctp_output output;
    struct iwarp_event event;

    while (iwarp_association_output(scene->association, &output) != 0) {
        look_output(scene, &output);
        iwarp_association_output_done(scene->association, scene->now);
    }
    for (size_t i = 0; i < STREAMS; i++)
        while (iwarp_stream_poll(scene->streams[i], &event))
            if (event.start.private_octets != 0)
                fuzz_touch(event.start.private_data, event.start.private_octets);
    while (iwarp_association_poll(scene->association, &reported))
        if (reported.private_octets != 0)
            fuzz_touch(reported.private_data, reported.private_octets);
    FUZZ_HOLDS(counters->held_octets <= HELD_MAX && counters->pending <= PENDING_MAX + STREAMS);
    FUZZ_HOLDS(counters->sessions <= STREAMS);
    (void)iwarp_association_wants(scene->association);
}

static void feed(struct scene *scene)
{
    static const uint32_t ppids[] = {16, 17, 1, 2, 0};
    uint8_t where = next(scene);
    size_t count = next(scene);
    struct iwarp_sctp_message message = {.sid = where % (STREAMS + 1), .ppid = ppids[where / 8 % 5]};
    uint8_t *copy;

    if (count > 250)
        count = 512 + count * 8;
    copy = malloc(count == 0 ? 1 : count);
    if (copy == NULL)
        abort();
    memset(copy, 0, count);
    for (size_t i = 0; i < count && scene->at < scene->end; i++)
        copy[i] = next(scene);
    message.octets = copy;
    message.count = count;
    iwarp_association_input(scene->association, &message, scene->now);
    free(copy);
}

static void make_stream(struct scene *scene, uint8_t choice)
{
    static uint8_t buffers[BUFFERS][BUFFER_OCTETS];
    struct iwarp_stream_config config;
    size_t n = choice % STREAMS;

    iwarp_stream_free(scene->streams[n]);
    iwarp_sctp_stream_config_default(&config, choice & 8 ? IWARP_INITIATOR : IWARP_RESPONDER);
    config.accept = (enum iwarp_accept_policy)(choice / 16 % 3);
    config.enhanced = (choice & 64) == 0;
    config.peer_to_peer = config.enhanced && choice & 128 && config.role == IWARP_INITIATOR;
    config.number = (uint32_t)n + 1;
    scene->streams[n] = iwarp_sctp_stream_new(scene->association, (uint16_t)n, &config, scene->now, NULL);
    for (uint64_t i = 0; i < BUFFERS; i++)
        (void)iwarp_stream_post_receive(scene->streams[n], i, buffers[i], BUFFER_OCTETS, NULL);
}

static void use_stream(struct scene *scene, uint8_t choice)
{
    static const uint8_t octets[3000];
    struct iwarp_stream *stream = scene->streams[choice % STREAMS];
    struct iwarp_send send = {.octets = octets, .count = (size_t)choice * 11, .fence = choice & 1};
    struct iwarp_write write = {.octets = octets, .count = (size_t)choice * 11, .stag = STAG, .fence = choice & 1};
    struct iwarp_read read = {.sink_stag = STAG, .source_stag = 1, .count = choice};

    switch (choice / STREAMS % 8) {
    case 0: (void)iwarp_stream_accept(stream, NULL, 0, -1, -1, scene->now, NULL); break;
    case 1: (void)iwarp_stream_reject(stream, octets, choice, scene->now, NULL); break;
    case 2: (void)iwarp_stream_post_send(stream, &send, NULL); break;
    case 3: (void)iwarp_stream_post_write(stream, &write, NULL); break;
    case 4: (void)iwarp_stream_post_read(stream, &read, NULL); break;
    case 5: iwarp_stream_disconnect(stream, scene->now); break;
    case 6: iwarp_stream_abort(stream, scene->now); break;
    default:
        iwarp_stream_free(stream);
        scene->streams[choice % STREAMS] = NULL;
        break;
    }
}

static void step(struct scene *scene)
{
    uint8_t choice = next(scene);
    uint16_t sid = choice / 8 % STREAMS;

    scene->now += 1000000;
    switch (choice % 8) {
    case 0:
    case 1: feed(scene); break;
    case 2: make_stream(scene, next(scene)); break;
    case 3:
    case 4: use_stream(scene, next(scene)); break;
    case 5:
        if (scene->outstanding[sid] != 0) {
            scene->outstanding[sid]--;
            iwarp_association_acked(scene->association, sid, 1, scene->now);
        }
        break;
    case 6:
        memset(scene->outstanding, 0, sizeof(scene->outstanding));
        iwarp_association_dry(scene->association, scene->now);
        break;
    default:
        if (choice == 255)
            iwarp_association_close(scene->association, scene->now);
        else if (choice == 247)
            iwarp_association_abort(scene->association, scene->now);
        else if (iwarp_association_deadline(scene->association) != UINT64_MAX) {
            scene->now = iwarp_association_deadline(scene->association);
            iwarp_association_tick(scene->association, scene->now);
        }
        break;
    }
    if ((choice & 64) == 0)
        drain(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iwarp_region region = {.stag = STAG, .length = 4096, .access = 15};
    struct iwarp_association_config config;
    struct iwarp_sctp_init peer = {true, 1, STREAMS, STREAMS};
    struct scene scene = {.now = 1, .at = data, .end = data + size};
    uint8_t options = next(&scene);

    scene.draft = (options & 1) != 0;
    iwarp_association_config_default(&config, scene.draft ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_RFC5043);
    config.held_max = HELD_MAX;
    config.pending_max = PENDING_MAX;
    config.draft_reset_answer = (options & 2) != 0;
    config.draft_version = (options & 4) == 0;
    peer.indication = scene.draft ? 2 : 1;
    scene.device = iwarp_device_new(NULL);
    if (scene.device == NULL)
        abort();
    (void)iwarp_region_register(scene.device, &region, NULL);
    scene.association = iwarp_association_new(scene.device, &config, scene.now, NULL);
    if (scene.association == NULL)
        abort();
    iwarp_association_up(scene.association, &peer, scene.now);
    while (scene.at < scene.end)
        step(&scene);
    drain(&scene);
    if (options & 8)
        iwarp_association_lost(scene.association, scene.now);
    for (size_t i = 0; i < STREAMS && (options & 16) != 0; i++) {
        iwarp_stream_free(scene.streams[i]);
        scene.streams[i] = NULL;
    }
    iwarp_association_free(scene.association);
    for (size_t i = 0; i < STREAMS; i++)
        iwarp_stream_free(scene.streams[i]);
    iwarp_device_free(scene.device);
    return 0;
}
