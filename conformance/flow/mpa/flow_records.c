/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is what was captured of a stream, from its first octet to its last, another protocol's? A stream whose beginning is
 * missing may be iWARP. It is not when all of it is a chain of another protocol's records, or text: these are no FPDUs,
 * wherever one would begin (RFC 5044 4.1). Only the whole chain says so, at the end of the connection: a part of it may
 * be what an FPDU carries. How sure it is is counted in bits, as a CRC is: octets that can have no other value, and
 * lengths that end where a segment ends.
 */

#include "conformance/flow/mpa/flow_records.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    BITS_NEEDED = 32,      /* as a CRC has */
    BITS_NEEDED_LATE = 64, /* where octets before the chain are of none */
    BITS_NEEDED_PAIRED = 256,
    BITS_MOST = 1 << 16,
    RESTARTS_MOST = 64,
    BITS_OF_START_LINE = 24,
    LONGEST_WORD = 9,        /* that a start line of HTTP begins with, and one octet */
    UNFINISHED_MOST = 18437, /* octets of a record that goes on when the capture ends: TLS has no longer ones */
    TEXT_LEAST = 8,          /* octets that a text begins with at least */
};

enum form { FORM_NONE, FORM_TEXT, FORM_HTTP, FORM_FIRST /* of flow_record_forms[] */ };

/* Where in a message of HTTP (RFC 9112) the stream is. */
enum http { HTTP_HEAD, HTTP_BODY, HTTP_CHUNK_SIZE, HTTP_CHUNK, HTTP_TRAILERS, HTTP_TO_END };

struct flow_records {
    uint64_t left; /* octets of the record, or the body, that are still to come */
    uint64_t body; /* HTTP: by Content-Length; UINT64_MAX: chunked */
    uint32_t bits; /* that were right */
    uint16_t restarts;
    uint8_t form;        /* enum form, or FORM_FIRST and an index */
    uint8_t length_bits; /* of the record that is begun */
    uint8_t http;
    uint8_t trail; /* UTF-8: octets of the character that are still to come */
    bool response, framed;
    bool started;    /* HTTP: the head has its start line */
    bool too_long;   /* the record that is begun has to end */
    bool line_ended; /* text: the last octet ends a line */
    bool late;       /* octets before the chain are of none */
    uint8_t have;    /* octets held: of a record's header, or of a line */
    uint8_t held[RECORD_HEADER_MAX];
};

