/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sim_traffic.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/splitmix.h"
#include "tests/unit/cut_work.h"

uint64_t sim_draw(struct sim_traffic *traffic, uint64_t below)
{
    return splitmix_next(&traffic->state) % below;
}

void sim_complain(struct traffic_end *end, uint64_t number, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (end->traffic->wrong)
        return;
    end->traffic->wrong = true;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)iwarp_sentence_set(end->traffic->sentence, "%s, message %llu: %s",
                             end->index == 0 ? "responder" : "initiator", (unsigned long long)number, text);
}

/* --- What is expected -------------------------------------------------------------------------------------------- */

/* The n-th Send of the other side. */
static const struct sim_work *nth_send(const struct traffic_end *from, size_t n)
{
    for (size_t i = 0; i < from->work_count; i++)
        if (from->works[i].kind == IWARP_WORK_SEND && n-- == 0)
            return &from->works[i];
    return NULL;
}

static void take_receive(struct traffic_end *end, const struct iwarp_event *event)
{
    const struct sim_work *sent = nth_send(&end->traffic->end[1 - end->index], end->received);

    if (sent == NULL || event->id != end->received || event->octets != sent->count ||
        event->solicited != sent->solicited)
        sim_complain(end, end->received, "a Send of %zu octets to receive %llu", event->octets,
                     (unsigned long long)event->id);
    else if (memcmp(end->receives[event->id], sent->octets, sent->count) != 0)
        sim_complain(end, end->received, "a Send has other octets than were sent");
    end->received++;
}

static void take_done(struct traffic_end *end, const struct iwarp_event *event, enum iwarp_work kind)
{
    const struct sim_work *work = &end->works[end->done];

    if (end->done >= end->work_count || event->id != end->done || work->kind != kind || event->octets != work->count)
        sim_complain(end, end->done, "work %llu of kind %d completed", (unsigned long long)event->id, (int)kind);
    else if (kind == IWARP_WORK_READ &&
             memcmp(end->sink.octets + work->at, end->traffic->end[1 - end->index].source.octets + work->at,
                    work->count) != 0)
        sim_complain(end, end->done, "a Read has other octets than its source");
    end->done++;
}

void sim_take_events(struct traffic_end *end, uint64_t now)
{
    struct iwarp_event event;

    while (iwarp_stream_poll(end->stream, &event)) {
        switch (event.kind) {
        case IWARP_EVENT_RECEIVE: take_receive(end, &event); break;
        case IWARP_EVENT_SEND_DONE: take_done(end, &event, IWARP_WORK_SEND); break;
        case IWARP_EVENT_WRITE_DONE: take_done(end, &event, IWARP_WORK_WRITE); break;
        case IWARP_EVENT_READ_DONE: take_done(end, &event, IWARP_WORK_READ); break;
        case IWARP_EVENT_HALF_CLOSED: iwarp_stream_disconnect(end->stream, now); break;
        case IWARP_EVENT_CLOSED: end->closed = true; break;
        case IWARP_EVENT_ERROR: sim_complain(end, end->done, "an error: %s", event.text); break;
        case IWARP_EVENT_FLUSHED:
            if (event.flushed != IWARP_WORK_RECEIVE)
                sim_complain(end, event.id, "work of kind %d was flushed", (int)event.flushed);
            break;
        default: break;
        }
    }
}

/* Sends have been received by the other side, all else is done. */
bool sim_all_done(const struct sim_traffic *traffic)
{
    for (int i = 0; i < SIM_SIDES; i++) {
        const struct traffic_end *end = &traffic->end[i];

        if (end->done != end->work_count || nth_send(end, traffic->end[1 - i].received) != NULL)
            return false;
    }
    return true;
}

static int region_new(struct traffic_end *end, struct iwarp_region *region, unsigned access, uint64_t base)
{
    *region = (struct iwarp_region){.base = base, .length = SIM_REGION, .access = access};
    return iwarp_region_register(end->device, region, end->traffic->sentence);
}

