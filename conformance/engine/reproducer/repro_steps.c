/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/reproducer/repro_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "base/text_stream.h"
#include "generator/packet/packet.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

enum {
    COMMENT_OCTETS = 60,
    REST_MS_MIN = 2, /* a shorter time between two segments is no part of what is tried */
    REST_MS_MAX = 5000,
    PIECE_MS = 100, /* so that TCP hands the pieces of an FPDU over one by one */
    NS_IN_MS = 1000000,
};

/* The arguments of text() for what the device chose: the part between bars, as it is written. */
static void write_arguments(struct repro_writer *writer, const char *hex)
{
    for (const char *bar = hex; (bar = strchr(bar, '|')) != NULL; bar = strchr(bar + 1, '|') + 1)
        fprintf(writer->out, ", %.*s", (int)strcspn(bar + 1, "|"), bar + 1);
}

void repro_write_hex(struct repro_writer *writer, const char *call, const char *hex, const char *end)
{
    bool live = strchr(hex, '|') != NULL;
    size_t used = strlen(call) + 8;

    if (live)
        writer->blocks |= REPRO_TEXT;
    fprintf(writer->out, "    %s%s\"", call, live ? "TEXT(" : "");
    for (const char *at = hex; *at != '\0';) {
        if (used >= REPRO_HEX_LINE) {
            fputs("\"\n           \"", writer->out);
            used = 0;
        }
        if (*at == '|') {
            fputs(at[1] == 'S' ? "%08lx" : "%016lx", writer->out);
            at = strchr(at + 1, '|') + 1;
            used += 6;
        } else {
            fprintf(writer->out, "%.2s", at);
            at += 2;
            used += 2;
        }
    }
    fputc('"', writer->out);
    if (live)
        write_arguments(writer, hex);
    fprintf(writer->out, "%s%s", live ? ")" : "", end);
}

void repro_write_comment(struct repro_writer *writer, const char *text)
{
    if (text[0] != '\0') {
        fputs(" /* ", writer->out);
        for (size_t i = 0; i < COMMENT_OCTETS && text[i] != '\0'; i++)
            fputc(text[i] < ' ' || text[i] > '~' || text[i] == '*' || text[i] == '\\' ? '.' : text[i], writer->out);
        fputs(strlen(text) > COMMENT_OCTETS ? "... */" : " */", writer->out);
    }
    fputc('\n', writer->out);
}

const char *repro_summary(const struct repro_writer *writer, uint64_t frame)
{
    json_t *step;
    size_t i;

    json_array_foreach(writer->plan->result->steps, i, step)
    {
        const char *summary = json_string_value(json_object_get(step, "summary"));

        if (summary != NULL && (uint64_t)json_integer_value(json_object_get(step, "frame")) == frame)
            return summary;
    }
    return "";
}

static int refuse(struct repro_writer *writer, uint64_t frame, const char *why)
{
    return iwarp_sentence_set(writer->error, "frame %" PRIu64 " of the evidence %s", frame, why), 1;
}

/*
 * ---- what the device chose, in octets -------------------------------------------------------------------------------
 */

/*
 * Where headers have an STag, in a ULPDU, with the address of its memory behind it where there is one: the tagged
 * header and Invalidate STag (RFC 5041 4.2, RFC 5040 4.1), sink and source of a Read Request (4.4), an atomic's (RFC
 * 7306 5.2.1); the same in what a Terminate quotes (4.8).
 */
static const size_t stag_places[] = {2, 18, 26, 34, 42, 58};

/* Does the device choose the field at `at` in this frame itself? Its own Read Request's sink, untold until now. */
static bool is_new(const struct repro_writer *writer, const uint8_t *octets, size_t at, size_t event)
{
    for (size_t i = 0; i < writer->plan->variable_count; i++)
        if (writer->plan->variables[i].event == event && at == 18 &&
            writer->plan->evidence->events[event].asked == NULL &&
            writer->plan->variables[i].stag == octets_get32(octets + at))
            return true;
    return false;
}

