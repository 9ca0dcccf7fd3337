/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strcasestr */
#include "conformance/engine/show/drawing.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/show/wrap.h"
#include "base/text_stream.h"

#define ROW_BITS  32
#define LINE_SIZE (ROW_BITS * 2 + 1)
#define NOBODY    (-1)

/* Bits before the header in the first row: it ends at the right margin, unless it is shorter than a row. */
static unsigned lead_bits(const struct wire_layout *layout)
{
    unsigned bits = (unsigned)layout->octets * 8;

    return bits > ROW_BITS ? (ROW_BITS - bits % ROW_BITS) % ROW_BITS : 0;
}

/* Index of the field that owns a bit of a row, NOBODY outside the header. row may be -1. */
static int bit_owner(const struct wire_layout *layout, int row, int bit)
{
    int at = row * ROW_BITS + bit - (int)lead_bits(layout);

    if (row < 0 || bit < 0 || bit >= ROW_BITS || at < 0)
        return NOBODY;
    for (size_t i = 0; i < layout->field_count; i++)
        if (at >= layout->fields[i].bit && at < layout->fields[i].bit + layout->fields[i].bits)
            return (int)i;
    return NOBODY;
}

static void line_print(FILE *out, char *line)
{
    size_t length = LINE_SIZE;

    while (length > 0 && line[length - 1] == ' ')
        length--;
    fprintf(out, "    %.*s\n", (int)length, line);
}

/* The line between row - 1 and row: dashes where the owner changes. */
static void separator_print(FILE *out, const struct wire_layout *layout, int row)
{
    char line[LINE_SIZE];

    memset(line, ' ', sizeof(line));
    for (int bit = 0; bit < ROW_BITS; bit++) {
        int above = bit_owner(layout, row - 1, bit), below = bit_owner(layout, row, bit);

        if (above == below && above != NOBODY) {
            if (bit == 0 || bit_owner(layout, row, bit - 1) != below)
                line[2 * bit] = '+';
            if (bit == ROW_BITS - 1)
                line[2 * bit + 2] = '+';
        } else if (above != below) {
            line[2 * bit] = line[2 * bit + 2] = '+';
            line[2 * bit + 1] = '-';
        }
    }
    line_print(out, line);
}

/* The row in which a field's name stands: the middle one of those that hold its widest piece. */
static int name_row(const struct wire_layout *layout, const struct wire_field *field)
{
    int first = (field->bit + (int)lead_bits(layout)) / ROW_BITS;
    int last = (field->bit + field->bits - 1 + (int)lead_bits(layout)) / ROW_BITS;
    int widest = 0, widest_first = first, widest_last = first;

    for (int row = first; row <= last; row++) {
        int start = row * ROW_BITS, end = start + ROW_BITS;
        int field_start = field->bit + (int)lead_bits(layout), field_end = field_start + field->bits;
        int width = (end < field_end ? end : field_end) - (start > field_start ? start : field_start);

        if (width > widest) {
            widest = width;
            widest_first = row;
        }
        if (width == widest)
            widest_last = row;
    }
    return (widest_first + widest_last) / 2;
}

static void row_print(FILE *out, const struct wire_layout *layout, int row)
{
    char line[LINE_SIZE];

    memset(line, ' ', sizeof(line));
    for (int bit = 0; bit < ROW_BITS;) {
        int owner = bit_owner(layout, row, bit), end = bit + 1;

        while (end < ROW_BITS && bit_owner(layout, row, end) == owner)
            end++;
        if (owner != NOBODY) {
            const struct wire_field *field = &layout->fields[owner];
            int room = 2 * (end - bit) - 1, length = (int)strlen(field->name);

            line[2 * bit] = line[2 * end] = '|';
            if (length > room)
                length = room;
            if (name_row(layout, field) == row)
                memcpy(line + 2 * bit + 1 + (room - length) / 2, field->name, (size_t)length);
        }
        bit = end;
    }
    line_print(out, line);
}

char *drawing_make(const struct wire_layout *layout)
{
    int rows = (int)((layout->octets * 8 + lead_bits(layout) + ROW_BITS - 1) / ROW_BITS);
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);

    if (out == NULL)
        return NULL;
    fputs("     0                   1                   2                   3\n", out);
    fputs("     0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1\n", out);
    for (int row = 0; row < rows; row++) {
        separator_print(out, layout, row);
        row_print(out, layout, row);
    }
    separator_print(out, layout, rows);
    (void)text_stream_close(out, &text);
    return text;
}

