/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/page/ladder.h"

#include "reports/file/text.h"
#include "base/text_stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_STEPS  4 /* shown from the start of a long ladder */
#define STEPS_AFTER 8 /* shown after the offending one */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static uint64_t count_of(const json_t *value)
{
    json_int_t count = json_integer_value(value);
    return count > 0 ? (uint64_t)count : 0;
}

int ladder_step_read(const json_t *object, struct ladder_step *step)
{
    *step = (struct ladder_step){.kind = "", .summary = "", .note = "", .octets = ""};
    if (!json_is_object(object))
        return -1;
    step->seconds = json_number_value(json_object_get(object, "t"));
    step->from_dut = strcmp(text_of(object, "from"), "dut") == 0;
    step->kind = text_of(object, "kind");
    step->summary = text_of(object, "summary");
    step->note = text_of(object, "note");
    step->frame = count_of(json_object_get(object, "frame"));
    step->octets = text_of(object, "octets");
    while (isxdigit((unsigned char)step->octets[step->hex_digits]))
        step->hex_digits++;
    step->hex_digits &= ~(size_t)1;
    step->length = count_of(json_object_get(object, "length"));
    if (step->length < step->hex_digits / 2)
        step->length = step->hex_digits / 2;
    const json_t *mark = json_object_get(object, "mark");
    step->mark_offset = count_of(json_array_get(mark, 0));
    step->mark_length = count_of(json_array_get(mark, 1));
    if (step->mark_offset >= step->length) {
        step->mark_length = 0;
    } else if (step->mark_length > step->length - step->mark_offset) {
        step->mark_length = step->length - step->mark_offset;
    }
    step->offending = json_is_array(mark) || *step->note;
    return 0;
}

size_t ladder_choose(const json_t *steps, size_t shown[LADDER_STEPS_SHOWN])
{
    size_t total = json_array_size(steps), used = 0;
    size_t focus = total ? total - 1 : 0;
    for (size_t i = total; i-- > 0;) {
        struct ladder_step step;
        if (ladder_step_read(json_array_get(steps, i), &step) == 0 && step.offending)
            focus = i; /* the first one in the end */
    }
    size_t end = focus + 1 + STEPS_AFTER < total ? focus + 1 + STEPS_AFTER : total;
    size_t tail = LADDER_STEPS_SHOWN - HEAD_STEPS;
    size_t start = end > tail + HEAD_STEPS ? end - tail : HEAD_STEPS;
    for (size_t i = 0; i < total && i < HEAD_STEPS; i++)
        shown[used++] = i;
    for (size_t i = start; i < end && used < LADDER_STEPS_SHOWN; i++)
        shown[used++] = i;
    if (total > end && start == HEAD_STEPS) { /* a short ladder keeps its end */
        for (size_t i = end; i < total && used < LADDER_STEPS_SHOWN; i++)
            shown[used++] = i;
    }
    return used;
}

/* Octets of the first `characters` code points of clean UTF-8 text. */
static size_t octets_of(const char *text, size_t characters)
{
    size_t i = 0;
    for (; text[i]; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80 && characters-- == 0)
            break;
    }
    return i;
}

