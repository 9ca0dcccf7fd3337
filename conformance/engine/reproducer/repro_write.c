/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/reproducer/repro_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "base/text_stream.h"
#include "conformance/engine/reproducer/repro_text.h"
#include "generator/packet/packet.h"
#include "wire/mpa.h"

enum {
    SECONDS_MIN = 2,             /* how long the device may take */
    TERMINATE_TRIPLE_UNTIL = 20, /* octets of the ULPDU: header, then Layer, EType and Error Code (RFC 5040 4.8) */
    OPCODE_TERMINATE = 7,
};

static int refuse(struct repro_writer *writer, const char *why, uint64_t frame)
{
    return iwarp_sentence_set(writer->error, "frame %" PRIu64 " of the evidence: %s", frame, why), 1;
}

static unsigned place_of(const struct repro_writer *writer, unsigned connection)
{
    return (unsigned)writer->plan->place[connection];
}

/*
 * ---- what the device sent -------------------------------------------------------------------------------------------
 */

/* The pattern of what has to come: as it was, or of that kind. malloc'd, NULL without memory. */
static char *pattern_of(struct repro_writer *writer, const struct repro_item *item, bool exact)
{
    size_t count = item->whole ? 2 + (size_t)octets_get16(item->octets) : item->count, until;
    const char *cause = writer->plan->result->cause;
    char kind[] = "......00", *hex, *pattern;
    bool live;

    if (item->start)
        return repro_hex(writer, item->octets, exact ? item->count : MPA_KEY_OCTETS + 1, item->event, NULL);
    if (!exact && item->count > 3) {
        (void)snprintf(kind, sizeof(kind), "......%02x", item->octets[3]);
        return strdup(kind);
    }
    until = item->whole ? count - 2 : item->count > 2 ? item->count - 2 : 0;
    if (item->whole && (item->octets[3] & 15) == OPCODE_TERMINATE && cause != NULL &&
        strncmp(cause, "terminate-0x", 12) == 0 && until > TERMINATE_TRIPLE_UNTIL)
        until = TERMINATE_TRIPLE_UNTIL;
    hex = repro_hex(writer, item->octets + (item->count > 2 ? 2 : 0), until, item->event, &live);
    pattern = hex != NULL ? malloc(strlen(hex) + 5) : NULL;
    if (pattern != NULL)
        (void)sprintf(pattern, "%02x%02x%s", item->octets[0], item->count > 1 ? item->octets[1] : 0, hex);
    if (pattern != NULL && until == TERMINATE_TRIPLE_UNTIL)
        (void)sprintf(pattern, "....%s", hex);
    free(hex);
    return pattern;
}

/* The STag and address in a Read Request of the device. */
static void write_named(struct repro_writer *writer, const struct repro_item *item)
{
    const struct repro_variable *variable =
        item->variable != SIZE_MAX ? &writer->plan->variables[item->variable] : NULL;

    if (variable == NULL || !variable->used)
        return;
    writer->blocks |= REPRO_FIELD;
    fprintf(writer->out, "    S%u = field(20, 4);\n", variable->number);
    if (variable->base != 0)
        fprintf(writer->out, "    T%u = field(24, 8);\n", variable->number);
}

static int write_item(struct repro_writer *writer, size_t index)
{
    const struct repro_plan *plan = writer->plan;
    const struct repro_item *item = &plan->items[index];
    uint64_t frame = plan->evidence->events[item->event].frame;
    bool decisive = plan->decision == REPRO_FRAME && index == plan->item;
    bool exact = decisive || (plan->decision == REPRO_ALL && item->connection == plan->connection);
    char call[40], *pattern;

    if (item->start && (!item->whole || mpa_start_kind_of(item->octets, item->count) < 0))
        return refuse(writer, "the device sends something else than a start-up frame first", frame);
    if (!item->start && !item->whole && !exact)
        return refuse(writer, "the device's FPDU is cut", frame);
    pattern = pattern_of(writer, item, exact && !(item->start && !decisive));
    if (pattern == NULL)
        return iwarp_sentence_set(writer->error, "out of memory");
    (void)snprintf(call, sizeof(call), "come(%u, ", place_of(writer, item->connection));
    repro_write_hex(writer, call, pattern, item->start && !decisive ? ", 2);" : ", 0);");
    repro_write_comment(writer, repro_summary(writer, frame));
    if (exact && !item->start && item->whole && !item->crc_good && plan->crc[item->connection]) {
        writer->blocks |= REPRO_CRC_SAME;
        fputs("    wrong_crc();\n", writer->out);
    }
    write_named(writer, item);
    free(pattern);
    return 0;
}

