/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/probe/probe_measure.h"
#include "conformance/engine/show/pics_view.h"
#include "reports/results/member.h"

enum { DEPTH_ASKED = 0x3FFE, PRIVATE_DATA_MOST = 512 };

/* A value that was measured: "" where it could not be. */
struct value {
    char text[PICS_VALUE_ROOM];
    const char *by;
};

static const json_t *startup(const json_t *found, const char *key)
{
    return probe_line(found, "startup", "key", key);
}

/* A start-up of the device as responder that was asked: true where it was accepted, false where it was not. */
static bool was_tried(const json_t *line)
{
    return line != NULL && strncmp(member_text(line, "outcome"), "not asked", 9) != 0;
}

static bool accepted(const json_t *line)
{
    return line != NULL && strcmp(member_text(line, "outcome"), "accepted") == 0;
}

static json_int_t reply(const json_t *line, const char *field)
{
    return json_integer_value(json_object_get(json_object_get(line, "reply"), field));
}

static json_int_t word(const json_t *line, const char *field)
{
    return json_integer_value(json_object_get(json_object_get(json_object_get(line, "reply"), "enhanced"), field));
}

static void yes_or_no(struct value *value, bool yes, const char *by)
{
    (void)snprintf(value->text, sizeof(value->text), "%s", yes ? "yes" : "no");
    value->by = by;
}

static bool enhanced(const json_t *line)
{
    return accepted(line) && reply(line, "S") == 1 && reply(line, "Rev") >= 2;
}

/* The kind of RTR message that this start-up offered, and the Reply names. */
static bool has_rtr(const json_t *found, const char *key, const char *field)
{
    const json_t *line = startup(found, key);

    return enhanced(line) && word(line, "A") == 1 && word(line, field) == 1;
}

/*
 * Measures a setting from a start-up, which shows the present value. The upper tester's report of what the device can
 * do has priority.
 */
static void measure_settings(const char *item, const json_t *found, struct value *value)
{
    static const char by[] = "the Reply to a start-up";
    const json_t *plain = startup(found, "rev1"), *no_crc = startup(found, "no crc"), *rev2 = startup(found, "rev2"),
                 *rev0 = startup(found, "rev0");
    bool send = has_rtr(found, "rtr.send", "B"), write = has_rtr(found, "rtr.write", "C"),
         read = has_rtr(found, "rtr.read", "D");

    if (strcmp(item, "mpa.rev1") == 0 && was_tried(plain))
        yes_or_no(value, accepted(plain), by);
    else if (strcmp(item, "mpa.rev2") == 0 && was_tried(rev2))
        yes_or_no(value, enhanced(rev2), by);
    else if (strcmp(item, "mpa.rev0") == 0 && was_tried(rev0))
        yes_or_no(value, accepted(rev0) && reply(rev0, "Rev") == 0, by);
    else if (strcmp(item, "mpa.markers") == 0 && accepted(plain))
        yes_or_no(value, reply(plain, "M") == 1, "M of its Reply");
    else if (strcmp(item, "mpa.crc_off") == 0 && accepted(no_crc))
        yes_or_no(value, reply(no_crc, "C") == 0, "C of its Reply to C = 0");
    else if (strcmp(item, "mpa.peer_to_peer") == 0 && was_tried(rev2))
        yes_or_no(value, send || write || read, by);
    else if (strcmp(item, "rtr.send") == 0 && was_tried(rev2))
        yes_or_no(value, send, by);
    else if (strcmp(item, "rtr.write") == 0 && was_tried(rev2))
        yes_or_no(value, write, by);
    else if (strcmp(item, "rtr.read") == 0 && was_tried(rev2))
        yes_or_no(value, read, by);
}

static void measure_depth(struct value *value, json_int_t depth, const char *by)
{
    if (depth >= DEPTH_ASKED)
        return; /* a mirror of what was asked, or 0x3FFF: not negotiated (RFC 6581 9) */
    (void)snprintf(value->text, sizeof(value->text), "%" JSON_INTEGER_FORMAT, depth);
    value->by = by;
}

