/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands to the upper tester in a reproducer: those that the kept connections need, with live numbers. */
#include "conformance/engine/reproducer/repro_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LITERAL_LINE = 118, ARGUMENTS_OCTETS = 400, MARK_OCTETS = 16 };

/* What stands for a member of the request: a mark in it, a conversion, and its argument. */
struct substitution {
    struct repro_writer *writer;
    json_t *request; /* a copy */
    size_t event;
    char formats[10][8];
    char arguments[10][48];
    unsigned count;
    bool refused;
};

static bool is(const char *verb, const char *const *verbs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(verb, verbs[i]) == 0)
            return true;
    return false;
}

#define IS(verb, list) is(verb, list, sizeof(list) / sizeof((list)[0]))

static const char *const questions[] = {"poll", "capabilities", "token",  "status",     "mpa",
                                        "ddp",  "regions",      "number", "placements", "reset"};
static const char *const of_memory[] = {"dereg", "invalidate", "bounds", "mem_write"};

/* The member becomes "@N@", which is written as `format` with this argument. */
static void substitute(struct substitution *to, const char *member, const char *format, const char *argument)
{
    char mark[MARK_OCTETS];

    if (to->count == 10)
        return;
    (void)snprintf(mark, sizeof(mark), "@%u@", to->count);
    (void)snprintf(to->formats[to->count], sizeof(to->formats[0]), "%s", format);
    (void)snprintf(to->arguments[to->count], sizeof(to->arguments[0]), "%s", argument);
    (void)json_object_set_new(to->request, member, json_string(mark));
    to->count++;
}

static void substitute_stag(struct substitution *to, const char *stag, const char *address)
{
    const json_t *value = json_object_get(to->request, stag), *where = json_object_get(to->request, address);
    struct repro_variable *variable = NULL;
    char argument[48];
    uint64_t at =
        json_is_string(where) ? strtoull(json_string_value(where), NULL, 0) : (uint64_t)json_integer_value(where);

    if (json_is_integer(value))
        variable = repro_plan_variable(to->writer->plan, (uint32_t)json_integer_value(value), false, to->event);
    if (variable == NULL)
        return;
    if (!repro_plan_use(to->writer->plan, variable)) {
        to->refused = true;
        return;
    }
    (void)snprintf(argument, sizeof(argument), "S%u", variable->number);
    substitute(to, stag, "%lu", argument);
    if (where == NULL || variable->base == 0 || at - variable->base >= UINT64_C(1) << 32)
        return;
    (void)snprintf(argument, sizeof(argument), "T%u + %" PRIu64, variable->number, at - variable->base);
    substitute(to, address, "\\\"%lu\\\"", argument);
}