static int write_came(struct repro_writer *writer, size_t event)
{
    const struct repro_plan *plan = writer->plan;
    const struct repro_event *segment = &plan->evidence->events[event];
    int rc = 0;

    if (segment->count != 0)
        writer->sent_ns[place_of(writer, segment->connection)] = segment->time_ns;
    for (size_t i = 0; rc == 0 && i < plan->item_count; i++) {
        if (plan->items[i].event != event || plan->items[i].connection != segment->connection)
            continue;
        if (plan->decision == REPRO_FRAME && event == plan->cut && i > plan->item)
            break;
        rc = write_item(writer, i);
    }
    if (rc == 0 && event == plan->cut && (plan->decision == REPRO_END || plan->decision == REPRO_ALL) &&
        (segment->flags & (TCP_FLAG_FIN | TCP_FLAG_RST)) != 0) {
        fprintf(writer->out, "    come(%u, \"%s\", 0);", place_of(writer, segment->connection),
                (segment->flags & TCP_FLAG_RST) != 0 ? "RST" : "FIN");
        repro_write_comment(writer, repro_summary(writer, segment->frame));
    }
    return rc;
}

/*
 * ---- connections ----------------------------------------------------------------------------------------------------
 */

static void write_open(struct repro_writer *writer, const struct repro_event *segment)
{
    const struct repro_connection *connection = &writer->plan->evidence->connections[segment->connection];
    unsigned place = place_of(writer, segment->connection);

    if (connection->opened_by_dut) {
        writer->blocks |= REPRO_LISTEN;
        if (!writer->listening)
            fprintf(writer->out, "    int listener = open_at(address, port, 1);\n"
                                 "    printf(\"let the device connect to %%s port %%s\\n\", address, port);\n");
        writer->listening = true;
        if (connection->stream == 0)
            fprintf(writer->out, "    for (int tries = 0; tries < 20 && sock[%u] <= 0; tries++)\n    ", place);
        fprintf(writer->out, "    sock[%u] = accept(listener, NULL, NULL);\n", place);
    } else {
        fprintf(writer->out, "    sock[%u] = open_at(address, port, 0);", place);
        repro_write_comment(writer, repro_summary(writer, segment->frame));
    }
}

static int write_segment(struct repro_writer *writer, size_t event)
{
    const struct repro_event *segment = &writer->plan->evidence->events[event];
    bool opens = (segment->flags & (TCP_FLAG_SYN | TCP_FLAG_ACK)) == TCP_FLAG_SYN;
    unsigned place;
    int rc;

    if (!writer->plan->kept[segment->connection])
        return 0;
    place = place_of(writer, segment->connection);
    if (opens && event == writer->plan->evidence->connections[segment->connection].opened)
        write_open(writer, segment);
    if ((segment->flags & TCP_FLAG_SYN) != 0 && !segment->from_dut)
        writer->sequence[place] = segment->sequence + 1;
    if (segment->from_dut)
        return write_came(writer, event);
    rc = segment->count != 0 ? repro_write_sent(writer, event) : 0;
    if (rc == 0 && (segment->flags & TCP_FLAG_RST) != 0)
        fprintf(writer->out, "    close(sock[%u]);\n", place);
    else if (rc == 0 && (segment->flags & TCP_FLAG_FIN) != 0)
        fprintf(writer->out, "    shutdown(sock[%u], SHUT_WR);\n", place);
    return rc;
}

/*
 * ---- the decision ---------------------------------------------------------------------------------------------------
 */

/* The octets of all Sends that the upper tester reported of the stream since it was opened, each with a space. */
static void write_deliveries(struct repro_writer *writer)
{
    const struct repro_evidence *evidence = writer->plan->evidence;
    const struct repro_connection *connection = &evidence->connections[writer->plan->connection];

    fputs("    delivered(\"", writer->out);
    for (size_t i = connection->opened; i < evidence->count; i++) {
        json_t *happened;
        size_t k;

        if (evidence->events[i].asked == NULL)
            continue;
        json_array_foreach(json_object_get(evidence->events[i].answer, "events"), k, happened)
        {
            const char *name = json_string_value(json_object_get(happened, "event"));
            const char *data = json_string_value(json_object_get(happened, "data"));

            if (name != NULL && strcmp(name, "receive") == 0 && data != NULL &&
                strspn(data, "0123456789abcdef") == strlen(data))
                fprintf(writer->out, "%s ", data);
        }
    }
    fputs("\");\n", writer->out);
}

