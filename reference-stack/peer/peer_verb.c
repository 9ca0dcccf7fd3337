/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of the upper tester (docs/upper-tester.md). */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"
#include "reference-stack/peer/peer_memory.h"
#include "base/out_of_memory.h"
#include "wire/depth.h"
#include "wire/terminate.h"

enum { PROTOCOL_VERSION = 1 };

json_t *peer_verb_capabilities(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    (void)command;
    (void)sentence;
    return json_pack("{s:s, s:i, s:[i,i], s:b, s:b, s:b, s:b, s:[s,s,s], s:i, s:i, s:i, s:b, s:b, s:b, s:[s,s,s], s:b, "
                     "s:b, s:b, s:o}",
                     "name", "libiwarp", "protocol", PROTOCOL_VERSION, "rev", 1, 2, "enhanced", 1, "markers", 1,
                     "crc_off", 1, "p2p", 1, "rtr", "send", "write", "read", "ird_max", IWARP_DEPTH_DEFAULT_MAX,
                     "ord_max", IWARP_DEPTH_DEFAULT_MAX, "private_data_max", IWARP_MPA_PRIVATE_DATA_MAX, "atomics", 1,
                     "immediate", 1, "local_invalidate", 1, "extensions", "off", "draft03", "rfc7306", "gather", 1,
                     "one_program", 1, "out_of_order", peer->config.out_of_order, "events", peer_event_names());
}

static json_t *verb_listen(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_options options;
    uint64_t port = 0;
    json_t *number;
    json_t *reply;
    int opened;

    peer_options_default(&options);
    if (upper_number(command, "port", UINT16_MAX, &port, sentence) != 0 ||
        peer_get_options(peer, command, &options, sentence) != 0)
        return NULL;
    reply = peer_reply_number("port", &number, sentence);
    if (reply == NULL)
        return NULL;
    opened = peer_listen(peer, (uint16_t)port, &options, sentence);
    return peer_replied(reply, number, opened);
}

static json_t *verb_unlisten(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    uint64_t port = 0;

    if (upper_require(command, "port", sentence) != 0 ||
        upper_number(command, "port", UINT16_MAX, &port, sentence) != 0 ||
        peer_unlisten(peer, (uint16_t)port, sentence) != 0)
        return NULL;
    return json_true();
}

static json_t *verb_connect(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_options options;
    const char *address = NULL;
    uint64_t port = 0;
    struct peer_stream *ps;
    json_t *number;
    json_t *reply;

    peer_options_default(&options);
    if (upper_require(command, "address", sentence) != 0 || upper_require(command, "port", sentence) != 0 ||
        upper_string(command, "address", &address, sentence) != 0 ||
        upper_number(command, "port", UINT16_MAX, &port, sentence) != 0 ||
        peer_get_options(peer, command, &options, sentence) != 0)
        return NULL;
    reply = peer_reply_number("stream", &number, sentence);
    if (reply == NULL)
        return NULL;
    ps = peer_connect(peer, address, (uint16_t)port, &options, sentence);
    return peer_replied(reply, number, ps == NULL ? -1 : (json_int_t)ps->number);
}

static json_t *decide(struct peer *peer, const json_t *command, bool accept, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t ird = UINT64_MAX;
    uint64_t ord = UINT64_MAX;
    uint8_t *octets;
    size_t count;
    int result;

    if (ps == NULL || upper_number(command, "ird", DEPTH_NOT_NEGOTIATED, &ird, sentence) != 0 ||
        upper_number(command, "ord", DEPTH_NOT_NEGOTIATED, &ord, sentence) != 0 ||
        upper_octets(command, "private_data", IWARP_MPA_PRIVATE_DATA_MAX, &octets, &count, sentence) != 0)
        return NULL;
    if (accept)
        result = iwarp_stream_accept(ps->stream, octets, count, ird == UINT64_MAX ? -1 : (int)ird,
                                     ord == UINT64_MAX ? -1 : (int)ord, peer->now, sentence);
    else
        result = iwarp_stream_reject(ps->stream, octets, count, peer->now, sentence);
    free(octets);
    peer_pump(ps);
    return result != 0 ? NULL : json_true();
}

static json_t *verb_accept(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    return decide(peer, command, true, sentence);
}

static json_t *verb_reject(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    return decide(peer, command, false, sentence);
}

/* --- Memory ------------------------------------------------------------------------------------------------------ */

json_t *peer_access(unsigned access)
{
    json_t *list = json_array();

    for (size_t i = 0; upper_access_words[i] != NULL; i++)
        if ((access & 1U << i) != 0)
            (void)json_array_append_new(list, json_string(upper_access_words[i]));
    return list;
}