/* A device that only opens connections, and that nobody can ask for anything: it is set as its Request says. */
static void measure_request(const char *item, const json_t *request, struct value *value)
{
    static const char by[] = "its Request";
    const json_t *frame = json_object_get(request, "request"), *word = json_object_get(frame, "enhanced");
    bool second = json_integer_value(json_object_get(frame, "Rev")) == 2;
    static const struct {
        const char *item, *field;
    } flags[] = {{"mpa.peer_to_peer", "A"}, {"rtr.send", "B"}, {"rtr.write", "C"}, {"rtr.read", "D"}};

    if (strcmp(item, "mpa.rev1") == 0 || strcmp(item, "mpa.rev2") == 0)
        yes_or_no(value, second == (item[7] == '2'), by);
    else if (strcmp(item, "mpa.markers") == 0)
        yes_or_no(value, json_integer_value(json_object_get(frame, "M")) == 1, by);
    else if (strcmp(item, "mpa.crc_off") == 0)
        yes_or_no(value, json_integer_value(json_object_get(frame, "C")) == 0, by);
    else if (strcmp(item, "ird") == 0 && word != NULL)
        measure_depth(value, json_integer_value(json_object_get(word, "IRD")), by);
    else if (strcmp(item, "ord") == 0 && word != NULL)
        measure_depth(value, json_integer_value(json_object_get(word, "ORD")), by);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(item, flags[i].item) == 0)
            yes_or_no(value, json_integer_value(json_object_get(word, flags[i].field)) == 1, by);
}

/* What a run learns of the device's own ULP, by the exchanges that were tried; of its limits, where it has some. */
static void measure_ulp(const char *item, const json_t *found, struct value *value)
{
    const json_t *limits = probe_line(found, "ulp", "role", "responder"), *limit;
    const json_t *connections = probe_line(found, "exchange", "name", "connections");

    if (strcmp(item, "ulp.connections") == 0 && json_object_get(connections, "served") != NULL)
        yes_or_no(value, json_is_true(json_object_get(connections, "served")), "two connections at a time");
    if (strcmp(item, "ulp.exchanges") == 0 && json_object_get(limits, "takes_sends") != NULL)
        yes_or_no(value, json_object_get(limits, "ends_after") == NULL, "several exchanges on one connection");
    limit = json_object_get(limits, strcmp(item, "ulp.sends") == 0         ? "takes_sends"
                                    : strcmp(item, "ulp.send_octets") == 0 ? "longest_send"
                                                                           : "");
    if (limit != NULL && json_is_true(json_object_get(limits, "ends_by_ulp"))) {
        (void)snprintf(value->text, sizeof(value->text), "%" JSON_INTEGER_FORMAT, json_integer_value(limit));
        value->by = "Sends that it was not asked for";
    }
}

/* Eight Reads of its ULP were asked for at once, where somebody could be asked. */
static void measure_reads(const json_t *found, struct value *value)
{
    const json_t *open = json_object_get(probe_line(found, "ulp", "role", "responder"), "reads_open");

    if (open != NULL)
        yes_or_no(value, json_integer_value(open) > 1, "eight Reads of its ULP at once");
}

