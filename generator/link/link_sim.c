/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated world: an event queue (a binary heap of frames under way), two ends, one clock that jumps. */
#include "generator/link/link_sim.h"

#include <stdlib.h>
#include <string.h>

#include "generator/link/random.h"

#define START_NS             UINT64_C(946684800000000000) /* 2000-01-01T00:00:00Z */
#define SMALL_FRAME          1600u                        /* holds any frame of a 1500-octet MTU with tags */
#define SMALL_FRAMES_AT_ONCE 16u
#define FIRST_HEAP           64u
#define STUCK_STEPS          1000000u /* events at one instant, after which a node is taken to be spinning */

/* A frame's storage, pooled by size class; on one list at a time: free, or arrived at end A. */
struct buffer {
    struct buffer *next;
    size_t length;
    bool large;
    uint8_t *octets;
};

/* A block of storage that the buffers were cut from, kept to free it at the end. */
struct chunk {
    struct chunk *next;
    struct buffer buffers[SMALL_FRAMES_AT_ONCE];
    uint8_t octets[];
};

struct event {
    uint64_t time;
    uint64_t order; /* ties: first sent, first delivered */
    struct buffer *buffer;
    enum sim_end to;
};

struct end {
    const struct sim_node_ops *ops; /* NULL: not a node */
    void *node;
};

struct sim {
    struct link link; /* end A; first, so that the link leads back to the world */
    struct sim_config config;
    struct random random;
    uint64_t now;
    uint64_t order;
    uint64_t trace;
    struct end ends[2];
    struct event *heap;
    size_t events;
    size_t heap_capacity;
    struct buffer *free_small;
    struct buffer *free_large;
    struct buffer *arrived_first; /* frames for end A that wait for sim_receive() */
    struct buffer *arrived_last;
    struct buffer *lent; /* what the last receive handed out */
    struct chunk *chunks;
    link_tap *tap;
    void *tap_context;
    uint64_t instant; /* for the guard against a spinning node */
    unsigned steps;
};

static void release_buffer(struct sim *sim, struct buffer *buffer)
{
    struct buffer **list = buffer->large ? &sim->free_large : &sim->free_small;

    buffer->next = *list;
    *list = buffer;
}

/* More storage: many small frames at once, or one that holds any. */
static int grow_pool(struct sim *sim, bool large)
{
    size_t count = large ? 1 : SMALL_FRAMES_AT_ONCE;
    size_t each = large ? LINK_FRAME_CAPACITY : SMALL_FRAME;
    struct chunk *chunk = malloc(sizeof(*chunk) + count * each);

    if (chunk == NULL)
        return -1;
    chunk->next = sim->chunks;
    sim->chunks = chunk;
    for (size_t i = 0; i < count; i++) {
        struct buffer *buffer = &chunk->buffers[i];

        buffer->large = large;
        buffer->length = 0;
        buffer->octets = chunk->octets + i * each;
        release_buffer(sim, buffer);
    }
    return 0;
}

static struct buffer *get_buffer(struct sim *sim, const uint8_t *frame, size_t octets)
{
    bool large = octets > SMALL_FRAME;
    struct buffer **list = large ? &sim->free_large : &sim->free_small;
    struct buffer *buffer;

    if (octets > LINK_FRAME_CAPACITY || (*list == NULL && grow_pool(sim, large) != 0))
        return NULL;
    buffer = *list;
    *list = buffer->next;
    buffer->next = NULL;
    buffer->length = octets;
    memcpy(buffer->octets, frame, octets);
    return buffer;
}