static int get_access(const json_t *command, unsigned *access, struct iwarp_sentence *sentence)
{
    unsigned rights = *access;
    bool local_write = true;

    if (upper_words(command, "access", upper_access_words, &rights, sentence) != 0 ||
        upper_flag(command, "local_write", &local_write, sentence) != 0)
        return -1;
    *access = rights | IWARP_LOCAL_READ | IWARP_LOCAL_WRITE;
    if (!local_write)
        *access &= ~(unsigned)IWARP_LOCAL_WRITE;
    return 0;
}

static json_t *verb_reg_mr(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct iwarp_region region = {.access = IWARP_LOCAL_READ | IWARP_LOCAL_WRITE | IWARP_REMOTE_READ |
                                            IWARP_REMOTE_WRITE | IWARP_REMOTE_ATOMIC};
    uint64_t stag = 0;
    uint64_t pd = 0;
    uint64_t stream = 0;
    char base[32];
    json_t *reply;

    if (upper_require(command, "length", sentence) != 0 ||
        upper_number(command, "length", PEER_MESSAGE_MAX * UINT64_C(4), &region.length, sentence) != 0 ||
        upper_number(command, "base", UINT64_MAX, &region.base, sentence) != 0 ||
        upper_number(command, "stag", UINT32_MAX, &stag, sentence) != 0 ||
        upper_number(command, "pd", UINT32_MAX, &pd, sentence) != 0 ||
        upper_number(command, "stream", UINT32_MAX, &stream, sentence) != 0 ||
        get_access(command, &region.access, sentence) != 0 ||
        peer_memory_mapping(peer, command, &region.access, sentence) != 0)
        return NULL;
    if (region.length > peer->config.regions_octets_max - peer->region_octets) {
        (void)iwarp_sentence_set(sentence, "%llu more octets exceed the limit of %zu",
                                 (unsigned long long)region.length, peer->config.regions_octets_max);
        return NULL;
    }
    region.stag = (uint32_t)stag;
    region.pd = (uint32_t)pd;
    region.stream = (uint32_t)stream;
    if (!budget_charge(&peer->budget, region.length)) {
        (void)iwarp_sentence_set(sentence, "%llu more octets exceed the limit of memory",
                                 (unsigned long long)region.length);
        return NULL;
    }
    region.octets = peer_memory_new(peer, region.length);
    if (region.octets == NULL)
        (void)iwarp_sentence_set(sentence, "out of memory for %llu octets", (unsigned long long)region.length);
    if (region.octets == NULL || iwarp_region_register(peer->device, &region, sentence) != 0) {
        if (region.octets != NULL)
            peer_memory_free(peer, region.octets);
        budget_give(&peer->budget, region.length);
        return NULL;
    }
    (void)snprintf(base, sizeof(base), "0x%llx", (unsigned long long)region.base);
    reply = json_pack("{s:I, s:s, s:I, s:b}", "stag", (json_int_t)region.stag, "base", base, "length",
                      (json_int_t)region.length, "guarded", true);
    if (reply == NULL || upper_fill(command, region.octets, region.length, sentence) != 0) {
        (void)iwarp_region_deregister(peer->device, region.stag, NULL);
        peer_memory_free(peer, region.octets);
        budget_give(&peer->budget, region.length);
        json_decref(reply);
        return NULL;
    }
    peer->region_octets += region.length;
    return reply;
}

/* The region that the command names; NULL with a sentence. */
static const struct iwarp_region *region_of(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region;
    uint64_t stag = 0;

    if (upper_require(command, "stag", sentence) != 0 ||
        upper_number(command, "stag", UINT32_MAX, &stag, sentence) != 0)
        return NULL;
    region = iwarp_region_find(peer->device, (uint32_t)stag);
    if (region == NULL)
        (void)iwarp_sentence_set(sentence, "no STag 0x%08llx is registered", (unsigned long long)stag);
    return region;
}

static json_t *verb_dereg(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region = region_of(peer, command, sentence);
    uint8_t *octets;
    uint64_t count;
    uint32_t stag;

    if (region == NULL)
        return NULL;
    octets = region->octets;
    stag = region->stag;
    count = region->registered;
    if (iwarp_region_deregister(peer->device, stag, sentence) != 0)
        return NULL;
    peer->region_octets -= count;
    budget_give(&peer->budget, count);
    if (iwarp_region_find(peer->device, stag) == NULL)
        peer_memory_free(peer, octets);
    return json_true();
}

static json_t *verb_invalidate(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region = region_of(peer, command, sentence);

    if (region == NULL || iwarp_region_invalidate(peer->device, region->stag, sentence) != 0)
        return NULL;
    return json_true();
}

