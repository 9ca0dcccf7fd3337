/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A skeleton of an upper tester (docs/upper-tester.md), for a device that has none: copy this file, and fill in what
 * your device can do.
 *
 *     cc -std=c17 -O2 -o skeleton skeleton_main.c -ljansson
 *     ./skeleton 7471 9999
 *
 * As it stands it answers for a device that listens on port 9999 by itself, and of which nothing else can be asked or
 * seen: every other command is answered "unsupported", so that warpcheck skips the checks that need it. Each place
 * where the calls of your device go is marked VENDOR. Fill in one verb after another; each one that you leave out costs
 * the checks that docs/upper-tester.md names for it, and nothing else.
 *
 * Two rules keep verdicts right: never answer "ok" for something that the device did not do, and never report an event
 * that the device did not report to you. Leave out what you do not know: capabilities, event_names, and members of an
 * event.
 *
 * One rule keeps a run going: no verb waits for the peer, which is warpcheck itself and does nothing until the command
 * is answered. `connect` returns before TCP is connected, and `send` before its octets are on the wire; what became of
 * them is an event.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_OCTETS = 65536,
    LINE_MAX_OCTETS = 64 * 1024 * 1024,
    VALUES_MAX = 65536, /* in one command */
    EVENTS_MAX = 65536, /* that wait for `poll` */
};

struct device {
    uint16_t listens_on; /* a port on which it listens without being asked; 0: none */
    json_t *events;
    json_int_t lost;
    /* VENDOR: your handles. */
};

struct reply {
    json_t *json;
    bool failed;
};

/* VENDOR: the events that you report with report(), all of them. A check that waits for another one is skipped. */
static const char *const event_names[] = {NULL};

/* The command is wrong, or the device refused it. It has changed nothing then. */
static void refuse(struct reply *reply, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80) /* a sentence may quote half a character */
            *at = '?';
    if (!reply->failed)
        (void)json_object_set_new(reply->json, "error", json_string(text));
    reply->failed = true;
}

/* The device has no such thing at all: a check that needs it is skipped. */
static void unsupported(struct device *device, const json_t *command, struct reply *reply)
{
    (void)device;
    (void)json_object_set_new(reply->json, "unsupported", json_true());
    refuse(reply, "the device cannot be asked to %.40s", json_string_value(json_object_get(command, "verb")));
}

/* Reports an event: `more` has its members, octets as hexadecimal digits; takes the reference. NULL: it has none. */
__attribute__((unused)) static void report(struct device *device, unsigned stream, const char *event, json_t *more)
{
    json_t *members = more != NULL ? more : json_object();

    (void)json_object_set_new(members, "stream", json_integer(stream));
    (void)json_object_set_new(members, "event", json_string(event));
    if (json_array_size(device->events) < EVENTS_MAX) {
        (void)json_array_append_new(device->events, members);
    } else {
        device->lost++;
        json_decref(members);
    }
}

/* An integer, or a string of one: "42", "0xFF". `fallback` where the member is missing. */
static uint64_t number(const json_t *command, const char *name, uint64_t most, uint64_t fallback, struct reply *reply)
{
    const json_t *member = json_object_get(command, name);
    const char *text = json_string_value(member);
    uint64_t value = (uint64_t)json_integer_value(member);
    bool good = json_is_integer(member) && json_integer_value(member) >= 0;
    char *end;

    if (member == NULL)
        return fallback;
    if (text != NULL && strlen(text) == json_string_length(member) && *text >= '0' && *text <= '9') {
        bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

        errno = 0;
        value = strtoull(text, &end, hex ? 16 : 10);
        good = *end == '\0' && errno == 0;
    }
    if (!good || value > most)
        refuse(reply, "\"%s\" is a number from 0 to %" PRIu64, name, most);
    return value;
}

/* VENDOR: what your device is able to do. Leave out what you do not know: the profile's answer counts then. */
static void verb_capabilities(struct device *device, const json_t *command, struct reply *reply)
{
    json_t *events = json_array();

    (void)device;
    (void)command;
    for (size_t i = 0; event_names[i] != NULL; i++)
        (void)json_array_append_new(events, json_string(event_names[i]));
    (void)json_object_set_new(reply->json, "name", json_string("my-device"));
    (void)json_object_set_new(reply->json, "protocol", json_integer(1));
    (void)json_object_set_new(reply->json, "events", events);
    /* The ULP hears that a stream has ended, not of the Terminate. */
    (void)json_object_set_new(reply->json, "terminate_events", json_false());
    /*
     * "rev" [1], "enhanced", "markers", "crc_off", "p2p", "rtr" ["read"], "ird_max", "ord_max", "private_data_max", ...
     * "one_program" true: the device's stack is part of this program, so that neither ends alone
     * "receive_octets": the length of every receive, if the device ignores the requested length
     */
}

static void verb_poll(struct device *device, const json_t *command, struct reply *reply)
{
    (void)command;
    /* VENDOR: a device that is polled is asked here for what is new: connections, completions. report() each. */
    (void)json_object_set(reply->json, "events", device->events);
    (void)json_object_set_new(reply->json, "lost", json_integer(device->lost));
    json_decref(device->events);
    device->events = json_array();
    device->lost = 0;
}

