/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_pattern.h"

enum {
    SENDS = 7, /* the last one shows that all before it has been placed (RFC 5040 5.5) */
    READS = 4,
    SEND_OCTETS_LEAST = 200,
    SEND_OCTETS_STEP = 37,
    LAST_SEND_OCTETS = 1,
    WRITE_OCTETS = 3000,
    READ_OCTETS = 1000,
    REGION_OCTETS = 4096,
    SOURCE_SEED = 101,
    WRITE_SEED = 55,
    READ_ID = 70,
};

enum end { A, B, ENDS };
enum region { SOURCE, TARGET, SINK, REGIONS }; /* of B, B and A */

struct bridge_exchange {
    struct bridge_exchange_config config;
    json_int_t port;
    bool draft; /* a stream is there for B with its first segment (draft-stewart-rddp-sctp-02) */
    /* of the connection that is open */
    struct upper_side side[ENDS];
    struct upper_region region[REGIONS];
    json_int_t reading; /* the id of the Read that is waited for */
    struct bridge_contents *contents;
    struct iwarp_sentence lost; /* an upper tester that answers nothing any more */
};

static const enum end owner[REGIONS] = {B, B, A};

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static void undecided(struct bridge_exchange *x, enum end end, const char *verb, const char *why)
{
    if (x->contents->undecided.text[0] == '\0')
        (void)iwarp_sentence_set(&x->contents->undecided, "the upper tester of %c: %s: %.300s", "AB"[end], verb, why);
}

/* No answer, and perhaps never any more. */
static void unanswered(struct bridge_exchange *x, enum end end, const char *verb, const char *why)
{
    undecided(x, end, verb, why);
    if (control_gone(x->side[end].control) != NULL && x->lost.text[0] == '\0')
        (void)iwarp_sentence_set(&x->lost, "the upper tester of %c: %.400s", "AB"[end], why);
}

/*
 * The reply, a new reference; takes `request`. NULL: none came, or, if it `must` be obeyed, it was refused: the contents are
 * undecided then. Work may be refused: its stream may have ended.
 */
static json_t *ask(struct bridge_exchange *x, enum end end, json_t *request, bool must)
{
    struct iwarp_sentence why = {{0}};
    json_t *reply = upper_side_call(&x->side[end], request, &why);

    if (reply == NULL) {
        unanswered(x, end, upper_text(request, "verb", ""), why.text);
    } else if (must && !json_is_true(json_object_get(reply, "ok"))) {
        undecided(x, end, upper_text(request, "verb", ""), upper_text(reply, "error", ""));
        json_decref(reply);
        reply = NULL;
    }
    json_decref(request);
    return reply;
}

static json_t *must(struct bridge_exchange *x, enum end end, json_t *request)
{
    return ask(x, end, request, true);
}