/* The range that peers reach. */
static json_t *verb_bounds(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region = region_of(peer, command, sentence);
    uint64_t length = 0;

    if (region == NULL || upper_require(command, "length", sentence) != 0 ||
        upper_number(command, "length", region->registered, &length, sentence) != 0)
        return NULL;
    if (iwarp_region_set_length(peer->device, region->stag, length, sentence) != 0)
        return NULL;
    return json_true();
}

static json_t *verb_mem_read(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region = region_of(peer, command, sentence);
    uint64_t offset = 0;
    uint64_t length;

    if (region == NULL)
        return NULL;
    if (upper_number(command, "offset", region->length, &offset, sentence) != 0)
        return NULL;
    length = region->length - offset;
    if (upper_number(command, "length", length, &length, sentence) != 0)
        return NULL;
    return json_pack("{s:o, s:b, s:b}", "data", upper_hex(region->octets + offset, length), "valid", region->valid,
                     "guarded", peer_memory_guarded(region->octets));
}

static json_t *verb_mem_write(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region = region_of(peer, command, sentence);
    uint64_t offset = 0;
    uint8_t *octets;
    size_t count;

    if (region == NULL || upper_require(command, "data", sentence) != 0 ||
        upper_number(command, "offset", region->length, &offset, sentence) != 0 ||
        upper_octets(command, "data", region->length - offset, &octets, &count, sentence) != 0)
        return NULL;
    memcpy(region->octets + offset, octets, count);
    free(octets);
    return json_true();
}

/* --- Work -------------------------------------------------------------------------------------------------------- */

int peer_verb_id(const json_t *command, struct peer_work *work, struct iwarp_sentence *sentence)
{
    work->has_id = json_object_get(command, "id") != NULL;
    return upper_number(command, "id", INT64_MAX, &work->id, sentence);
}

struct peer_work *peer_verb_work(struct peer_stream *ps, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_work *work = peer_work_new(ps, 0);

    if (work == NULL) {
        (void)iwarp_sentence_set(sentence, "out of memory");
    } else if (peer_verb_id(command, work, sentence) != 0) {
        peer_work_free(ps, work);
        work = NULL;
    }
    return work;
}

json_t *peer_verb_posted(struct peer_stream *ps, struct peer_work *work, int result)
{
    if (result != 0)
        peer_work_free(ps, work);
    peer_pump(ps);
    return result != 0 ? NULL : json_true();
}

static json_t *verb_post_recv(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t length = PEER_RECEIVE_OCTETS;
    uint64_t count = 1;
    struct peer_work named = {0};

    if (ps == NULL || upper_number(command, "length", PEER_MESSAGE_MAX, &length, sentence) != 0 ||
        peer_verb_id(command, &named, sentence) != 0 || upper_number(command, "count", 65536, &count, sentence) != 0)
        return NULL;
    if (length * count > (uint64_t)4 * PEER_MESSAGE_MAX) {
        (void)iwarp_sentence_set(sentence, "'length' times 'count' is too much memory");
        return NULL;
    }
    if (peer_post_receives(ps, (uint32_t)count, (uint32_t)length, sentence) != 0)
        return NULL;
    for (struct peer_work *work = ps->work; count != 0; work = work->next, count--) {
        work->has_id = named.has_id;
        work->id = named.id;
    }
    peer_pump(ps);
    return json_true();
}

static json_t *verb_read(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct iwarp_read read = {0};
    struct peer_work *work;
    uint64_t sink = 0;
    uint64_t source = 0;
    uint64_t length = 0;

    if (ps == NULL || upper_require(command, "source_stag", sentence) != 0 ||
        upper_number(command, "sink_stag", UINT32_MAX, &sink, sentence) != 0 ||
        upper_number(command, "sink_to", UINT64_MAX, &read.sink_to, sentence) != 0 ||
        upper_number(command, "source_stag", UINT32_MAX, &source, sentence) != 0 ||
        upper_number(command, "source_to", UINT64_MAX, &read.source_to, sentence) != 0 ||
        peer_verb_length(ps, command, UINT32_MAX, &length, sentence) != 0)
        return NULL;
    work = peer_verb_work(ps, command, sentence);
    if (work == NULL)
        return NULL;
    read.sink_stag = (uint32_t)sink;
    read.source_stag = (uint32_t)source;
    read.count = (uint32_t)length;
    read.id = (uint64_t)(uintptr_t)work;
    return peer_verb_posted(ps, work, iwarp_stream_post_read(ps->stream, &read, sentence));
}

/* --- The stream's life ------------------------------------------------------------------------------------------- */