static void add_bits(struct flow_records *records, unsigned bits)
{
    records->bits = records->bits + bits < BITS_MOST ? records->bits + bits : BITS_MOST;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/*
 * ASCII with the controls that texts have, or UTF-8 (RFC 3629): an FPDU has zeros in its header, or octets that are
 * neither.
 */
static bool is_text(struct flow_records *records, uint8_t octet)
{
    if (records->trail != 0) {
        records->trail--;
        return (octet & 0xC0) == 0x80;
    }
    if (octet >= 0x80) {
        records->trail = octet >= 0xF0 ? 3 : octet >= 0xE0 ? 2 : 1;
        return octet >= 0xC2 && octet <= 0xF4;
    }
    return (octet >= ' ' && octet < 0x7F) || (octet >= '\t' && octet <= '\r') || (octet >= 1 && octet <= 3) ||
           octet == 0x1B;
}

/* How many of the octets are text: fewer when another form follows. */
static size_t parse_text(struct flow_records *records, const uint8_t *octets, size_t count)
{
    size_t used = 0;

    while (used < count && is_text(records, octets[used]))
        used++;
    add_bits(records, used < BITS_MOST ? (unsigned)used : BITS_MOST);
    if (used > 0)
        records->line_ended = octets[used - 1] == '\n';
    return used;
}

static bool is_text_first(const uint8_t *octets, size_t count)
{
    struct flow_records look = {0};

    for (size_t i = 0; i < count; i++) {
        if (!is_text(&look, octets[i]))
            return false;
        if (octets[i] == '\n' && i >= TEXT_LEAST)
            return true;
    }
    return count >= TEXT_LEAST;
}

/* ---- HTTP -------------------------------------------------------------------------------------------------------- */

static bool is_http_first(const uint8_t *octets, size_t count)
{
    static const char *const words[] = {"HTTP/1.", "GET ",     "POST ",   "HEAD ",  "PUT ",
                                        "DELETE ", "OPTIONS ", "CONNECT", "PATCH ", "TRACE "};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (count > strlen(words[i]) && memcmp(octets, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* The name of a header field, whatever its letters' case (RFC 9110 5.1). */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);

    return strncasecmp(line, name, length) == 0 ? line + length : NULL;
}

/* After the head: what follows (RFC 9112 6.3). */
static void end_head(struct flow_records *records)
{
    bool chunked = records->body == UINT64_MAX;

    records->http = chunked ? HTTP_CHUNK_SIZE : records->framed ? HTTP_BODY : HTTP_TO_END;
    if (!chunked && !records->response && !records->framed) /* a request without a body */
        records->http = HTTP_HEAD;
    if (records->http == HTTP_BODY) {
        records->left = records->body;
        if (records->left == 0)
            records->http = HTTP_HEAD;
    }
    records->body = 0;
    records->framed = records->response = records->started = false;
}

/* A line of the head, of which the first octets are held. False: no head has it. */
static bool end_line(struct flow_records *records)
{
    char line[RECORD_HEADER_MAX + 1];
    const char *value;
    size_t length = records->have;

    memcpy(line, records->held, length);
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == '\n'))
        length--;
    line[length] = '\0';
    records->have = 0;
    if (records->http == HTTP_CHUNK_SIZE) {
        char *end;

        records->left = strtoull(line, &end, 16);
        if (end == line || records->left > UINT32_MAX)
            return false;
        records->http = records->left == 0 ? HTTP_TRAILERS : HTTP_CHUNK;
        records->left += records->left == 0 ? 0 : 2; /* and its CRLF */
        return true;
    }
    if (length == 0) {
        if (records->http == HTTP_TRAILERS)
            records->http = HTTP_HEAD;
        else
            end_head(records);
        return true;
    }
    if (!records->started) {
        if (!is_http_first((const uint8_t *)line, length))
            return false;
        records->started = true;
        records->response = line[0] == 'H' && line[1] == 'T';
        records->framed = records->response && length > 11 &&
                          (line[9] == '1' || memcmp(line + 9, "204", 3) == 0 || memcmp(line + 9, "304", 3) == 0);
        add_bits(records, BITS_OF_START_LINE);
    } else if ((value = value_of(line, "Content-Length:")) != NULL) {
        records->body = strtoul(value, NULL, 10);
        records->framed = true;
    } else if (value_of(line, "Transfer-Encoding: chunked") != NULL) {
        records->body = UINT64_MAX;
    }
    return true;
}

/* Octets of heads and of chunk sizes, up to a body; returns how many, SIZE_MAX: they are none. */
static size_t parse_lines(struct flow_records *records, const uint8_t *octets, size_t count)
{
    size_t used = 0;

    while (used < count && records->left == 0 && records->http != HTTP_TO_END) {
        uint8_t octet = octets[used++];

        if (octet == 0) /* what else may stand in a field's value is in no FPDU without it (RFC 9110 5.5) */
            return SIZE_MAX;
        add_bits(records, 1);
        if (records->have < RECORD_HEADER_MAX)
            records->held[records->have++] = octet;
        if (records->http == HTTP_HEAD && !records->started && records->have == LONGEST_WORD &&
            !is_http_first(records->held, records->have))
            return SIZE_MAX;
        if (octet == '\n' && !end_line(records))
            return SIZE_MAX;
    }
    return used;
}

/* False: nothing says how long the body is, or no message goes on so. */
static bool parse_http(struct flow_records *records, const uint8_t *octets, size_t count)
{
    size_t used = 0;

    while (used < count) {
        size_t taken;

        if (records->left != 0) {
            taken = records->left < count - used ? (size_t)records->left : count - used;
            records->left -= taken;
            if (records->left == 0)
                records->http = records->http == HTTP_CHUNK ? HTTP_CHUNK_SIZE : HTTP_HEAD;
        } else {
            taken = parse_lines(records, octets + used, count - used);
            if (taken == SIZE_MAX || taken == 0)
                return false;
        }
        used += taken;
    }
    return true;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static bool parse_records(struct flow_records *records, const uint8_t *octets, size_t count, bool ends)
{
    const struct flow_record_form *form = &flow_record_forms[records->form - FORM_FIRST];
    struct flow_record record;
    size_t used = 0;

    while (used < count) {
        if (records->left != 0) {
            size_t taken = records->left < count - used ? (size_t)records->left : count - used;

            records->left -= taken;
            used += taken;
            continue;
        }
        if (records->have == RECORD_HEADER_MAX)
            return false;
        records->held[records->have++] = octets[used++];
        record = form->begin(records->held, records->have);
        if (record.octets == RECORD_MORE)
            continue;
        if (record.octets < records->have)
            return false;
        records->left = record.octets - records->have;
        records->too_long = record.octets > UNFINISHED_MOST;
        records->length_bits = (uint8_t)record.length_bits;
        records->have = 0;
        add_bits(records, record.bits);
    }
    if (ends && records->left == 0 && records->have == 0)
        add_bits(records, records->length_bits);
    return true;
}

/* The form of which a record begins with the octets. */
static uint8_t form_of(const uint8_t *octets, size_t count, bool ends)
{
    for (size_t i = 0; i < flow_record_form_count; i++) {
        const struct flow_record_form *form = &flow_record_forms[i];

        for (size_t have = 1; have <= count && have <= RECORD_HEADER_MAX; have++) {
            struct flow_record record = form->begin(octets, have);

            if (record.octets == RECORD_MORE)
                continue;
            if (record.octets >= have && (!form->exact || (ends && record.octets == count) ||
                                          (record.octets < count && record.bits >= BITS_OF_START_LINE)))
                return (uint8_t)(FORM_FIRST + i);
            break;
        }
    }
    return FORM_NONE;
}

/* ---- the chain --------------------------------------------------------------------------------------------------- */

static void begin(struct flow_records *records, const uint8_t *octets, size_t count, bool ends)
{
    records->form = (uint8_t)(!records->late && is_http_first(octets, count)                     ? FORM_HTTP
                              : !records->late && is_text_first(octets, count < 64 ? count : 64) ? FORM_TEXT
                                                                                                 : FORM_NONE);
    if (records->form == FORM_NONE)
        records->form = form_of(octets, count, ends);
}

/* The octets are of no chain: another one may begin with a later segment. */
static void give_up(struct flow_records *records)
{
    uint16_t restarts = (uint16_t)(records->restarts + 1);

    *records = (struct flow_records){.late = true, .restarts = restarts};
}

/* Text whose lines agree upon another protocol (STARTTLS, RFC 3207) goes on as that. */
static bool parse_lines_and_more(struct flow_records *records, const uint8_t *octets, size_t count, bool ends)
{
    size_t used = parse_text(records, octets, count);

    if (used == count)
        return true;
    if (!records->line_ended)
        return false;
    records->form = form_of(octets + used, count - used, ends);
    return records->form != FORM_NONE && !flow_record_forms[records->form - FORM_FIRST].exact &&
           parse_records(records, octets + used, count - used, ends);
}

static bool match_form(struct flow_records *records, const uint8_t *octets, size_t count, bool ends)
{
    switch (records->form) {
    case FORM_NONE: return false;
    case FORM_TEXT: return parse_lines_and_more(records, octets, count, ends);
    case FORM_HTTP: return parse_http(records, octets, count);
    default: return parse_records(records, octets, count, ends);
    }
}

void flow_records_octets(struct flow_side *side, const struct flow_piece *piece, size_t used)
{
    struct flow_records *records = side->records;
    const uint8_t *octets = piece->octets + used;
    size_t count = piece->captured - used;
    bool first = used == 0 && piece->at_start, ends = piece->at_end && piece->captured == piece->length;

    if (records == NULL && (records = side->records = calloc(1, sizeof(*records))) == NULL)
        return; /* nothing is proved */
    if (records->form == FORM_NONE) {
        if (records->restarts >= RESTARTS_MOST || (count == 1 && !records->late)) /* what a keep-alive may have */
            return;
        if (first)
            begin(records, octets, count, ends);
    }
    if (match_form(records, octets, count, ends))
        return;
    give_up(records);
    if (!first)
        return;
    begin(records, octets, count, ends);
    if (!match_form(records, octets, count, ends))
        give_up(records);
}

void flow_records_lost(struct flow_side *side, uint64_t count)
{
    struct flow_records *records = side->records;

    if (records == NULL || records->form == FORM_NONE || records->form == FORM_TEXT)
        return;
    if (records->left >= count && records->have == 0)
        records->left -= count;
    else
        give_up(records);
}

/* The chain is whole: an unfinished record, which nothing confirms, may hide only so much. */
static bool holds(const struct flow_records *records)
{
    if (records == NULL || records->form == FORM_NONE)
        return false;
    if (records->form == FORM_HTTP)
        return records->left == 0 && (records->have == 0 || records->started || records->http != HTTP_HEAD);
    return records->left == 0 || !records->too_long;
}

bool flow_records_prove(const struct flow_side sides[2], bool paired)
{
    const struct flow_records *of[] = {sides[0].records, sides[1].records};
    unsigned bits = 0;

    for (unsigned i = 0; i < 2; i++)
        if (holds(of[i]) && (!of[i]->late || of[i]->bits >= BITS_NEEDED_LATE))
            bits = of[i]->bits > bits ? of[i]->bits : bits;
    if (holds(of[0]) && holds(of[1]) && of[0]->form == of[1]->form && !of[0]->late && !of[1]->late)
        bits = of[0]->bits + of[1]->bits;
    return bits >= (paired ? BITS_NEEDED_PAIRED : BITS_NEEDED);
}

void flow_records_release(struct flow_side *side)
{
    free(side->records);
    side->records = NULL;
}