static bool earlier(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static int push_event(struct sim *sim, uint64_t time, struct buffer *buffer, enum sim_end to)
{
    size_t at = sim->events;
    struct event event = {.time = time, .order = sim->order++, .buffer = buffer, .to = to};

    if (at == sim->heap_capacity) {
        size_t capacity = at * 2;
        struct event *heap = realloc(sim->heap, capacity * sizeof(*heap));

        if (heap == NULL)
            return -1;
        sim->heap = heap;
        sim->heap_capacity = capacity;
    }
    sim->events++;
    while (at > 0 && earlier(&event, &sim->heap[(at - 1) / 2])) {
        sim->heap[at] = sim->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    sim->heap[at] = event;
    return 0;
}

static struct event pop_event(struct sim *sim)
{
    struct event first = sim->heap[0];
    struct event last = sim->heap[--sim->events];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= sim->events)
            break;
        if (child + 1 < sim->events && earlier(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (!earlier(&sim->heap[child], &last))
            break;
        sim->heap[at] = sim->heap[child];
        at = child;
    }
    sim->heap[at] = last;
    return first;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ (hash >> 32);
}

static void trace_delivery(struct sim *sim, const struct event *event)
{
    const uint8_t *p = event->buffer->octets;
    size_t left = event->buffer->length;
    uint64_t hash = mix(mix(sim->trace, event->time), (uint64_t)left << 1 | event->to);

    for (; left > 0;) {
        size_t take = left < 8 ? left : 8;
        uint64_t word = 0;

        memcpy(&word, p, take);
        hash = mix(hash, word);
        p += take;
        left -= take;
    }
    sim->trace = hash;
}

static uint64_t travel_time(struct sim *sim, const struct sim_impairment *impairment)
{
    uint64_t latency = sim->config.latency_ns;
    uint64_t extra = impairment->reorder_delay_ns != 0 ? impairment->reorder_delay_ns : 4 * latency;

    if (random_chance(&sim->random, impairment->reorder))
        latency += random_below(&sim->random, extra + 1);
    return latency;
}

int sim_send(struct sim *sim, enum sim_end end, const uint8_t *frame, size_t octets)
{
    const struct sim_impairment *impairment = end == SIM_END_A ? &sim->config.a_to_b : &sim->config.b_to_a;
    enum sim_end to = end == SIM_END_A ? SIM_END_B : SIM_END_A;
    int copies = 1;

    if (random_chance(&sim->random, impairment->loss))
        return 0;
    if (random_chance(&sim->random, impairment->duplicate))
        copies = 2;
    for (; copies > 0; copies--) {
        struct buffer *buffer = get_buffer(sim, frame, octets);

        if (buffer == NULL)
            return -1;
        if (push_event(sim, sim->now + travel_time(sim, impairment), buffer, to) != 0) {
            release_buffer(sim, buffer);
            return -1;
        }
    }
    return 0;
}

int sim_send_from_node(struct sim *sim, const uint8_t *frame, size_t octets)
{
    return sim_send(sim, SIM_END_B, frame, octets);
}

static void deliver(struct sim *sim, struct event event)
{
    struct end *end = &sim->ends[event.to];
    struct buffer *buffer = event.buffer;

    trace_delivery(sim, &event);
    if (sim->tap != NULL)
        sim->tap(sim->tap_context, buffer->octets, buffer->length, event.time, event.to == SIM_END_A);
    if (end->ops != NULL) {
        end->ops->frame(end->node, buffer->octets, buffer->length, event.time);
        release_buffer(sim, buffer);
    } else if (event.to == SIM_END_A) {
        buffer->next = NULL;
        if (sim->arrived_last != NULL)
            sim->arrived_last->next = buffer;
        else
            sim->arrived_first = buffer;
        sim->arrived_last = buffer;
    } else {
        release_buffer(sim, buffer); /* nobody is there */
    }
}

static uint64_t node_deadline(const struct end *end)
{
    return end->ops != NULL && end->ops->deadline != NULL ? end->ops->deadline(end->node) : LINK_NEVER;
}

/* A node that asks for the same instant for ever must not hang the program. */
static bool is_stuck(struct sim *sim)
{
    if (sim->instant != sim->now) {
        sim->instant = sim->now;
        sim->steps = 0;
    }
    return ++sim->steps > STUCK_STEPS;
}

/* One event: the earliest frame or timer up to `limit`. Returns 1, 0 when there is none, -1 when a node spins. */
static int step(struct sim *sim, uint64_t limit)
{
    uint64_t frame_time = sim->events > 0 ? sim->heap[0].time : LINK_NEVER;
    uint64_t a_time = node_deadline(&sim->ends[SIM_END_A]);
    uint64_t b_time = node_deadline(&sim->ends[SIM_END_B]);
    uint64_t timer = a_time < b_time ? a_time : b_time;
    uint64_t next = frame_time < timer ? frame_time : timer;

    if (next == LINK_NEVER || next > limit)
        return 0;
    if (next > sim->now)
        sim->now = next;
    if (is_stuck(sim))
        return iwarp_sentence_set(
            &sim->link.error, "simulation: a node's timer stays at %llu ns for ever; the node must advance or clear it",
            (unsigned long long)sim->now);
    if (frame_time <= timer) {
        deliver(sim, pop_event(sim));
    } else {
        struct end *end = &sim->ends[a_time <= b_time ? SIM_END_A : SIM_END_B];

        end->ops->tick(end->node, sim->now);
    }
    return 1;
}

static void reach_deadline(struct sim *sim, uint64_t deadline_ns)
{
    if (deadline_ns != LINK_NEVER && deadline_ns > sim->now)
        sim->now = deadline_ns;
}

int sim_run_until(struct sim *sim, uint64_t deadline_ns, bool (*done)(void *context), void *context)
{
    uint64_t limit = deadline_ns > sim->now ? deadline_ns : sim->now;

    for (;;) {
        int stepped;

        if (done != NULL && done(context))
            return 1;
        stepped = step(sim, limit);
        if (stepped < 0)
            return -1;
        if (stepped == 0)
            break;
    }
    reach_deadline(sim, deadline_ns);
    return 0;
}

static struct sim *sim_of(struct link *link)
{
    return (struct sim *)link;
}

static int link_sim_send(struct link *link, const uint8_t *frame, size_t octets)
{
    if (sim_send(sim_of(link), SIM_END_A, frame, octets) != 0)
        return iwarp_sentence_set(&link->error,
                                  "simulated link: cannot accept a frame of %zu octets (at most %u, or no memory)",
                                  octets, LINK_FRAME_CAPACITY);
    return 0;
}

static int link_sim_receive(struct link *link, struct link_frame *out, uint64_t deadline_ns)
{
    struct sim *sim = sim_of(link);
    uint64_t limit = deadline_ns > sim->now ? deadline_ns : sim->now;

    if (sim->lent != NULL)
        release_buffer(sim, sim->lent);
    sim->lent = NULL;
    while (sim->arrived_first == NULL) {
        int stepped = step(sim, limit);

        if (stepped < 0)
            return -1;
        if (stepped == 0) {
            reach_deadline(sim, deadline_ns);
            return 0;
        }
    }
    sim->lent = sim->arrived_first;
    sim->arrived_first = sim->lent->next;
    if (sim->arrived_first == NULL)
        sim->arrived_last = NULL;
    out->octets = sim->lent->octets;
    out->length = sim->lent->length;
    out->wire_length = sim->lent->length;
    out->time_ns = sim->now;
    return 1;
}

static uint64_t link_sim_now(struct link *link)
{
    return sim_of(link)->now;
}

static void link_sim_close(struct link *link)
{
    (void)link; /* the world owns its link */
}

static const struct link_ops link_sim_ops = {
    .send = link_sim_send,
    .receive = link_sim_receive,
    .now = link_sim_now,
    .close = link_sim_close,
};

static void configure(struct sim *sim, const struct sim_config *config)
{
    sim->config = *config;
    if (sim->config.latency_ns == 0)
        sim->config.latency_ns = SIM_LATENCY_NS;
    sim->now = config->start_ns != 0 ? config->start_ns : START_NS;
    random_seed(&sim->random, config->seed);
}

struct sim *sim_new(const struct sim_config *config)
{
    struct sim *sim = calloc(1, sizeof(*sim));

    if (sim == NULL)
        return NULL;
    sim->link.ops = &link_sim_ops;
    sim->link.mtu = LINK_ETHERNET_MTU;
    sim->heap_capacity = FIRST_HEAP;
    sim->heap = malloc(FIRST_HEAP * sizeof(*sim->heap));
    if (sim->heap == NULL) {
        free(sim);
        return NULL;
    }
    configure(sim, config);
    return sim;
}

void sim_reset(struct sim *sim, const struct sim_config *config)
{
    while (sim->events > 0)
        release_buffer(sim, sim->heap[--sim->events].buffer);
    while (sim->arrived_first != NULL) {
        struct buffer *buffer = sim->arrived_first;

        sim->arrived_first = buffer->next;
        release_buffer(sim, buffer);
    }
    sim->arrived_last = NULL;
    if (sim->lent != NULL)
        release_buffer(sim, sim->lent);
    sim->lent = NULL;
    memset(sim->ends, 0, sizeof(sim->ends));
    memset(&sim->link, 0, sizeof(sim->link));
    sim->link.ops = &link_sim_ops;
    sim->link.mtu = LINK_ETHERNET_MTU;
    sim->order = sim->trace = 0;
    sim->instant = sim->steps = 0;
    sim->tap = NULL;
    configure(sim, config);
}

void sim_free(struct sim *sim)
{
    if (sim == NULL)
        return;
    while (sim->chunks != NULL) {
        struct chunk *chunk = sim->chunks;

        sim->chunks = chunk->next;
        free(chunk);
    }
    free(sim->heap);
    free(sim);
}

void sim_attach(struct sim *sim, enum sim_end end, const struct sim_node_ops *ops, void *node)
{
    sim->ends[end].ops = ops;
    sim->ends[end].node = node;
}

uint64_t sim_now(const struct sim *sim)
{
    return sim->now;
}

void sim_impair(struct sim *sim, const struct sim_impairment *a_to_b, const struct sim_impairment *b_to_a)
{
    sim->config.a_to_b = *a_to_b;
    sim->config.b_to_a = *b_to_a;
}

struct link *sim_link(struct sim *sim)
{
    return &sim->link;
}

uint64_t sim_trace(const struct sim *sim)
{
    return sim->trace;
}

void sim_tap(struct sim *sim, link_tap *tap, void *context)
{
    sim->tap = tap;
    sim->tap_context = context;
}
