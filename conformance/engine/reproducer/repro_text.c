/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/reproducer/repro_text.h"

#include <inttypes.h>
#include <string.h>

#include "tools/embedded.h"

enum {
    ABOUT_OCTETS = 115,  /* of a line of the head */
    SILENCE_SECONDS = 3, /* how long the device may take for one frame */
    /* The kernel's TCP has an option in each segment (RFC 7323), which the tester's has not; both sides count it in. */
    TIME_STAMP_OCTETS = 12,
};

/* Each block's name in reproducer.c.in, and what it needs. */
static const struct block_row {
    const char *name;
    unsigned any; /* it is there if one of these is */
} rows[] = {
    {"upper", REPRO_UPPER},       {"listen", REPRO_LISTEN},
    {"push", REPRO_PUSH},         {"text", REPRO_TEXT},
    {"fpdu", REPRO_FPDU},         {"crcsame", REPRO_CRC_SAME},
    {"field", REPRO_FIELD},       {"value", REPRO_VALUE | REPRO_ACCEPTED},
    {"accepted", REPRO_ACCEPTED}, {"deliveries", REPRO_DELIVERED},
    {"learn", REPRO_LEARN},       {"connect", REPRO_CONNECT},
};

static bool has_block(const struct repro_writer *writer, const char *name, size_t length)
{
    bool crc = writer->plan->crc[writer->plan->connection];

    if (length == 3 && strncmp(name, "all", 3) == 0)
        return true;
    if (length == 3 && strncmp(name, "crc", 3) == 0 && (writer->blocks & REPRO_FPDU) != 0 && crc)
        return true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
            return (writer->blocks & rows[i].any) != 0;
    return false;
}

/* A line of the fixed parts, with what stands for @NAME@. */
static void write_line(struct repro_writer *writer, const char *line, size_t length)
{
    const struct repro_plan *plan = writer->plan;
    unsigned mss = plan->evidence->connections != NULL ? plan->evidence->connections[plan->connection].mss : 0;

    while (length > 0) {
        if (strncmp(line, "@CONNECTIONS@", 13) == 0)
            fprintf(writer->out, "%zu", plan->kept_count), line += 13, length -= 13;
        else if (strncmp(line, "@MSS@", 5) == 0)
            fprintf(writer->out, "%u", (mss != 0 ? mss : 1460U) + TIME_STAMP_OCTETS), line += 5, length -= 5;
        else if (strncmp(line, "@LIMIT@", 7) == 0)
            fprintf(writer->out, "%u", writer->silence != 0 ? writer->silence : SILENCE_SECONDS), line += 7,
                length -= 7;
        else if (strncmp(line, "@CRC@", 5) == 0)
            fputs(plan->crc[plan->connection] ? "0xffffffff" : "0xffffffff /* CRCs are off */", writer->out), line += 5,
                length -= 5;
        else
            fputc(*line++, writer->out), length--;
    }
}

void repro_write_fixed(struct repro_writer *writer, const char *name)
{
    const struct embedded_file *file = embedded_find(embedded_report_files, embedded_report_file_count, name);
    const char *at = file != NULL ? (const char *)file->octets : "";
    bool wanted = false;

    while (*at != '\0') {
        size_t length = strcspn(at, "\n");

        if (strncmp(at, "//# ", 4) == 0)
            wanted = has_block(writer, at + 4, length - 4);
        else if (wanted)
            write_line(writer, at, length + (at[length] == '\n'));
        at += length + (at[length] == '\n');
    }
}

/* Text of anybody in a comment: plain characters, and neither its end nor a beginning. */
static void write_plain(struct repro_writer *writer, const char *text, size_t room)
{
    for (size_t i = 0; text != NULL && i < room && text[i] != '\0'; i++)
        fputc(text[i] < ' ' || text[i] > '~' || text[i] == '*' || text[i] == '\\' ? '.' : text[i], writer->out);
}

static void write_about(struct repro_writer *writer, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    fprintf(writer->out, " * %-9s ", name);
    write_plain(writer, value, ABOUT_OCTETS);
    fputc('\n', writer->out);
}