static void verb_reset(struct device *device, const json_t *command, struct reply *reply)
{
    (void)command;
    (void)reply;
    /* VENDOR: abort all streams, close all listeners that you have opened, free all memory. */
    (void)json_array_clear(device->events);
    device->lost = 0;
}

/*
 * VENDOR: true for an option of listen and connect that you obey, or whose value is the only one that the device has.
 */
static bool option_good(const char *name, const json_t *value)
{
    (void)name;
    (void)value;
    return false; /* for example: strcmp(name, "rev") == 0 && json_integer_value(value) == 1 */
}

static void verb_listen(struct device *device, const json_t *command, struct reply *reply)
{
    uint64_t port = number(command, "port", 65535, 0, reply);
    const char *name;
    json_t *value;

    if (reply->failed)
        return;
    json_object_foreach((json_t *)(uintptr_t)command, name, value)
    {
        if (strcmp(name, "verb") != 0 && strcmp(name, "tag") != 0 && strcmp(name, "port") != 0 &&
            !option_good(name, value)) {
            unsupported(device, command, reply);
            return;
        }
    }
    /*
     * VENDOR: open a listener (port 0: any). Report "accepted" (port) for each connection that it takes, then
     * "established".
     */
    if (port == 0 || port != device->listens_on)
        unsupported(device, command, reply);
    else
        (void)json_object_set_new(reply->json, "port", json_integer((json_int_t)port));
}

#define OPTIONS                                                                                                        \
    " rev enhanced markers crc extensions ird ord p2p rtr private_data accept pd receives receive_octets repost echo " \
    "hold_open private_data_room streaming streaming_octets mpa_role smbd rev0 trace modify_fails emss startup_ms "    \
    "linger_ms completions teardown_ms "

/*
 * Members of reg_mr that few devices have: write one into its line below if the device can register memory that its
 * program may read alone ("mapping": "read_only"; a request for remote writes is refused then) or does not have
 * ("none"; refused), or that it will not write itself ("local_write": false). Without that they are "unsupported".
 */
#define RARE_MEMBERS " local_write mapping "

/* VENDOR: a function of your own in place of unsupported() for each verb that the device can be asked for. */
static const struct verb {
    const char *name;
    void (*run)(struct device *device, const json_t *command, struct reply *reply);
    const char *members; /* that it knows; "verb" and "tag" all know */
} verbs[] = {
    {"capabilities", verb_capabilities, " "},
    {"poll", verb_poll, " "},
    {"reset", verb_reset, " "},
    {"listen", verb_listen, " port" OPTIONS},
    {"unlisten", unsupported, " port "},
    {"connect", unsupported, " address port" OPTIONS}, /* {"stream": number}; then the event "established" */
    {"accept", unsupported, " stream private_data ird ord "},
    {"reject", unsupported, " stream private_data "},
    {"reg_mr", unsupported, " length base access pd stream stag fill data "}, /* {"stag", "base", "length"} */
    {"dereg", unsupported, " stag "},
    {"invalidate", unsupported, " stag "},
    {"mem_read", unsupported, " stag offset length "}, /* {"data", "valid"} */
    {"mem_write", unsupported, " stag offset data "},
    {"post_recv", unsupported, " stream length count id "}, /* of that very length; a consumed one: event "receive" */
    {"bounds", unsupported, " stag length "},               /* peers reach the first `length` octets alone */
    /* The event "send_done" follows. `opcode`: one of the four Sends as it stands, 3 to 6. */
    {"send", unsupported, " stream data length solicited invalidate opcode fence id "},
    {"write", unsupported, " stream stag to data length fence id "},
    {"read", unsupported, " stream source_stag source_to sink_stag sink_to length id "},
    /* Operands are numbers, `data` too; "atomic_done" follows with `value`, "0x" and 16 digits. */
    {"atomic", unsupported, " stream operation stag to data mask compare compare_mask id "},
    {"immediate", unsupported, " stream data solicited id "}, /* 8 octets; "immediate_done" follows */
    {"terminate", unsupported, " stream layer etype code "},  /* without headers, then the end */
    {"disconnect", unsupported, " stream "},
    {"abort", unsupported, " stream "},
    {"status", unsupported, " stream "},
};

/* --- The protocol. Nothing below is yours to change. -------------------------------------------------------------- */

static bool is_one_of(const char *members, const char *member)
{
    char word[64];

    (void)snprintf(word, sizeof(word), " %.60s ", member);
    return strchr(member, ' ') == NULL && member[0] != '\0' && strstr(members, word) != NULL;
}

static bool accepts_member(const struct verb *verb, const char *member)
{
    return strcmp(member, "verb") == 0 || strcmp(member, "tag") == 0 || is_one_of(verb->members, member);
}

static bool is_rare(const struct verb *verb, const char *member)
{
    return strcmp(verb->name, "reg_mr") == 0 && is_one_of(RARE_MEMBERS, member);
}