static void write_memory(struct repro_writer *writer)
{
    const char *actual = writer->plan->result->actual, *hex = strchr(actual, ':') + 2;

    unsigned long at = strtoul(actual + strlen("at offset "), NULL, 10);
    int length = (int)strspn(hex, "0123456789abcdef");

    fprintf(writer->out,
            "    printf(\"%%.200s\\n\", reply);\n"
            "    const char *data = strstr(reply, \"\\\"data\\\"\");\n"
            "    return end_with(data != NULL && strlen(data) > %lu && strncmp(strchr(data + 6, '\"') + %lu, \"%.*s\", "
            "%d) == 0,\n"
            "                    \"what is in memory at %lu\");\n}\n",
            9 + 2 * at + (unsigned long)length, 1 + 2 * at, length, hex, length, at);
}

static void write_decision(struct repro_writer *writer)
{
    const struct repro_plan *plan = writer->plan;

    switch (plan->decision) {
    case REPRO_NOTHING:
        fprintf(writer->out, "    come(%u, \"nothing\", 0);\n", place_of(writer, plan->connection));
        break;
    case REPRO_DELIVERIES:
        writer->blocks |= REPRO_DELIVERED | REPRO_UPPER | REPRO_COMPULSORY;
        write_deliveries(writer);
        break;
    case REPRO_MEMORY:
        writer->blocks |= REPRO_MEMORY_OCTETS | REPRO_UPPER | REPRO_COMPULSORY;
        write_memory(writer);
        break;
    case REPRO_FRAME:
    case REPRO_END:
    case REPRO_ALL: break;
    }
    if (plan->decision == REPRO_MEMORY)
        return;
    fputs("    return end_with(1, \"as it was when the check failed\");\n}\n", writer->out);
}

/* The body of main(): its steps. */
static int write_steps(struct repro_writer *writer)
{
    const struct repro_plan *plan = writer->plan;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i <= plan->cut; i++)
        rc = plan->evidence->events[i].asked != NULL ? repro_write_command(writer, i) : write_segment(writer, i);
    if (rc == 0)
        write_decision(writer);
    return rc;
}

/* The steps as text: twice, since what is used later has to be learnt earlier. */
static int make_steps(struct repro_writer *writer, char **steps)
{
    struct repro_writer begun = *writer;
    size_t size;
    int rc = 0;

    for (unsigned pass = 0; rc == 0 && pass < 2; pass++) {
        free(*steps);
        *steps = NULL;
        begun.blocks = 0;
        begun.streams = writer->streams;
        *writer = begun;
        writer->out = text_stream_open(steps, &size);
        if (writer->out == NULL)
            return iwarp_sentence_set(writer->error, "out of memory");
        rc = write_steps(writer);
        if (!text_stream_close(writer->out, steps))
            rc = iwarp_sentence_set(writer->error, "out of memory");
    }
    return rc;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

int repro_lines_fit(char **text, struct iwarp_sentence *error)
{
    size_t lines = lines_of(*text);

    if (lines <= REPRO_LINES_MAX)
        return 0;
    free(*text);
    *text = NULL;
    return iwarp_sentence_set(error, "it would have %zu lines, more than the %d that such a file may have", lines,
                              REPRO_LINES_MAX),
           1;
}

int repro_write(struct repro_plan *plan, const char *tool, char **text, struct iwarp_sentence *error)
{
    struct repro_writer writer = {.plan = plan, .error = error};
    char *steps = NULL;
    size_t size;
    int rc = make_steps(&writer, &steps);

    *text = NULL;
    if (rc == 0) {
        writer.out = text_stream_open(text, &size);
        if (writer.out == NULL) {
            rc = iwarp_sentence_set(error, "out of memory");
        } else {
            repro_write_file(&writer, tool, steps);
            if (!text_stream_close(writer.out, text))
                rc = iwarp_sentence_set(error, "out of memory");
        }
    }
    free(steps);
    if (rc == 0)
        rc = repro_lines_fit(text, error);
    if (rc != 0) {
        free(*text);
        *text = NULL;
    }
    return rc;
}