static json_t *verb_terminate(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t layer = 0;
    uint64_t etype = 0;
    uint64_t code = 0;
    int result;

    if (ps == NULL || upper_number(command, "layer", 15, &layer, sentence) != 0 ||
        upper_number(command, "etype", 15, &etype, sentence) != 0 ||
        upper_number(command, "code", 255, &code, sentence) != 0)
        return NULL;
    result = iwarp_stream_terminate(ps->stream, (wire_result)IWARP_TERMINATE_TRIPLE(layer, etype, code), peer->now,
                                    sentence);
    peer_pump(ps);
    return result != 0 ? NULL : json_true();
}

static json_t *verb_disconnect(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);

    if (ps == NULL)
        return NULL;
    iwarp_stream_disconnect(ps->stream, peer->now);
    peer_pump(ps);
    return json_true();
}

static json_t *verb_abort(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_numbered(peer, command, sentence);

    if (ps != NULL && ps->stream == NULL && !ps->dead) {
        peer_give_up(ps);
        return json_true();
    }
    ps = peer_verb_usable(ps, sentence);
    if (ps == NULL)
        return NULL;
    iwarp_stream_abort(ps->stream, peer->now);
    peer_pump(ps);
    return json_true();
}

static json_t *verb_poll(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    json_t *reply = json_pack("{s:O, s:I}", "events", peer->events, "lost", (json_int_t)peer->events_lost);

    (void)command;
    if (reply != NULL && out_of_memory_noted() &&
        json_object_set_new(reply, "out_of_memory", json_integer((json_int_t)out_of_memory_count())) != 0) {
        json_decref(reply);
        reply = NULL;
    }
    if (reply == NULL)
        (void)iwarp_sentence_set(sentence, "out of memory");
    /* They are gone once the reply is a line: a reply that memory is short for loses none. */
    peer->polled = reply != NULL;
    return reply;
}

/* Shown where none is demanded, or once more. */
static json_t *verb_token(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    (void)peer;
    (void)command;
    (void)sentence;
    return json_true();
}

static json_t *verb_reset(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    (void)command;
    return peer_reset(peer, sentence) != 0 ? NULL : json_true();
}

/* clang-format off */
const struct peer_verb_row peer_verbs[] = {
    {"capabilities", peer_verb_capabilities, ""},
    {"listen",       verb_listen,       "port +"},
    {"unlisten",     verb_unlisten,     "port"},
    {"connect",      verb_connect,      "address port +"},
    {"accept",       verb_accept,       "stream private_data ird ord"},
    {"reject",       verb_reject,       "stream private_data"},
    {"reg_mr",       verb_reg_mr,       "length access base pd stream stag fill data local_write mapping"},
    {"dereg",        verb_dereg,        "stag"},
    {"invalidate",   verb_invalidate,   "stag"},
    {"bounds",       verb_bounds,       "stag length"},
    {"mem_read",     verb_mem_read,     "stag offset length"},
    {"mem_write",    verb_mem_write,    "stag offset data"},
    {"post_recv",    verb_post_recv,    "stream length count id"},
    {"send",         peer_verb_send,         "stream data length solicited invalidate opcode fence id"},
    {"write",        peer_verb_write,        "stream stag to data length fence id"},
    {"read",         verb_read,         "stream sink_stag sink_to source_stag source_to length id"},
    {"atomic",       peer_verb_atomic,       "stream operation stag to data mask compare compare_mask id"},
    {"immediate",    peer_verb_immediate,   "stream data solicited id"},
    {"terminate",    verb_terminate,    "stream layer etype code"},
    {"disconnect",   verb_disconnect,   "stream"},
    {"abort",        verb_abort,        "stream"},
    {"poll",         verb_poll,         ""},
    {"status",       peer_verb_status,      "stream"},
    {"mpa",          peer_verb_mpa,     "stream"},
    {"set_emss",     peer_verb_emss,    "stream emss"},
    {"post_ulpdu",   peer_verb_post_ulpdu, "stream length stag"},
    {"regions",      peer_verb_regions, ""},
    {"fault",        peer_verb_fault,   ""},
    {"ddp",          peer_verb_ddp,     "stream"},
    {"msn",          peer_verb_msn,     "stream send receive"},
    {"set_pd",       peer_verb_set_pd,  "stream pd"},
    {"mulpdu",       peer_verb_mulpdu,  "stream mulpdu"},
    {"hold",         peer_verb_hold,    "stream hold"},
    {"catastrophe",  peer_verb_catastrophe, "stream kind"},
    {"placements",   peer_verb_placements, "stream"},
    {"inject",       peer_verb_inject,  "stream data"},
    {"number",       peer_verb_number,  "stag offset value"},
    {"reset",        verb_reset,        ""},
    {"token",        verb_token,        "token"},
    {NULL, NULL, NULL},
};
/* clang-format on */