static void obey(struct device *device, const json_t *command, struct reply *reply)
{
    const char *name = json_string_value(json_object_get(command, "verb"));
    const char *member;
    json_t *value;

    for (size_t i = 0; name != NULL && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(name, verbs[i].name) != 0)
            continue;
        json_object_foreach((json_t *)(uintptr_t)command, member, value)
        {
            if (!accepts_member(&verbs[i], member) && is_rare(&verbs[i], member)) {
                unsupported(device, command, reply);
                return;
            }
            if (!accepts_member(&verbs[i], member)) {
                refuse(reply, "%s has no member \"%.40s\"", name, member);
                return;
            }
        }
        verbs[i].run(device, command, reply);
        return;
    }
    if (name != NULL)
        (void)json_object_set_new(reply->json, "unsupported", json_true());
    refuse(reply, name != NULL ? "unknown verb \"%.40s\"" : "\"verb\" is a text%s", name != NULL ? name : "");
}

static bool too_big(const char *line, size_t octets)
{
    size_t values = 0;

    for (size_t i = 0; i < octets; i++)
        values += line[i] == ',' || line[i] == '[' || line[i] == '{';
    return values > VALUES_MAX;
}

/* One reply line, malloc'd; NULL without memory. */
static char *answer(struct device *device, const char *line, size_t octets)
{
    struct reply reply = {.json = json_object()};
    json_error_t where;
    json_t *command = too_big(line, octets) ? NULL : json_loadb(line, octets, JSON_REJECT_DUPLICATES, &where);
    char *text;

    if (command == NULL)
        refuse(&reply, "not JSON: %.150s", too_big(line, octets) ? "too big" : where.text);
    else if (!json_is_object(command))
        refuse(&reply, "a command is a JSON object");
    else
        obey(device, command, &reply);
    (void)json_object_set_new(reply.json, "ok", json_boolean(!reply.failed));
    if (json_object_get(command, "tag") != NULL)
        (void)json_object_set(reply.json, "tag", json_object_get(command, "tag"));
    text = json_dumps(reply.json, JSON_COMPACT);
    json_decref(command);
    json_decref(reply.json);
    return text;
}

/* False: the client is gone, or memory is short. Takes over `text`. */
static bool say(int client, char *text)
{
    size_t octets = text != NULL ? strlen(text) : 0, at = 0;
    ssize_t sent = 1;

    if (text == NULL)
        return false;
    text[octets++] = '\n'; /* in the place of the end mark */
    for (; at < octets && sent > 0; at += sent > 0 ? (size_t)sent : 0)
        sent = send(client, text + at, octets - at, MSG_NOSIGNAL);
    free(text);
    return at == octets;
}

/* Lines of one client until it goes. getline() would keep an endless line: this one is given up at LINE_MAX_OCTETS. */
static void serve(struct device *device, int client)
{
    size_t count = 0, room = 2 * READ_OCTETS, begin = 0;
    char *line = malloc(room), *end;
    bool skipping = false, good = line != NULL;
    ssize_t got;

    while (good && (got = recv(client, line + count, READ_OCTETS, 0)) > 0) {
        size_t seen = count; /* no newline before this */

        count += (size_t)got;
        for (begin = 0; good && (end = memchr(line + seen, '\n', count - seen)) != NULL; begin = seen) {
            size_t octets = (size_t)(end - line) - begin;

            seen = begin + octets + 1;
            if (!skipping && strspn(line + begin, " \t\r") < octets)
                good = say(client, answer(device, line + begin, octets));
            skipping = false;
        }
        memmove(line, line + begin, count - begin);
        count = skipping ? 0 : count - begin;
        if (count > LINE_MAX_OCTETS) {
            good = say(client, strdup("{\"ok\":false,\"error\":\"the line is too long\"}"));
            skipping = true;
            count = 0;
        } else if (good && room - count < READ_OCTETS) {
            char *grown = realloc(line, room * 2);

            good = grown != NULL;
            line = good ? grown : line;
            room *= 2;
        }
    }
    free(line);
}

int main(int argc, char **argv)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct device device = {.events = json_array()};
    socklen_t size = sizeof(name);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (argc < 2 || argc > 4) {
        (void)fprintf(stderr, "usage: %s CONTROL-PORT [PORT ON WHICH THE DEVICE LISTENS] [CONTROL-ADDRESS]\n", argv[0]);
        return 2;
    }
    name.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    device.listens_on = argc > 2 ? (uint16_t)strtoul(argv[2], NULL, 10) : 0;
    if (argc > 3 && inet_pton(AF_INET, argv[3], &name.sin_addr) != 1)
        return fprintf(stderr, "%s: %s is no IPv4 address\n", argv[0], argv[3]) < 0 ? 1 : 2;
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(listener, (struct sockaddr *)&name, size) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&name, &size) != 0) {
        perror(argv[0]);
        return 1;
    }
    printf("READY control=%u\n", ntohs(name.sin_port));
    (void)fflush(stdout);
    for (;;) {
        int client = accept(listener, NULL, NULL);

        if (client < 0)
            continue;
        serve(&device, client);
        (void)close(client);
    }
}