static void measure_item(const char *item, const json_t *found, struct value *value)
{
    const json_t *rev2 = startup(found, "rev2"), *request = startup(found, "request");
    bool any = probe_line(found, "startup", "outcome", "accepted") != NULL;
    bool only_opens = probe_line(found, "tcp", "outcome", "only opens") != NULL;
    static const char largest[] = "the enhanced Reply to the largest depths";

    if (strncmp(item, "ulp.", 4) == 0)
        measure_ulp(item, found, value);
    else if (strcmp(item, "reads_at_once") == 0 && any)
        measure_reads(found, value);
    else if (strcmp(item, "responder") == 0 && any)
        yes_or_no(value, true, "a start-up");
    else if (strcmp(item, "responder") == 0 && only_opens)
        yes_or_no(value, false, "a connection that it refused");
    else if (strcmp(item, "initiator") == 0 && request != NULL && strcmp(member_text(request, "outcome"), "sent") == 0)
        yes_or_no(value, true, "its Request");
    else if (strcmp(item, "ird") == 0 && enhanced(rev2))
        measure_depth(value, word(rev2, "IRD"), largest);
    else if (strcmp(item, "ord") == 0 && enhanced(rev2))
        measure_depth(value, word(rev2, "ORD"), largest);
    else if (strcmp(item, "mpa.private_data") == 0 && accepted(startup(found, "private data"))) {
        (void)snprintf(value->text, sizeof(value->text), "%d", PRIVATE_DATA_MOST);
        value->by = "a start-up";
    } else if (any)
        measure_settings(item, found, value);
    else if (only_opens && request != NULL && strcmp(member_text(request, "outcome"), "sent") == 0)
        measure_request(item, request, value);
}

/* Items that a probe has nothing to do with: other transports, and what `control` answers by itself. */
static bool left_to_others(const char *item)
{
    return strncmp(item, "sctp", 4) == 0 || strncmp(item, "cm", 2) == 0 || strcmp(item, "upper_tester") == 0 ||
           strcmp(item, "ipsec") == 0 || strcmp(item, "instrumented") == 0;
}

int probe_profile_measure(const struct pics *pics, const json_t *reported, json_t *found)
{
    struct pics_view view = {.reported = reported};

    for (size_t i = 0; i < pics_count(pics); i++) {
        const struct pics_item *item = pics_at(pics, i);
        struct value value = {.text = ""};
        json_t *line = json_pack("{s:s, s:s}", "type", "capability", "item", item->name);

        /* A device with an upper tester has that as its ULP. */
        if (left_to_others(item->name) ||
            (reported != NULL && strncmp(item->name, "ulp.", 4) == 0 && strcmp(item->name, "ulp.connections") != 0)) {
            json_decref(line);
            continue;
        }
        if (reported != NULL && pics_reported(&view, item, value.text))
            value.by = "the upper tester";
        else
            measure_item(item->name, found, &value);
        (void)json_object_set_new(line, "measured", json_boolean(value.by != NULL));
        if (value.by != NULL) {
            (void)json_object_set_new(line, "value", json_string(value.text));
            (void)json_object_set_new(line, "by", json_string(value.by));
        } else {
            (void)json_object_set_new(line, "default", json_string(item->value));
        }
        if (json_array_append_new(found, line) != 0)
            return -1;
    }
    return 0;
}

json_t *probe_profile_make(const struct pics *pics, const json_t *base, const json_t *found)
{
    json_t *profile = json_deep_copy(base), *capabilities = json_object_get(profile, "capabilities");
    json_t *questions = json_object();
    const json_t *line;
    char text[1024];
    size_t i;

    if (capabilities == NULL && json_object_set_new(profile, "capabilities", json_object()) == 0)
        capabilities = json_object_get(profile, "capabilities");
    json_array_foreach(found, i, line)
    {
        const char *name = member_text(line, "item"), *value = member_text(line, "value");
        const struct pics_item *item = name != NULL ? pics_find(pics, name) : NULL;

        if (item == NULL)
            continue;
        if (value != NULL)
            (void)json_object_set_new(
                capabilities, name, pics_is_number(item) ? json_integer(strtoll(value, NULL, 10)) : json_string(value));
        if (value != NULL)
            (void)snprintf(text, sizeof(text), "measured by %s", member_text(line, "by"));
        else
            (void)snprintf(text, sizeof(text), "not measured, %s%s: %s",
                           json_object_get(capabilities, name) != NULL ? "the profile's answer counts"
                                                                       : "the default counts: ",
                           json_object_get(capabilities, name) != NULL ? "" : item->fallback, item->question);
        (void)json_object_set_new(questions, name, json_string(text));
    }
    if (json_object_set_new(profile, "questions", questions) == 0)
        return profile;
    json_decref(profile);
    return NULL;
}