static bool is_place(size_t at)
{
    for (size_t i = 0; i < sizeof(stag_places) / sizeof(stag_places[0]); i++)
        if (stag_places[i] == at)
            return true;
    return false;
}

/* Puts what stands for an STag, and for the address behind it. How many octets that are; 0: no such thing. */
static size_t write_variable(struct repro_writer *writer, FILE *out, const uint8_t *at, size_t count,
                             struct repro_variable *variable)
{
    uint32_t stag = octets_get32(at);
    uint64_t offset;

    if (variable == NULL || !repro_plan_use(writer->plan, variable))
        return 0;
    fprintf(out, stag == variable->stag ? "|S%u|" : "|S%u ^ 0x%02" PRIx32 "|", variable->number, stag ^ variable->stag);
    if (count < 12 || variable->base == 0)
        return 4;
    offset = octets_get64(at + 4) - variable->base;
    if (offset + (UINT64_C(1) << 32) >= UINT64_C(1) << 33)
        return 4;
    fprintf(out, offset == 0 ? "|T%u|" : "|T%u + 0x%" PRIx64 "|", variable->number, offset);
    return 12;
}

char *repro_hex(struct repro_writer *writer, const uint8_t *octets, size_t count, size_t event, bool *live)
{
    bool from_dut = writer->plan->evidence->events[event].from_dut;
    char *text = NULL;
    size_t size;
    FILE *out = text_stream_open(&text, &size);

    if (live != NULL)
        *live = false;
    for (size_t at = 0; out != NULL && at < count;) {
        size_t done = 0;

        if (live != NULL && is_place(at) && count - at >= 4) {
            done = write_variable(writer, out, octets + at, count - at,
                                  repro_plan_variable(writer->plan, octets_get32(octets + at), !from_dut, event));
            *live |= done != 0;
            if (done == 0 && from_dut && is_new(writer, octets, at, event) && count - at >= 12)
                done = 12, fputs("........................", out);
        }
        if (done == 0)
            fprintf(out, "%02x", octets[at]), done = 1;
        at += done;
    }
    return out != NULL && text_stream_close(out, &text) ? text : NULL;
}

/* Does an STag of the device stand somewhere in these octets? */
static bool has_stag(const struct repro_writer *writer, const uint8_t *octets, size_t count, size_t event)
{
    for (size_t i = 0; i < writer->plan->variable_count; i++)
        for (size_t at = 0; at + 4 <= count; at++)
            if (writer->plan->variables[i].event < event && writer->plan->variables[i].stag >> 16 != 0 &&
                octets_get32(octets + at) == writer->plan->variables[i].stag)
                return true;
    return false;
}

/*
 * ---- what the tester sent -------------------------------------------------------------------------------------------
 */

/* `last`: the last of its segment, which is sent with it. */
static int write_raw(struct repro_writer *writer, const uint8_t *octets, size_t count, bool last)
{
    char *hex = repro_hex(writer, octets, count, 0, NULL);

    if (hex == NULL)
        return iwarp_sentence_set(writer->error, "out of memory");
    repro_write_hex(writer, last ? writer->push : "octets(", hex, ");");
    if (!last)
        fputc('\n', writer->out);
    writer->pushed = last;
    free(hex);
    return 0;
}