static size_t characters_in(const char *text)
{
    size_t n = 0;
    for (size_t i = 0; text[i]; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

/* One clean line of at most `characters`, ended by an ellipsis where cut; malloc'd, NULL without memory. */
static char *fit(const char *text, size_t characters)
{
    char *line = text_clean_line(text);
    if (!line || characters_in(line) <= characters)
        return line;
    size_t octets = octets_of(line, characters - 1);
    char *cut = malloc(octets + sizeof("…"));
    if (cut) {
        memcpy(cut, line, octets);
        memcpy(cut + octets, "…", sizeof("…"));
    }
    free(line);
    return cut;
}

/* "+0.000 ms", "+1.250 s" */
static void time_text(char out[32], double seconds)
{
    if (!(seconds > -1e6 && seconds < 1e9))
        snprintf(out, 32, "?");
    else if (seconds < 1)
        snprintf(out, 32, "%.3f ms", seconds * 1e3);
    else
        snprintf(out, 32, "%.3f s", seconds);
}

/* ---- SVG. Units are CSS pixels of a 760 wide picture that scales with the page. ---- */

#define WIDTH              760
#define LEFT               96
#define RIGHT              704
#define MIDDLE             ((LEFT + RIGHT) / 2.0)
#define TOP                46
#define ROW                36
#define NOTE_ROW           18
#define SUMMARY_CHARACTERS 84 /* of 11 px between the lifelines */

static const char *kind_class(const struct ladder_step *step)
{
    static const char *const known[] = {"tcp", "mpa", "fpdu", "terminate", "note"};
    static const char *const classes[] = {"ld ld-tcp", "ld ld-mpa", "ld ld-fpdu", "ld ld-terminate", "ld ld-note"};
    static const char *const bad[] = {"ld ld-tcp ld-bad", "ld ld-mpa ld-bad", "ld ld-fpdu ld-bad",
                                      "ld ld-terminate ld-bad", "ld ld-note ld-bad"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(step->kind, known[i]) == 0)
            return step->offending ? bad[i] : classes[i];
    }
    return step->offending ? "ld ld-bad" : "ld";
}

static void number(char out[24], double value)
{
    snprintf(out, 24, "%g", value);
}

static void svg_text(struct markup *markup, double x, double y, const char *css, const char *anchor, const char *text)
{
    char xs[24], ys[24];
    number(xs, x);
    number(ys, y);
    markup_open(markup, "text", "x", xs, "y", ys, "class", css, "text-anchor", anchor, NULL);
    markup_text(markup, text);
    markup_close(markup);
}

static void svg_line(struct markup *markup, double x1, double y1, double x2, double y2, const char *css)
{
    char d[96];
    snprintf(d, sizeof(d), "M%g %gL%g %g", x1, y1, x2, y2);
    markup_void(markup, "path", "d", d, "class", css, NULL);
}

/* The arrow from side to side, drawn with its own head: no <marker>, whose ids would clash between ladders. */
static void svg_arrow(struct markup *markup, const struct ladder_step *step, double y)
{
    char d[128];
    double tip = step->from_dut ? LEFT : RIGHT, back = step->from_dut ? LEFT + 9 : RIGHT - 9;
    svg_line(markup, step->from_dut ? RIGHT : LEFT, y, back, y, "ld-line");
    snprintf(d, sizeof(d), "M%g %gL%g %gL%g %gz", tip, y, back, y - 4.5, back, y + 4.5);
    markup_void(markup, "path", "d", d, "class", "ld-head", NULL);
}

static double svg_step(struct markup *markup, const struct ladder_step *step, double y)
{
    char text[32];
    char *summary = fit(step->summary, SUMMARY_CHARACTERS);
    char *note = fit(step->note, SUMMARY_CHARACTERS + 10);
    bool arrow = strcmp(step->kind, "note") != 0;
    double line = y + ROW - 10;
    markup_open(markup, "g", "class", kind_class(step), NULL);
    if (characters_in(step->summary) > SUMMARY_CHARACTERS)
        markup_element(markup, "title", NULL, step->summary);
    time_text(text, step->seconds);
    svg_text(markup, LEFT - 12, line + 4, "ld-time", "end", text);
    svg_text(markup, MIDDLE, arrow ? line - 6 : line + 2, "ld-sum", "middle", summary ? summary : "");
    if (arrow)
        svg_arrow(markup, step, line);
    if (step->frame) {
        snprintf(text, sizeof(text), "#%llu", (unsigned long long)step->frame);
        svg_text(markup, RIGHT + 12, line + 4, "ld-time", "start", text);
    }
    if (step->offending) {
        double cross = !arrow ? LEFT + 14 : step->from_dut ? RIGHT : LEFT;
        svg_text(markup, cross, line + 5, "ld-cross", "middle", "✗");
        if (note && *note) {
            svg_text(markup, MIDDLE, line + 15, "ld-why", "middle", note);
            y += NOTE_ROW;
        }
    }
    markup_close(markup);
    free(summary);
    free(note);
    return y + ROW;
}

static const char svg_style[] =
    "svg{background:#fff}text{font:11px ui-monospace,monospace;fill:#1b1f24}.ld-end{font-weight:bold;font-size:13px}"
    ".ld-time,.ld-gap{fill:#57606a}.ld-life{stroke:#8c959f;stroke-width:1.5}.ld-line{stroke:#57606a;stroke-width:1.5}"
    ".ld-head{fill:#57606a}.ld-tcp .ld-line{stroke-dasharray:5 4}.ld-mpa .ld-line{stroke:#8250df}.ld-mpa .ld-head{fill:"
    "#8250df}.ld-fpdu .ld-line{stroke:#0969da}.ld-fpdu .ld-head{fill:#0969da}.ld-terminate .ld-line{stroke:#9a6700}"
    ".ld-terminate .ld-head{fill:#9a6700}.ld-bad .ld-line{stroke:#cf222e;stroke-width:2.5}.ld-bad .ld-head,.ld-bad "
    ".ld-sum,.ld-why,.ld-cross{fill:#cf222e}.ld-bad .ld-sum,.ld-cross{font-weight:bold}.ld-cross{font-size:15px}";

static double height_of(const json_t *steps, const size_t *shown, size_t count)
{
    double height = TOP + 14;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        struct ladder_step step;
        (void)ladder_step_read(json_array_get(steps, shown[i]), &step);
        height += ROW + (*step.note ? NOTE_ROW : 0) + (shown[i] != next ? ROW : 0);
        next = shown[i] + 1;
    }
    return height + (next < json_array_size(steps) ? ROW : 0);
}