void repro_write_head(struct repro_writer *writer, const char *tool, const char *role, const char *arguments)
{
    const struct result *result = writer->plan->result;

    fputs("/*\n * ", writer->out);
    write_plain(writer, result->id, ABOUT_OCTETS / 3);
    fprintf(writer->out, " as %s, frame %" PRIu64 " of ", role, result->frame);
    write_plain(writer, result->evidence, ABOUT_OCTETS / 2);
    fputs(": a reproducer, by ", writer->out);
    write_plain(writer, tool, ABOUT_OCTETS / 3);
    fputc('\n', writer->out);
    write_about(writer, "purpose", result->purpose != NULL ? result->purpose : result->message);
    write_about(writer, "expected", result->expected);
    write_about(writer, "actual", result->actual);
    fprintf(writer->out,
            " * cc -o repro repro.c; ./repro %s; exits with 1: the fault is there, 0: not, 2: not tried\n */\n",
            arguments);
}

/* The head of a reproducer over TCP. */
static void write_head(struct repro_writer *writer, const char *tool)
{
    bool listens = writer->plan->evidence->connections[writer->plan->connection].opened_by_dut;
    bool upper = (writer->blocks & REPRO_UPPER) != 0, needs = (writer->blocks & REPRO_COMPULSORY) != 0;
    char arguments[100];

    (void)snprintf(arguments, sizeof(arguments), "%s PORT%s%s%s", listens ? "OWN-ADDRESS" : "ADDRESS",
                   upper && !needs ? " ["
                   : upper         ? " "
                                   : "",
                   upper ? "CONTROL-ADDRESS CONTROL-PORT [TOKEN]" : "", upper && !needs ? "]" : "");
    repro_write_head(writer, tool, listens ? "initiator" : "responder", arguments);
}

/* What the device and its upper tester choose: numbers of streams, STags, addresses. */
static void write_numbers(struct repro_writer *writer)
{
    const char *before = "    unsigned long ";

    if (writer->streams != 0) {
        fprintf(writer->out, "%sstream[%zu]", before, writer->plan->kept_count);
        before = ", ";
    }
    for (size_t i = 0; i < writer->plan->variable_count; i++) {
        const struct repro_variable *variable = &writer->plan->variables[i];

        if (!variable->used)
            continue;
        fprintf(writer->out, "%sS%u", before, variable->number);
        before = ", ";
        if (variable->base != 0)
            fprintf(writer->out, ", T%u", variable->number);
    }
    if (strcmp(before, ", ") == 0)
        fputs("; /* that the device chooses: streams, STags, addresses */\n", writer->out);
}

/* The beginning of main(): the arguments, and the connection to the upper tester. */
static void write_main(struct repro_writer *writer)
{
    const struct repro_evidence *evidence = writer->plan->evidence;
    const struct repro_connection *connection = &evidence->connections[writer->plan->connection];
    bool listens = connection->opened_by_dut, upper = (writer->blocks & REPRO_UPPER) != 0;

    fprintf(writer->out,
            "int main(int argc, char **argv)\n{\n"
            "    const char *address = argc > 1 ? argv[1] : \"%s\", *port = argc > 2 ? argv[2] : \"%u\";\n",
            listens ? evidence->own : evidence->dut,
            (unsigned)(listens ? connection->own_port : evidence->connections[0].dut_port));
    write_numbers(writer);
    fputs("\n", writer->out);
    if (!upper)
        return;
    fputs("    control = argc > 4 ? fdopen(open_at(argv[3], argv[4], 0), \"r\") : NULL;\n"
          "    (void)(argc > 5 && dprintf(fileno(control), "
          "\"{\\\"verb\\\":\\\"token\\\",\\\"token\\\":\\\"%s\\\"}\\n\", argv[5]) && fgets(reply, 99, control));\n",
          writer->out);
}

void repro_write_file(struct repro_writer *writer, const char *tool, const char *steps)
{
    write_head(writer, tool);
    repro_write_fixed(writer, "reports/assets/reproducer.c.in");
    write_main(writer);
    fputs(steps, writer->out);
}