/* A whole FPDU, whose CRC has to be computed where it holds what the device chose. */
static int write_fpdu(struct repro_writer *writer, const uint8_t *octets, size_t count, size_t event)
{
    const struct repro_event *segment = &writer->plan->evidence->events[event];
    size_t length = octets_get16(octets);
    const uint8_t *crc = octets + count - FPDU_CRC_OCTETS;
    uint32_t right = writer->plan->crc[segment->connection] ? crc32c(octets, count - FPDU_CRC_OCTETS) : 0;
    char *hex;
    bool live = false;
    int rc = 0;

    hex = repro_hex(writer, octets + FPDU_LENGTH_OCTETS, length, event, &live);
    if (hex == NULL)
        return iwarp_sentence_set(writer->error, "out of memory");
    if (!live) {
        rc = write_raw(writer, octets, count, octets + count == segment->octets + segment->count);
    } else if (writer->plan->crc[segment->connection] != writer->plan->crc[writer->plan->connection]) {
        rc = refuse(writer, segment->frame, "is of a connection with another choice of CRCs");
    } else {
        writer->blocks |= REPRO_FPDU;
        repro_write_hex(writer, "fpdu(", hex, ");");
        fputc('\n', writer->out);
        for (unsigned i = 0; i < FPDU_CRC_OCTETS; i++)
            if ((crc[i] ^ (uint8_t)(right >> 8 * i)) != 0)
                fprintf(writer->out, "    out[outs - %u] ^= 0x%02x; /* a wrong CRC */\n", FPDU_CRC_OCTETS - i,
                        (unsigned)(crc[i] ^ (uint8_t)(right >> 8 * i)));
    }
    free(hex);
    return rc;
}

/* Octets of the frame that begins here, at most `count`: then it is cut. */
static size_t frame_octets(const struct repro_writer *writer, unsigned place, const uint8_t *at, size_t count)
{
    if (!writer->began[place])
        return count < MPA_START_OCTETS ? count : MPA_START_OCTETS + (size_t)octets_get16(at + 18);
    return count < FPDU_LENGTH_OCTETS ? 0 : fpdu_content(octets_get16(at));
}

/* The frames of a segment. */
static int write_frames(struct repro_writer *writer, size_t event)
{
    const struct repro_event *segment = &writer->plan->evidence->events[event];
    unsigned place = (unsigned)writer->plan->place[segment->connection];
    const uint8_t *octets = segment->octets;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < segment->count;) {
        size_t left = segment->count - at, count = writer->missing[place];
        bool frame = count == 0 && !writer->plan->markers[segment->connection];

        if (frame)
            count = frame_octets(writer, place, octets + at, left);
        if (frame && writer->began[place] && count != 0 && count <= left) {
            rc = write_fpdu(writer, octets + at, count, event);
        } else {
            size_t part = count == 0 || count > left ? left : count;

            writer->missing[place] = count > part ? count - part : 0;
            if (writer->began[place] && has_stag(writer, octets + at, part, event))
                return refuse(writer, segment->frame, "cuts an FPDU with an STag that the device chooses");
            rc = write_raw(writer, octets + at, part, part == left);
            count = part;
        }
        writer->began[place] = true;
        at += count;
    }
    return rc;
}

int repro_write_sent(struct repro_writer *writer, size_t event)
{
    const struct repro_event *segment = &writer->plan->evidence->events[event];
    unsigned place = (unsigned)writer->plan->place[segment->connection];
    bool piece = writer->missing[place] != 0;
    uint64_t before = writer->sent_ns[place],
             rest = segment->time_ns > before && before != 0 ? (segment->time_ns - before) / NS_IN_MS : 0;
    int rc;

    if (segment->sequence + (uint32_t)segment->count == writer->sequence[place])
        return 0; /* it came again: TCP's own affair */
    if (segment->sequence != writer->sequence[place])
        return refuse(writer, segment->frame, "is out of TCP's order, or repeats octets: no socket sends that");
    if (rest < REST_MS_MIN)
        rest = 0;
    if (piece && rest < PIECE_MS)
        rest = PIECE_MS;
    (void)snprintf(writer->push, sizeof(writer->push), "push(%u, %u, ", place,
                   (unsigned)(rest > REST_MS_MAX ? REST_MS_MAX : rest));
    writer->pushed = false;
    writer->blocks |= REPRO_PUSH;
    rc = write_frames(writer, event);
    if (!writer->pushed)
        fprintf(writer->out, "    %s\"\");", writer->push);
    repro_write_comment(writer, repro_summary(writer, segment->frame));
    writer->sequence[place] += (uint32_t)segment->count;
    writer->sent_ns[place] = segment->time_ns;
    return rc;
}