/* Works that read and write where no other of them does, so that every one can be judged by itself. */
static void plan(struct traffic_end *end)
{
    struct sim_traffic *traffic = end->traffic;
    uint32_t written = 0, read = 0;

    end->work_count = 1 + sim_draw(traffic, SIM_WORKS_MAX - 1);
    for (size_t i = 0; i < end->work_count; i++) {
        struct sim_work *work = &end->works[i];
        uint32_t most = sim_draw(traffic, 3) == 0 ? SIM_MESSAGE_MAX : 300;

        work->kind = (enum iwarp_work)(IWARP_WORK_SEND + sim_draw(traffic, 3));
        work->count = (uint32_t)sim_draw(traffic, most + 1);
        if (work->kind == IWARP_WORK_SEND) {
            work->solicited = sim_draw(traffic, 2) != 0;
        } else if (work->kind == IWARP_WORK_WRITE) {
            /* Later Writes may lie over earlier ones: then the order shows. */
            work->at = sim_draw(traffic, 2) != 0 ? written % (SIM_REGION - SIM_MESSAGE_MAX)
                                                 : (uint32_t)sim_draw(traffic, SIM_REGION - SIM_MESSAGE_MAX);
            written += work->count;
        } else {
            if (read + work->count > SIM_REGION)
                work->count = 0;
            work->at = read;
            read += work->count;
        }
        for (size_t k = 0; k < work->count; k++)
            work->octets[k] = (uint8_t)sim_draw(traffic, 256);
    }
}

int sim_plan(struct sim_traffic *traffic, int index, struct iwarp_device *device)
{
    struct traffic_end *end = &traffic->end[index];

    end->traffic = traffic;
    end->index = index;
    end->device = device;
    if (region_new(end, &end->written, IWARP_REMOTE_WRITE, sim_draw(traffic, UINT64_MAX) << 20) != 0 ||
        region_new(end, &end->source, IWARP_REMOTE_READ, 0 - (uint64_t)SIM_REGION) != 0 ||
        region_new(end, &end->sink, IWARP_LOCAL_WRITE, 4096) != 0)
        return -1;
    for (size_t i = 0; i < SIM_REGION; i++)
        end->source.octets[i] = (uint8_t)sim_draw(traffic, 256);
    plan(end);
    return 0;
}

void sim_post(struct traffic_end *end)
{
    struct traffic_end *other = &end->traffic->end[1 - end->index];
    int result = 0;

    for (size_t i = 0; i < SIM_WORKS_MAX; i++)
        result |= cut_receive(end->stream, i, end->receives[i], SIM_MESSAGE_MAX, sim_draw(end->traffic, UINT64_MAX));
    for (size_t i = 0; i < end->work_count; i++) {
        struct sim_work *work = &end->works[i];

        if (work->kind != IWARP_WORK_READ) {
            struct iwarp_send send = {
                .id = i, .octets = work->octets, .count = work->count, .solicited = work->solicited};
            struct iwarp_write write = {.id = i,
                                        .octets = work->octets,
                                        .count = work->count,
                                        .stag = other->written.stag,
                                        .to = other->written.base + work->at};
            uint64_t chance = sim_draw(end->traffic, UINT64_MAX);

            result |= work->kind == IWARP_WORK_SEND ? cut_send(end->stream, &send, chance)
                                                    : cut_write(end->stream, &write, chance);
            if (work->kind == IWARP_WORK_WRITE && work->count != 0)
                memcpy(other->model + work->at, work->octets, work->count);
        } else {
            struct iwarp_read read = {i,
                                      end->sink.stag,
                                      end->sink.base + work->at,
                                      other->source.stag,
                                      other->source.base + work->at,
                                      work->count};

            result |= iwarp_stream_post_read(end->stream, &read, NULL);
        }
    }
    if (result != 0)
        sim_complain(end, 0, "work is not taken");
}

void sim_judge(struct sim_traffic *traffic)
{
    for (int i = 0; i < SIM_SIDES; i++) {
        struct traffic_end *end = &traffic->end[i];
        size_t sends = 0;

        while (nth_send(&traffic->end[1 - i], sends) != NULL)
            sends++;
        if (!end->closed)
            sim_complain(end, end->done, "the stream is not closed after an hour");
        if (end->done != end->work_count || end->received != sends)
            sim_complain(end, end->done, "%zu of %zu works are done, %zu of %zu Sends received", end->done,
                         end->work_count, end->received, sends);
        if (memcmp(end->model, end->written.octets, SIM_REGION) != 0)
            sim_complain(end, end->done, "Writes have left other octets than they should");
    }
}