static void tell(struct bridge_exchange *x, enum end end, json_t *request)
{
    json_decref(ask(x, end, request, false));
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* How many new ones there are. */
static size_t poll_end(struct bridge_exchange *x, enum end end)
{
    struct iwarp_sentence why = {{0}};
    int count = upper_side_poll(&x->side[end], &why);

    if (count < 0)
        unanswered(x, end, "poll", why.text);
    return count > 0 ? (size_t)count : 0;
}

/* The first event of the end's stream that is one of these, and has this `id` unless 0; none before the stream is known. */
static const json_t *find_any(const struct bridge_exchange *x, enum end end, const char *const *names, json_int_t id)
{
    const struct upper_side *side = &x->side[end];

    return side->stream != 0 ? json_array_get(side->events, upper_side_find(side, names, id)) : NULL;
}

static bool has(const struct bridge_exchange *x, enum end end, const char *name, json_int_t id)
{
    return find_any(x, end, (const char *const[]){name, NULL}, id) != NULL;
}

/* A can ask for nothing more. */
static bool is_over(struct bridge_exchange *x)
{
    return find_any(x, A, (const char *const[]){"closed", "error", "connect_failed", "rejected", NULL}, 0) != NULL;
}

/* B's stream is the one that is established there since A has connected. */
static bool is_accepted(struct bridge_exchange *x)
{
    struct upper_side *side = &x->side[B];
    size_t at = side->stream == 0 ? upper_side_find(side, (const char *const[]){"established", NULL}, 0) : SIZE_MAX;

    if (at != SIZE_MAX)
        side->stream = json_integer_value(json_object_get(json_array_get(side->events, at), "stream"));
    return side->stream != 0;
}

static bool is_established(struct bridge_exchange *x)
{
    return has(x, A, "established", 0);
}

static bool is_closed(struct bridge_exchange *x)
{
    (void)is_accepted(x);
    return (has(x, A, "closed", 0) || has(x, A, "connect_failed", 0)) &&
           (x->side[B].stream == 0 || has(x, B, "closed", 0));
}

static bool is_receive(const struct bridge_exchange *x, const json_t *event)
{
    return x->side[B].stream != 0 && json_integer_value(json_object_get(event, "stream")) == x->side[B].stream &&
           strcmp(upper_text(event, "event", ""), "receive") == 0;
}

/* How many Sends B has got. */
static size_t receives(const struct bridge_exchange *x)
{
    const json_t *event;
    size_t i, count = 0;

    json_array_foreach(x->side[B].events, i, event) count += is_receive(x, event);
    return count;
}

static bool are_received(struct bridge_exchange *x)
{
    return is_accepted(x) && receives(x) >= SENDS;
}

struct until {
    struct bridge_exchange *x;
    bool (*condition)(struct bridge_exchange *);
    bool ends;
};

static int look(void *user, bool *any)
{
    const struct until *until = user;
    struct bridge_exchange *x = until->x;

    for (unsigned end = 0; end < ENDS; end++)
        *any |= poll_end(x, (enum end)end) != 0;
    if (until->condition(x) || (until->ends && is_over(x)))
        return 1;
    return x->lost.text[0] != '\0' || x->config.is_unwanted(x->config.user) ? -1 : 0;
}

/* Until that is so, or, with `ends`, A's stream is over. False: neither came within the limit. */
static bool until(struct bridge_exchange *x, bool (*condition)(struct bridge_exchange *), bool ends)
{
    return upper_side_wait(x->config.seconds, look, &(struct until){x, condition, ends}) > 0;
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static size_t send_octets(size_t index)
{
    return index + 1 < SENDS ? SEND_OCTETS_LEAST + SEND_OCTETS_STEP * index : LAST_SEND_OCTETS;
}

static unsigned send_seed(uint64_t number, size_t index)
{
    return (unsigned)(number * 10 + index);
}

__attribute__((format(printf, 2, 3))) static void wrong(struct bridge_exchange *x, const char *format, ...)
{
    va_list arguments;

    if (x->contents->wrong.text[0] != '\0')
        return;
    va_start(arguments, format);
    (void)vsnprintf(x->contents->wrong.text, sizeof(x->contents->wrong.text), format, arguments);
    va_end(arguments);
}

/* Receives come in the order of the Sends, each once and whole (RFC 5040 5.5, RFC 5041 5.3). Returns how many did. */
static size_t compare_sends(struct bridge_exchange *x, uint64_t number)
{
    const json_t *event;
    size_t i, index = 0;

    json_array_foreach(x->side[B].events, i, event)
    {
        char *sent;

        if (!is_receive(x, event))
            continue;
        if (json_is_false(json_object_get(event, "guarded")))
            wrong(x, "octets around a receive of B have changed");
        sent = index < SENDS ? bridge_pattern(send_seed(number, index), send_octets(index)) : NULL;
        if (sent == NULL || strcmp(upper_text(event, "data", ""), sent) != 0)
            wrong(x, "receive %zu of B is not Send %zu of A", index + 1, index + 1);
        free(sent);
        index++;
    }
    return index;
}

/* The octets of a region; NULL: they were not shown. */
static char *region_text(struct bridge_exchange *x, enum region region)
{
    json_t *reply = must(x, owner[region], json_pack("{s:s, s:I}", "verb", "mem_read", "stag", x->region[region].stag));
    char *text = reply != NULL ? strdup(upper_text(reply, "data", "")) : NULL;

    if (json_is_false(json_object_get(reply, "guarded")))
        wrong(x, "octets around memory of %c have changed", "AB"[owner[region]]);
    if (text != NULL && strlen(text) != (size_t)REGION_OCTETS * 2) {
        undecided(x, owner[region], "mem_read", "another number of octets than was asked for");
        free(text);
        text = NULL;
    }
    json_decref(reply);
    return text;
}

/* Memory of B: what was to be read is as it was; what was written is there, or on its way, and nothing else is. */
static bool compare_target(struct bridge_exchange *x, bool is_due)
{
    char *source = region_text(x, SOURCE), *target = region_text(x, TARGET);
    bool whole = target != NULL && bridge_pattern_is(target, 0, WRITE_OCTETS, WRITE_SEED, false);

    if (source != NULL && !bridge_pattern_is(source, 0, REGION_OCTETS, SOURCE_SEED, false))
        wrong(x, "memory of B that was to be read alone has changed");
    if (target != NULL && !bridge_pattern_is(target, 0, WRITE_OCTETS, WRITE_SEED, true))
        wrong(x, "the RDMA Write put other octets into B's memory than A gave");
    if (target != NULL && !bridge_pattern_zero(target, WRITE_OCTETS, REGION_OCTETS - WRITE_OCTETS))
        wrong(x, "octets behind the RDMA Write's have changed in B's memory");
    if (target != NULL && is_due && !whole)
        wrong(x, "B has got the Send behind the RDMA Write, whose octets are not there (RFC 5040 5.5)");
    free(source);
    free(target);
    return whole;
}

/* Returns how many Reads were done. */
static size_t compare_sink(struct bridge_exchange *x)
{
    char *sink = region_text(x, SINK);
    size_t done = 0;

    for (size_t i = 0; sink != NULL && i < READS; i++) {
        bool is_done = has(x, A, "read_done", READ_ID + (json_int_t)i);

        done += is_done;
        if (!bridge_pattern_is(sink, i * READ_OCTETS, READ_OCTETS, SOURCE_SEED, !is_done))
            wrong(x, "RDMA Read %zu put other octets into A's memory than B has%s", i + 1,
                  is_done ? "" : ", and was not done");
    }
    free(sink);
    return done;
}

static bool has_error(const struct bridge_exchange *x)
{
    static const char *const bad[] = {"error",          "terminate_sent", "terminate_received",
                                      "connect_failed", "rejected",       NULL};

    return find_any(x, A, bad, 0) != NULL || find_any(x, B, bad, 0) != NULL;
}

static void compare(struct bridge_exchange *x, uint64_t number)
{
    size_t sends = compare_sends(x, number), reads;
    bool written = compare_target(x, sends == SENDS);

    reads = compare_sink(x);
    x->contents->complete = sends == SENDS && written && reads == READS && !has_error(x);
    (void)iwarp_sentence_set(&x->contents->seen, "%zu of %d Sends, %s RDMA Write, %zu of %d RDMA Reads", sends, SENDS,
                             written ? "the" : "no whole", reads, READS);
}

/* ---- one connection ---------------------------------------------------------------------------------------------- */

static void register_region(struct bridge_exchange *x, enum region region)
{
    char *text = bridge_pattern(SOURCE_SEED, REGION_OCTETS);
    json_t *reply =
        must(x, owner[region],
             region == SOURCE ? json_pack("{s:s, s:i, s:s}", "verb", "reg_mr", "length", REGION_OCTETS, "data", text)
                              : json_pack("{s:s, s:i, s:i}", "verb", "reg_mr", "length", REGION_OCTETS, "fill", 0));

    free(text);
    upper_region_read(&x->region[region], reply);
    json_decref(reply);
}

/* Octets of a pattern go with the command. */
static void give(struct bridge_exchange *x, json_t *request, unsigned seed, size_t octets)
{
    char *text = bridge_pattern(seed, octets);

    (void)json_object_set_new(request, "data", json_string(text));
    tell(x, A, request);
    free(text);
}

static void send(struct bridge_exchange *x, uint64_t number, size_t index)
{
    give(x, upper_side_work(&x->side[A], "send"), send_seed(number, index), send_octets(index));
}

static bool is_read(struct bridge_exchange *x)
{
    return has(x, A, "read_done", x->reading);
}

static void read_memory(struct bridge_exchange *x, size_t index)
{
    json_t *request = upper_side_read(&x->side[A], &x->region[SOURCE], &x->region[SINK],
                                      (json_int_t)index * READ_OCTETS, READ_OCTETS);

    x->reading = READ_ID + (json_int_t)index;
    (void)json_object_set_new(request, "id", json_integer(x->reading));
    tell(x, A, request);
    (void)until(x, is_read, true);
}

/* The Request goes out; false: not even that. */
static bool connect_stream(struct bridge_exchange *x, json_int_t *association)
{
    json_t *reply;

    for (unsigned region = 0; region < REGIONS; region++)
        register_region(x, (enum region)region);
    if (x->contents->undecided.text[0] != '\0')
        return false;
    for (unsigned end = 0; end < ENDS; end++) {
        (void)poll_end(x, (enum end)end); /* what is left of the one before */
        (void)json_array_clear(x->side[end].events);
    }
    reply = must(x, A, json_pack("{s:s, s:s, s:I}", "verb", "connect", "address", x->config.address, "port", x->port));
    x->side[A].stream = json_integer_value(json_object_get(reply, "stream"));
    *association = json_integer_value(json_object_get(reply, "association"));
    json_decref(reply);
    return x->side[A].stream != 0;
}

/*
 * Sends without waiting for one another; then one Read after another: which of several Reads are answered before a
 * Terminate, no text says (RFC 5040 6.2.1, 7.1).
 */
static void work(struct bridge_exchange *x, uint64_t number)
{
    for (size_t i = 0; i + 1 < SENDS; i++)
        send(x, number, i);
    (void)until(x, is_accepted, true);
    give(x, upper_side_write(&x->side[A], &x->region[TARGET], 0), WRITE_SEED, WRITE_OCTETS);
    for (size_t i = 0; i < READS && !is_over(x); i++)
        read_memory(x, i);
    if (!is_over(x))
        send(x, number, SENDS - 1);
    (void)until(x, are_received, true);
}

static void end_stream(struct bridge_exchange *x)
{
    if (!is_over(x))
        tell(x, A, upper_side_work(&x->side[A], "disconnect"));
    if (until(x, is_closed, false))
        return;
    undecided(x, has(x, A, "closed", 0) ? B : A, "closed", "no end of the stream came in time");
    for (unsigned end = 0; end < ENDS; end++)
        if (x->side[end].stream != 0)
            tell(x, (enum end)end, upper_side_work(&x->side[end], "abort"));
}

int bridge_exchange_run(struct bridge_exchange *x, uint64_t number, struct bridge_contents *contents,
                        struct iwarp_sentence *error)
{
    json_int_t association = 0;

    *contents = (struct bridge_contents){.complete = false};
    x->contents = contents;
    x->side[A].stream = x->side[B].stream = 0;
    if (connect_stream(x, &association)) {
        (void)until(x, is_established, true);
        if (!x->draft)
            (void)until(x, is_accepted, true);
        if (!is_over(x))
            work(x, number);
        end_stream(x);
        compare(x, number);
    }
    if (association != 0) /* which outlives its stream */
        tell(x, A, json_pack("{s:s, s:I}", "verb", "shutdown", "association", association));
    for (unsigned region = 0; region < REGIONS; region++)
        tell(x, owner[region], json_pack("{s:s, s:I}", "verb", "dereg", "stag", x->region[region].stag));
    return x->lost.text[0] == '\0' ? 0 : iwarp_sentence_set(error, "%s", x->lost.text);
}

static bool ask_devices(struct bridge_exchange *x, struct bridge_pair *pair)
{
    json_t *reply = must(x, B, json_pack("{s:s}", "verb", "listen"));

    x->port = json_integer_value(json_object_get(reply, "port"));
    json_decref(reply);
    for (unsigned end = 0; end < ENDS; end++) {
        reply = must(x, (enum end)end, json_pack("{s:s}", "verb", "capabilities"));
        x->draft |= strcmp(upper_text(reply, "sctp_profile", ""), "draft02") == 0;
        pair->listener.sctp |= strcmp(upper_text(reply, "llp", ""), "sctp") == 0;
        pair->swapped[end] = json_is_true(json_object_get(reply, "terminate_swapped"));
        json_decref(reply);
    }
    if (x->port <= 0 || x->port > UINT16_MAX)
        undecided(x, B, "listen", "it does not say where");
    pair->listener.port = (uint16_t)x->port;
    return x->contents->undecided.text[0] == '\0';
}

struct bridge_exchange *bridge_exchange_new(const struct bridge_exchange_config *config, struct bridge_pair *pair,
                                            struct iwarp_sentence *error)
{
    struct bridge_exchange *x = calloc(1, sizeof(*x));
    struct bridge_contents contents = {.complete = false};

    if (x == NULL) {
        (void)iwarp_sentence_set(error, "out of memory");
        return NULL;
    }
    x->config = *config;
    x->contents = &contents;
    for (unsigned end = 0; end < ENDS; end++)
        x->side[end] = (struct upper_side){.control = config->control[end], .events = json_array()};
    if (ask_devices(x, pair))
        return x;
    (void)iwarp_sentence_set(error, "%s", contents.undecided.text);
    bridge_exchange_free(x);
    return NULL;
}

void bridge_exchange_free(struct bridge_exchange *x)
{
    for (unsigned end = 0; x != NULL && end < ENDS; end++)
        json_decref(x->side[end].events);
    free(x);
}