static double svg_gap(struct markup *markup, size_t left_out, double y)
{
    char text[64];
    snprintf(text, sizeof(text), "⋮ %zu steps left out", left_out);
    svg_text(markup, MIDDLE, y + ROW - 12, "ld-gap", "middle", text);
    return y + ROW;
}

void ladder_svg(struct markup *markup, const json_t *steps, const struct ladder_ends *ends, bool standalone)
{
    size_t shown[LADDER_STEPS_SHOWN], count = ladder_choose(steps, shown), next = 0;
    double height = height_of(steps, shown, count), y = TOP;
    char box[64];
    snprintf(box, sizeof(box), "0 0 %d %g", WIDTH, height);
    markup_open(markup, "svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", box, "class", "ladder", "role", "img",
                "aria-label", "Ladder diagram; the same steps follow as text below", NULL);
    if (standalone) {
        markup_open(markup, "style", NULL);
        markup_raw(markup, svg_style, sizeof(svg_style) - 1);
        markup_close(markup);
    }
    char *left = fit(ends->left, 36), *right = fit(ends->right, 36);
    bool addresses = strlen(ends->left) > 20 || strlen(ends->right) > 20; /* wide names lean inwards */
    svg_text(markup, LEFT, 22, "ld-end", addresses ? "start" : "middle", left ? left : "");
    svg_text(markup, RIGHT, 22, "ld-end", addresses ? "end" : "middle", right ? right : "");
    svg_line(markup, LEFT, 32, LEFT, height - 4, "ld-life");
    svg_line(markup, RIGHT, 32, RIGHT, height - 4, "ld-life");
    for (size_t i = 0; i < count; i++) {
        struct ladder_step step;
        if (shown[i] != next)
            y = svg_gap(markup, shown[i] - next, y);
        (void)ladder_step_read(json_array_get(steps, shown[i]), &step);
        y = svg_step(markup, &step, y);
        next = shown[i] + 1;
    }
    if (next < json_array_size(steps))
        (void)svg_gap(markup, json_array_size(steps) - next, y);
    markup_close(markup);
    free(left);
    free(right);
}

/* ---- Text ---- */

/* `text` in the middle of `width` columns of `fill`, with a blank on either side. */
static void write_centred(FILE *out, const char *text, size_t width, char fill)
{
    size_t length = characters_in(text), room = width > length + 2 ? width - length - 2 : 0;
    for (size_t i = 0; i < room / 2; i++)
        fputc(fill, out);
    fprintf(out, " %s ", text);
    for (size_t i = room / 2; i < room; i++)
        fputc(fill, out);
}

static void text_step(FILE *out, const struct ladder_step *step, size_t width)
{
    char text[32];
    char *summary = fit(step->summary, width - 6);
    char *note = fit(step->note, width);
    time_text(text, step->seconds);
    fprintf(out, "%c %12s  ", step->offending ? '>' : ' ', text);
    if (strcmp(step->kind, "note") == 0) {
        fputc('|', out);
        write_centred(out, summary ? summary : "", width, ' ');
        fputc('|', out);
    } else {
        fputs(step->from_dut ? "|<" : "|", out);
        write_centred(out, summary ? summary : "", width - 1, strcmp(step->kind, "tcp") == 0 ? '.' : '-');
        fputs(step->from_dut ? "|" : ">|", out);
    }
    if (step->frame)
        fprintf(out, " #%llu", (unsigned long long)step->frame);
    fputc('\n', out);
    if (note && *note)
        fprintf(out, "%16s|  ^ %s\n", "", note);
    free(summary);
    free(note);
}

char *ladder_text(const json_t *steps, const struct ladder_ends *ends, unsigned columns)
{
    size_t shown[LADDER_STEPS_SHOWN], count = ladder_choose(steps, shown), next = 0, size = 0;
    unsigned bounded = columns < 60 ? 60 : columns > 200 ? 200 : columns;
    size_t width = bounded - 26; /* between the lifelines: time in front, frame number after */
    char *text = NULL;
    FILE *out = text_stream_open(&text, &size);
    if (!out)
        return NULL;
    char *left = fit(ends->left, width / 2), *right = fit(ends->right, width / 2);
    fprintf(out, "%16s%s", "", left ? left : "");
    for (size_t used = characters_in(left ? left : "") + characters_in(right ? right : ""); used < width + 2; used++)
        fputc(' ', out);
    fprintf(out, "%s\n", right ? right : "");
    free(left);
    free(right);
    for (size_t i = 0; i < count; i++) {
        struct ladder_step step;
        if (shown[i] != next)
            fprintf(out, "%16s:  %zu steps left out\n", "", shown[i] - next);
        (void)ladder_step_read(json_array_get(steps, shown[i]), &step);
        text_step(out, &step, width);
        next = shown[i] + 1;
    }
    if (next < json_array_size(steps))
        fprintf(out, "%16s:  %zu steps left out\n", "", json_array_size(steps) - next);
    (void)text_stream_close(out, &text);
    return text;
}