char *drawing_legend(const struct wire_layout *layout, unsigned width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    int name_width = 0;

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < layout->field_count; i++)
        if ((int)strlen(layout->fields[i].name) > name_width)
            name_width = (int)strlen(layout->fields[i].name);
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct wire_field *field = &layout->fields[i];
        int used = fprintf(out, "    octet %2d bit %d  ", field->bit / 8, field->bit % 8);

        used += fprintf(out, field->bits % 8 == 0 ? "%2d octet%s  " : "%2d bit%s    ",
                        field->bits % 8 == 0 ? field->bits / 8 : field->bits,
                        field->bits == 1 || field->bits == 8 ? " " : "s");
        used += fprintf(out, "%-*s  ", name_width, field->name);
        wrap_print(out, field->meaning, width, (unsigned)used, (unsigned)used);
    }
    (void)text_stream_close(out, &text);
    return text;
}

/*
 * Which headers show a requirement: the first line whose id glob and keyword (anywhere in the text, case ignored;
 * NULL: any) fit. Layouts by their ids in wire/.
 */
struct choice {
    const char *id;
    const char *keyword;
    const char *layouts[DRAWING_LIMIT];
};

static const struct choice choices[] = {
    /* RFC 5044 */
    {"MPA-4.2-*", NULL, {"marker"}},
    {"MPA-4.3-*", NULL, {"marker", "fpdu"}},
    {"MPA-7.1*", "FPDU", {"fpdu", "mpa_start"}},
    {"MPA-7.1*", NULL, {"mpa_start"}},
    {"MPA-8-*", "Marker", {"marker", "terminate"}},
    {"MPA-8-*", "Request", {"mpa_start", "terminate"}},
    {"MPA-8-*", "code 4", {"mpa_start", "terminate"}},
    {"MPA-8-*", "CRC", {"fpdu", "terminate"}},
    {"MPA-8-*", NULL, {"terminate"}},
    {"MPA-C.1-01", NULL, {"ddp_tagged", "rdmap_control"}},
    {"MPA-C*", NULL, {"mpa_start"}},
    {"MPA-1.2-02", NULL, {"mpa_start"}},
    {"MPA-3-15", NULL, {"ddp_tagged", "mpa_start"}},
    {"MPA-4.4-*", "declare", {"mpa_start"}},
    {"MPA-*", "Marker", {"marker", "fpdu"}},
    {"MPA-*", NULL, {"fpdu"}},
    /* RFC 6581 */
    {"EMPA-8-*", NULL, {"terminate", "mpa_enhanced"}},
    {"EMPA-7-*", NULL, {"ddp_sctp_control", "mpa_enhanced"}},
    {"EMPA-9.2-*", "zero-length RDMA Read", {"read_request", "ddp_untagged", "mpa_enhanced"}},
    {"EMPA-9.2-*", "zero-length Read", {"read_request", "ddp_untagged", "mpa_enhanced"}},
    {"EMPA-9.2-*", "zero-length RDMA Write", {"ddp_tagged", "mpa_enhanced"}},
    {"EMPA-9.2-*", "zero-length Write", {"ddp_tagged", "mpa_enhanced"}},
    {"EMPA-9.2-*", "Send", {"ddp_untagged", "mpa_enhanced"}},
    {"EMPA-9*", "TERM", {"mpa_enhanced", "terminate"}},
    {"EMPA-9*", NULL, {"mpa_enhanced"}},
    {"EMPA-*", NULL, {"mpa_start", "mpa_enhanced"}},
    /* RFC 5041 */
    {"DDP-4.2-*", NULL, {"ddp_tagged"}},
    {"DDP-4.3-*", NULL, {"ddp_untagged"}},
    {"DDP-4*", NULL, {"ddp_tagged", "ddp_untagged"}},
    {"DDP-7.2-*", NULL, {"terminate", "ddp_tagged", "ddp_untagged"}},
    {"DDP-*", "untagged", {"ddp_untagged"}},
    {"DDP-*", "MSN", {"ddp_untagged"}},
    {"DDP-*", "QN", {"ddp_untagged"}},
    {"DDP-*", "STag", {"ddp_tagged"}},
    {"DDP-*", "tagged", {"ddp_tagged"}},
    {"DDP-*", NULL, {"ddp_tagged", "ddp_untagged"}},
    /* RFC 5040, RFC 6580 */
    {"RDMAP-6580.3.4-*", NULL, {"rdmap_control"}},
    {"RDMAP-6580*", NULL, {"terminate"}},
    {"RDMAP-4.8-*", NULL, {"terminate", "terminate_length"}},
    {"RDMAP-5.4-*", NULL, {"terminate", "terminate_length"}},
    {"RDMAP-6.2*", NULL, {"terminate"}},
    {"RDMAP-7.1-*", NULL, {"terminate", "terminate_length"}},
    {"RDMAP-*", "Read Request", {"read_request", "ddp_untagged"}},
    {"RDMAP-*", "SrcSTag", {"read_request"}},
    {"RDMAP-*", "SrcTO", {"read_request"}},
    {"RDMAP-*", "SinkSTag", {"read_request", "ddp_tagged"}},
    {"RDMAP-4.4-*", NULL, {"read_request", "ddp_untagged"}},
    {"RDMAP-5.2.1-*", NULL, {"read_request", "ddp_untagged"}},
    {"RDMAP-5.2.2-*", NULL, {"ddp_tagged", "rdmap_control"}},
    {"RDMAP-5.1-*", NULL, {"ddp_tagged", "rdmap_control"}},
    {"RDMAP-5.3-*", NULL, {"rdmap_untagged", "ddp_untagged"}},
    {"RDMAP-*", "Invalidate", {"rdmap_untagged", "ddp_untagged"}},
    {"RDMAP-*", "Terminate", {"terminate"}},
    {"RDMAP-*", "Send", {"rdmap_untagged", "ddp_untagged"}},
    {"RDMAP-*", NULL, {"rdmap_control"}},
    /* draft-ietf-storm-rdmap-ext-03, RFC 7306 */
    {"ATOM*-8*", NULL, {"terminate", "atomic_request"}},
    {"ATOM*-6*", NULL, {"immediate", "rdmap_untagged"}},
    {"ATOM*-5.2.2-*", NULL, {"atomic_response", "ddp_untagged"}},
    {"ATOM*-5*", NULL, {"atomic_request", "atomic_response"}},
    {"ATOM*", "Immediate", {"immediate", "rdmap_untagged"}},
    {"ATOM*-4*", "response header", {"atomic_response"}},
    {"ATOM*-4*", NULL, {"rdmap_untagged", "ddp_untagged"}},
    {"ATOM*", NULL, {"atomic_request", "atomic_response"}},
    /* draft-stewart-rddp-sctp-02, RFC 5043, RFC 6581 7 */
    {"SCTP-2.1-*", NULL, {"sctp_adaptation", "sctp_init"}},
    {"SCTP5043-5.1-*", NULL, {"sctp_adaptation", "sctp_init"}},
    {"SCTP-2.2-*", "PPID", {"sctp_data"}},
    {"SCTP-2.2-*", NULL, {"ddp_sctp_draft_control", "sctp_data"}},
    {"SCTP-6-*", "DDP-SSN", {"ddp_sctp_segment", "sctp_data"}},
    {"SCTP5043-5.2.3-*", NULL, {"ddp_sctp_control", "sctp_data"}},
    {"SCTP5043-6*", NULL, {"ddp_sctp_control", "ddp_sctp_segment"}},
    {"SCTP5043-5.2*", NULL, {"ddp_sctp_segment", "sctp_data"}},
    {"SCTP*", NULL, {"sctp_data"}},
    /* Annex A11 */
    {"*A11*", "Service ID", {"ip_cm_service"}},
    {"*A11*", "ARI", {"ip_cm_ari", "cm_rej"}},
    {"*A11*", "reject", {"ip_cm_ari", "cm_rej"}},
    {"*A11*", NULL, {"ip_cm_private"}},
};

size_t drawing_layouts(const struct requirement *requirement, const struct wire_layout *layouts[DRAWING_LIMIT])
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *choice = &choices[i];

        if (fnmatch(choice->id, requirement->id, 0) != 0 ||
            (choice->keyword != NULL && strcasestr(requirement->text, choice->keyword) == NULL))
            continue;
        for (size_t j = 0; j < DRAWING_LIMIT && choice->layouts[j] != NULL; j++) {
            layouts[count] = wire_layout_find(choice->layouts[j]);
            count += layouts[count] != NULL;
        }
        break;
    }
    return count;
}