/* The request as the octets of a C string, with conversions; lines are broken. */
static void write_literal(struct substitution *to)
{
    char *text = json_dumps(to->request, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_SORT_KEYS);
    FILE *out = to->writer->out;
    size_t used = 0;

    for (const char *at = text != NULL ? text : ""; *at != '\0'; at++) {
        unsigned index;
        int length = 0;

        if (used++ >= LITERAL_LINE && strchr("\"\\", *at) == NULL && at[-1] != '\\') {
            fputs("\"\n        \"", out);
            used = 0;
        }
        if (sscanf(at, "\"@%u@\"%n", &index, &length) == 1 && length > 0 && index < to->count) {
            fputs(to->formats[index], out);
            at += length - 1;
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else {
            fprintf(out, *at == '%' && to->count > 0 ? "%%%%" : "%c", *at);
        }
    }
    free(text);
}

/* ask("...", arguments); */
static void write_ask(struct substitution *to)
{
    unsigned indexes[10], count = 0;
    char *text = json_dumps(to->request, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_SORT_KEYS);

    for (const char *at = text; at != NULL && (at = strstr(at, "\"@")) != NULL; at++)
        if (count < 10 && sscanf(at, "\"@%u@\"", &indexes[count]) == 1 && indexes[count] < to->count)
            count++;
    fputs(count > 0 ? "    ask(TEXT(\"" : "    ask(\"", to->writer->out);
    if (count > 0)
        to->writer->blocks |= REPRO_TEXT;
    write_literal(to);
    fputs("\"", to->writer->out);
    for (unsigned i = 0; i < count; i++)
        fprintf(to->writer->out, ", %s", to->arguments[indexes[i]]);
    fputs(count > 0 ? "));\n" : ");\n", to->writer->out);
    free(text);
}

/* Is this listener that of a connection which is opened next on its port? */
static bool listens_for_kept(const struct repro_plan *plan, size_t event)
{
    const struct repro_evidence *evidence = plan->evidence;
    json_int_t port = json_integer_value(json_object_get(evidence->events[event].answer, "port"));

    for (size_t i = 0; i < evidence->connection_count; i++) {
        const struct repro_connection *connection = &evidence->connections[i];

        if (connection->opened_by_dut || connection->dut_port != port || connection->opened < event)
            continue;
        for (size_t k = event + 1; k < connection->opened; k++) {
            const char *verb = json_string_value(json_object_get(evidence->events[k].asked, "verb"));

            if (verb != NULL && strcmp(verb, "listen") == 0 &&
                json_integer_value(json_object_get(evidence->events[k].answer, "port")) == port)
                return false; /* that one comes later */
        }
        return plan->kept[i];
    }
    return false;
}

static int write_listen(struct substitution *to)
{
    if (!listens_for_kept(to->writer->plan, to->event))
        return 0;
    to->writer->blocks |= REPRO_UPPER | REPRO_VALUE;
    (void)json_object_del(to->request, "port");
    fputs("    if (control != NULL) {\n        static char at[16];\n    ", to->writer->out);
    write_ask(to);
    fputs("        (void)snprintf(at, sizeof(at), \"%u\", (unsigned)value(\"\\\"port\\\"\", reply));\n"
          "        port = at;\n    }\n",
          to->writer->out);
    return 0;
}

static int write_connect(struct substitution *to)
{
    struct repro_writer *writer = to->writer;
    const struct repro_connection *connection =
        repro_plan_stream(writer->plan, json_object_get(writer->plan->evidence->events[to->event].answer, "stream"));
    unsigned place;

    if (connection == NULL)
        return 0;
    place = (unsigned)writer->plan->place[connection - writer->plan->evidence->connections];
    substitute(to, "address", "\\\"%s\\\"", "address");
    substitute(to, "port", "%s", "port");
    if (!writer->listening)
        fputs("    int listener = open_at(address, port, 1);\n", writer->out);
    writer->listening = true;
    writer->blocks |= REPRO_UPPER | REPRO_COMPULSORY | REPRO_LISTEN;
    write_ask(to);
    writer->number_known[place] = true;
    if ((writer->streams & 1U << place) != 0) {
        writer->blocks |= REPRO_VALUE;
        fprintf(writer->out, "    stream[%u] = value(\"\\\"stream\\\"\", reply);\n", place);
    }
    return 0;
}

/* The number of the stream as a member of the request; false: the stream is not kept. */
static bool name_stream(struct substitution *to)
{
    struct repro_writer *writer = to->writer;
    const struct repro_connection *connection = repro_plan_stream(writer->plan, json_object_get(to->request, "stream"));
    char argument[32];
    unsigned place;

    if (connection == NULL)
        return false;
    place = (unsigned)writer->plan->place[connection - writer->plan->evidence->connections];
    writer->streams |= 1U << place;
    if (!writer->number_known[place]) {
        writer->blocks |= REPRO_ACCEPTED | REPRO_VALUE;
        fprintf(writer->out, "    stream[%u] = accepted();\n", place);
    }
    writer->number_known[place] = true;
    (void)snprintf(argument, sizeof(argument), "stream[%u]", place);
    substitute(to, "stream", "%lu", argument);
    return true;
}

/* An answer that names what the device chose. */
static void write_learnt(struct repro_writer *writer, size_t event)
{
    for (size_t i = 0; i < writer->plan->variable_count; i++) {
        const struct repro_variable *variable = &writer->plan->variables[i];

        if (variable->event != event || !variable->used)
            continue;
        writer->blocks |= REPRO_VALUE;
        fprintf(writer->out, "    S%u = value(\"\\\"stag\\\"\", reply)", variable->number);
        if (variable->base != 0)
            fprintf(writer->out, ", T%u = value(\"\\\"base\\\"\", reply)", variable->number);
        fputs(";\n", writer->out);
    }
}

static bool says_what_is_used(const struct repro_plan *plan, size_t event)
{
    for (size_t i = 0; i < plan->variable_count; i++)
        if (plan->variables[i].event == event && plan->variables[i].used)
            return true;
    return false;
}

static bool is_of_used_memory(struct repro_plan *plan, size_t event)
{
    const json_t *stag = json_object_get(plan->evidence->events[event].asked, "stag");
    const struct repro_variable *variable =
        json_is_integer(stag) ? repro_plan_variable(plan, (uint32_t)json_integer_value(stag), false, event) : NULL;

    return variable != NULL && variable->used;
}

static int write_other(struct substitution *to, const char *verb)
{
    struct repro_writer *writer = to->writer;
    bool memory = strcmp(verb, "reg_mr") == 0, reads = strcmp(verb, "mem_read") == 0;

    if (reads && (writer->plan->decision != REPRO_MEMORY || to->event != writer->plan->memory))
        return 0;
    if (memory && !says_what_is_used(writer->plan, to->event))
        return 0;
    if (IS(verb, of_memory) && !is_of_used_memory(writer->plan, to->event))
        return 0;
    if (json_object_get(to->request, "stream") != NULL) {
        if (!name_stream(to))
            return 0;
    } else if (!memory && !reads && !IS(verb, of_memory)) {
        return iwarp_sentence_set(writer->error, "it needs the upper tester's \"%.40s\"", verb), 1;
    }
    if (!memory)
        substitute_stag(to, "stag", "to");
    substitute_stag(to, "sink_stag", "sink_to");
    substitute_stag(to, "invalidate", "");
    if (to->refused)
        return iwarp_sentence_set(writer->error, "it needs more than %d regions of memory", REPRO_VARIABLES_MAX), 1;
    writer->blocks |= REPRO_UPPER | REPRO_COMPULSORY;
    write_ask(to);
    write_learnt(writer, to->event);
    return 0;
}

/* Does somebody's text look like one of the marks of substitute()? */
static bool has_marks(const json_t *request)
{
    char *text = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
    bool found = text == NULL || strstr(text, "\"@") != NULL;

    free(text);
    return found;
}

int repro_write_command(struct repro_writer *writer, size_t event)
{
    const struct repro_event *command = &writer->plan->evidence->events[event];
    const char *verb = json_string_value(json_object_get(command->asked, "verb"));
    struct substitution to = {.writer = writer, .request = json_deep_copy(command->asked), .event = event};
    int rc;

    if (to.request == NULL)
        return iwarp_sentence_set(writer->error, "out of memory");
    if (has_marks(to.request))
        rc = (iwarp_sentence_set(writer->error, "a command of the upper tester cannot be written in C"), 1);
    else if (verb == NULL || IS(verb, questions) || !json_is_true(json_object_get(command->answer, "ok")))
        rc = 0;
    else if (strcmp(verb, "listen") == 0)
        rc = write_listen(&to);
    else if (strcmp(verb, "connect") == 0)
        rc = write_connect(&to);
    else
        rc = write_other(&to, verb);
    json_decref(to.request);
    return rc;
}
