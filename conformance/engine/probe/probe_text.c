/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_text.h"

#include <stdbool.h>
#include <string.h>

#include "reference-stack/program/complaint.h"

enum { DETAIL_OCTETS = 400 };

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text != NULL ? text : "";
}

static int number_of(const json_t *object, const char *name)
{
    return (int)json_integer_value(json_object_get(object, name));
}

static bool is_true(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

static void write_target(const json_t *line, FILE *out)
{
    print_plain(out, "probe of %s: %s port %d, by %s%s%s", text_of(line, "name"), text_of(line, "address"),
                number_of(line, "port"), text_of(line, "own_address"),
                text_of(line, "interface")[0] != '\0' ? " on " : "", text_of(line, "interface"));
}

static void write_upper_tester(const json_t *line, FILE *out)
{
    print_plain(out, "  upper tester  %s%s",
                is_true(line, "answers") ? "answers" : "does not answer: ", text_of(line, "why"));
}

static void write_reach(const json_t *line, FILE *out)
{
    const json_t *echo = json_object_get(line, "icmp_echo"), *code = json_object_get(line, "icmp_unreachable_code");
    bool through = json_object_get(line, "gateway") != NULL;
    char took[32] = "", ping[60] = "", unreachable[60] = "";

    if (json_is_real(json_object_get(line, "milliseconds")))
        (void)snprintf(took, sizeof(took), " in %.1f ms", json_real_value(json_object_get(line, "milliseconds")));
    if (echo != NULL)
        (void)snprintf(ping, sizeof(ping), "; ICMP echo: %s", json_is_true(echo) ? "answered" : "no answer");
    if (code != NULL)
        (void)snprintf(unreachable, sizeof(unreachable), "; ICMP says unreachable, code %d",
                       (int)json_integer_value(code));
    print_plain(out, "  reach         %s: %s%s%s%s%s%s%s", text_of(line, "by"),
                is_true(line, "answered") ? "answered by " : "no answer",
                through && is_true(line, "answered") ? "the gateway " : "", text_of(line, "mac"), took, ping,
                unreachable,
                is_true(line, "answered") ? ""
                : through                 ? ": is the gateway on this link, and is its address right?"
                          : ": is the device on this link (else name its gateway), and is its address right?");
    if (json_object_get(line, "own_address_used_by") != NULL)
        print_plain(out, "                own_address belongs to %s: choose one that no host owns",
                    text_of(line, "own_address_used_by"));
}

static void write_checksums(const json_t *line, FILE *out)
{
    int segments = number_of(line, "segments"), wrong = number_of(line, "wrong");
    const char *remedy = text_of(line, "remedy");

    if (segments == 0)
        print_plain(out, "  checksums     no TCP segment came");
    else if (wrong == 0)
        print_plain(out, "  checksums     good in all %d TCP segments", segments);
    else
        print_plain(out, "  checksums     wrong in %d of %d TCP segments%s", wrong, segments,
                    number_of(line, "left_to_hardware") == 0
                        ? ""
                        : ": they are left to hardware that this link does not have (TX checksum offload)");
    if (number_of(line, "largest_payload") > 1460)
        print_plain(out, "                a segment of %d octets came: the device, or a veth, merges segments",
                    number_of(line, "largest_payload"));
    if (remedy[0] != '\0')
        print_plain(out, "                turn that off: %s", remedy);
}

static void write_tcp(const json_t *line, FILE *out)
{
    if (is_true(line, "accepts"))
        print_plain(out, "  TCP           accepts; round trip %.2f ms",
                    json_real_value(json_object_get(line, "round_trip_ms")));
    else
        print_plain(out, "  TCP           %s", text_of(line, "why"));
}

/* "Rev 1, M=0, C=1, 4 octets of Private Data, IRD 16, ORD 16" */
static void describe_frame(const json_t *frame, char *text, size_t room)
{
    const json_t *word = json_object_get(frame, "enhanced");
    int used = snprintf(text, room, "Rev %d, M=%d, C=%d", number_of(frame, "Rev"), number_of(frame, "M"),
                        number_of(frame, "C"));

    if (json_is_object(word))
        (void)snprintf(text + used, room - (size_t)used, ", S=%d, A=%d B=%d C=%d D=%d, IRD %d, ORD %d",
                       number_of(frame, "S"), number_of(word, "A"), number_of(word, "B"), number_of(word, "C"),
                       number_of(word, "D"), number_of(word, "IRD"), number_of(word, "ORD"));
    else if (number_of(frame, "PD_Length") != 0)
        (void)snprintf(text + used, room - (size_t)used, ", PD_Length %d", number_of(frame, "PD_Length"));
}

static void write_startup(const json_t *line, FILE *out)
{
    const json_t *frame = json_object_get(line, "reply");
    char text[DETAIL_OCTETS] = "";

    if (frame == NULL)
        frame = json_object_get(line, "request");
    if (json_is_object(frame))
        describe_frame(frame, text, sizeof(text));
    print_plain(out, "  start-up      %-36s %s%s%s", text_of(line, "name"), text_of(line, "outcome"),
                text[0] != '\0' ? ": " : "", text);
}

static void write_fpdu(const json_t *line, FILE *out)
{
    if (number_of(line, "octets") == 0)
        print_plain(out, "  first FPDU    %-36s none came", text_of(line, "startup"));
    else if (text_of(line, "id")[0] != '\0')
        print_plain(out, "  first FPDU    %-36s %d octets: %s", text_of(line, "startup"), number_of(line, "octets"),
                    text_of(line, "actual"));
    else
        print_plain(out, "  first FPDU    %-36s %s, CRC %s, pad %d%s, %d Marker%s", text_of(line, "startup"),
                    text_of(line, "what"), is_true(line, "crc_ok") ? "right" : "other (it is not in use)",
                    number_of(line, "pad"),
                    number_of(line, "pad") == 0 ? ""
                    : is_true(line, "pad_zero") ? " zero"
                                                : " not zero",
                    number_of(line, "markers"), number_of(line, "markers") == 1 ? "" : "s");
}

static void write_exchange(const json_t *line, FILE *out)
{
    const json_t *served = json_object_get(line, "served");

    print_plain(out, "  exchange      as %-9s %-32s %s%s%s", text_of(line, "role"), text_of(line, "what"),
                served == NULL         ? "not asked: nobody could ask for it"
                : json_is_true(served) ? "served"
                                       : "not served",
                text_of(line, "why")[0] != '\0' ? ": " : "", text_of(line, "why"));
}

static void write_defect(const json_t *line, FILE *out)
{
    print_plain(out, "  %-4s          %s: %s", text_of(line, "verdict"), text_of(line, "id"), text_of(line, "message"));
    print_plain(out, "                expected %s", text_of(line, "expected"));
    print_plain(out, "                actual   %s", text_of(line, "actual"));
}

/* The capabilities in two lines: what was measured, and what the reader has to answer. */
static void write_capabilities(const json_t *found, bool measured, FILE *out)
{
    const json_t *line;
    bool first = true;
    size_t i;

    json_array_foreach(found, i, line)
    {
        if (strcmp(text_of(line, "type"), "capability") != 0 || is_true(line, "measured") != measured)
            continue;
        if (first)
            fputs(measured ? "  capabilities  measured:" : "                not measured:", out);
        fprintf(out, "%s %s = %s", first ? "" : ",", text_of(line, "item"),
                text_of(line, measured ? "value" : "default"));
        first = false;
    }
    if (!first)
        fputs(measured ? "\n" : " (what counts until the profile says otherwise)\n", out);
}

static void write_summary(const json_t *line, FILE *out)
{
    print_plain(out, "%s", text_of(line, "text"));
}

void probe_text_write(const json_t *found, FILE *out)
{
    static const struct {
        const char *type;
        void (*write)(const json_t *line, FILE *out);
    } writers[] = {{"target", write_target}, {"upper tester", write_upper_tester},
                   {"reach", write_reach},   {"checksums", write_checksums},
                   {"tcp", write_tcp},       {"startup", write_startup},
                   {"fpdu", write_fpdu},     {"exchange", write_exchange},
                   {"defect", write_defect}};
    const json_t *line;
    size_t i;

    for (size_t w = 0; w < sizeof(writers) / sizeof(writers[0]); w++)
        json_array_foreach(found, i, line)
        {
            if (strcmp(text_of(line, "type"), writers[w].type) == 0)
                writers[w].write(line, out);
        }
    write_capabilities(found, true, out);
    write_capabilities(found, false, out);
    json_array_foreach(found, i, line)
    {
        if (strcmp(text_of(line, "type"), "summary") == 0)
            write_summary(line, out);
    }
}
