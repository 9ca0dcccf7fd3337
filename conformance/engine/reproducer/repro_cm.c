/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/reproducer/repro_cm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "base/text_stream.h"
#include "conformance/engine/reproducer/repro_text.h"
#include "wire/cm.h"

enum {
    MESSAGE = MAD_HEADER_OCTETS, /* the octets below count in the MAD (IBTA 13.4.3, 12.6) */
    TRANSACTION_AT = 8,
    ATTRIBUTE_AT = 16,
    LOCAL_ID_AT = MESSAGE,
    REMOTE_ID_AT = MESSAGE + 4,
    SERVICE_ID_AT = MESSAGE + 8, /* of a REQ; 00 00 00 00, the service's 01, protocol, port (A11.2.2) */
    REQ_QPN_AT = MESSAGE + 32,
    REP_QPN_AT = MESSAGE + 12,
    PRIVATE_AT = MESSAGE + 140, /* of a REQ */
    SOURCE_PORT_AT = PRIVATE_AT + 2,
    REP_PRIVATE_AT = MESSAGE + 36,
    NUMBERS_MAX = 10,
    OWN_IDS_MAX = 16,
    RUN_LEAST = 3, /* so many equal octets are written one by one */
    RESPONDER_SECONDS = 4,
    INITIATOR_SECONDS = 60, /* somebody has to let the device connect */
};

static const char upper_tester[] = "argc > 4 ? argv + 3 : NULL"; /* in main(): where it is, if anywhere */

/* What is repeated, and what decides. */
struct cm_plan {
    struct repro_writer writer;
    const struct repro_evidence *evidence;
    const struct result *result;
    uint32_t own_ids[OWN_IDS_MAX]; /* Local Communication IDs of the tester that are repeated */
    size_t own_count;
    uint32_t numbers[NUMBERS_MAX]; /* of the device, that the tester sends */
    size_t number_count;
    size_t cut;      /* the MAD that decides, or after which nothing comes */
    bool nothing;    /* ... */
    bool kind;       /* that it is a REP decides, and not what stands in it */
    bool port_asked; /* the Source Port was given to the client */
    bool listens;    /* the device is asked to listen where it did */
};

static unsigned attribute(const struct repro_mad *mad)
{
    return octets_get16(mad->octets + ATTRIBUTE_AT);
}

static uint32_t id_at(const struct repro_mad *mad, size_t at)
{
    return octets_get32(mad->octets + at);
}

/* The exchange of a MAD: the tester's Communication ID; a REQ of the device has none yet, and has its transaction. */
static bool same_exchange(const struct repro_mad *a, const struct repro_mad *b)
{
    uint32_t own_a = id_at(a, a->from_dut ? REMOTE_ID_AT : LOCAL_ID_AT);
    uint32_t own_b = id_at(b, b->from_dut ? REMOTE_ID_AT : LOCAL_ID_AT);

    return (own_a != 0 && own_a == own_b) || memcmp(a->octets + TRANSACTION_AT, b->octets + TRANSACTION_AT, 8) == 0;
}

/* Does the exchange of this MAD begin with the check itself? What is left of the good exchange before it is not. */
static bool is_kept(const struct cm_plan *plan, size_t index)
{
    const struct repro_evidence *evidence = plan->evidence;

    if (index < evidence->mads_begun || index > plan->cut)
        return false;
    for (size_t i = 0; i < evidence->mads_begun; i++)
        if (same_exchange(&evidence->mads[i], &evidence->mads[index]))
            return false;
    return true;
}

static int refuse(struct cm_plan *plan, const char *why)
{
    return iwarp_sentence_set(plan->writer.error, "%s", why), 1;
}

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* Is the ULP asked for its events, from this command on? */
static bool is_asked(const struct repro_evidence *evidence, size_t from)
{
    for (size_t i = from; i < evidence->count; i++)
        if (begins(json_string_value(json_object_get(evidence->events[i].asked, "verb")), "cm_poll"))
            return true;
    return false;
}

static int decide(struct cm_plan *plan)
{
    const struct repro_evidence *evidence = plan->evidence;
    const char *actual = plan->result->actual != NULL ? plan->result->actual : "";
    size_t at = SIZE_MAX, decisive = SIZE_MAX;

    for (size_t i = evidence->mads_begun; i < evidence->mad_count; i++)
        if (plan->result->frame != 0 && evidence->mads[i].frame == plan->result->frame)
            at = i;
    if (at == SIZE_MAX)
        return refuse(plan, "the result names no MAD of the check");
    for (plan->cut = at; at > evidence->mads_begun && !is_kept(plan, at);)
        plan->cut = --at; /* the last MAD may be of the good exchange before the check: a late DREP */
    plan->nothing = begins(actual, "no answer");
    plan->kind = strcmp(actual, "REP") == 0;
    if (plan->nothing)
        return 0;
    for (size_t i = evidence->mads_begun; i <= at; i++)
        if (evidence->mads[i].from_dut && same_exchange(&evidence->mads[i], &evidence->mads[at]))
            decisive = i;
    if (decisive == SIZE_MAX)
        return iwarp_sentence_set(plan->writer.error, "what failed (\"%.100s\") is no MAD of the device", actual), 1;
    if (is_asked(evidence,
                 attribute(&evidence->mads[decisive]) == CM_REQ ? evidence->mads[decisive].after : evidence->begun) &&
        !begins(actual, "REJ") && !begins(actual, "REP"))
        return iwarp_sentence_set(plan->writer.error, "what failed (\"%.100s\") is what the upper tester said", actual),
               1;
    plan->cut = decisive;
    return 0;
}

static size_t number_of(const struct cm_plan *plan, uint32_t value)
{
    for (size_t i = 0; i < plan->number_count; i++)
        if (plan->numbers[i] == value)
            return i;
    return SIZE_MAX;
}

static bool is_own_id(const struct cm_plan *plan, uint32_t value)
{
    for (size_t i = 0; i < plan->own_count; i++)
        if (plan->own_ids[i] == value)
            return true;
    return false;
}

/* Did the device begin this transaction? */
static bool begun_by_dut(const struct cm_plan *plan, const struct repro_mad *mad)
{
    for (size_t i = 0; i < plan->evidence->mad_count; i++)
        if (memcmp(plan->evidence->mads[i].octets + TRANSACTION_AT, mad->octets + TRANSACTION_AT, 8) == 0)
            return plan->evidence->mads[i].from_dut;
    return mad->from_dut;
}

static int add_number(struct cm_plan *plan, uint32_t value)
{
    if (value == 0 || number_of(plan, value) != SIZE_MAX)
        return 0;
    if (plan->number_count == NUMBERS_MAX)
        return refuse(plan, "the tester sends too many numbers of the device");
    plan->numbers[plan->number_count++] = value;
    return 0;
}

/* Numbers of the tester that have to be new in each run, and those of the device that it sends. */
static int find_numbers(struct cm_plan *plan)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < plan->evidence->mad_count; i++) {
        const struct repro_mad *mad = &plan->evidence->mads[i];

        if (mad->from_dut || !is_kept(plan, i))
            continue;
        if (id_at(mad, LOCAL_ID_AT) != 0 && !is_own_id(plan, id_at(mad, LOCAL_ID_AT))) {
            if (plan->own_count == OWN_IDS_MAX)
                return refuse(plan, "it needs too many exchanges");
            plan->own_ids[plan->own_count++] = id_at(mad, LOCAL_ID_AT);
        }
        if (attribute(mad) != CM_REQ)
            rc = add_number(plan, id_at(mad, REMOTE_ID_AT));
        if (rc == 0 && begun_by_dut(plan, mad))
            rc = add_number(plan, id_at(mad, TRANSACTION_AT));
        if (rc == 0 && begun_by_dut(plan, mad))
            rc = add_number(plan, id_at(mad, TRANSACTION_AT + 4));
        if (rc == 0 && attribute(mad) == CM_DREQ)
            rc = add_number(plan, id_at(mad, MESSAGE + 8)); /* Remote QPN, and an octet of zero as in the REP */
    }
    return rc;
}

/* Octets of a device's MAD that say nothing about the fault: what it chooses, and what its link is. */
static bool is_free(const struct cm_plan *plan, const struct repro_mad *mad, size_t at)
{
    switch (attribute(mad)) {
    case CM_REQ:
        return (at >= MESSAGE && at < MESSAGE + 4) || (at >= MESSAGE + 16 && at < PRIVATE_AT) ||
               (at >= SOURCE_PORT_AT && at < SOURCE_PORT_AT + 2 && !plan->port_asked) ||
               (at >= TRANSACTION_AT && at < TRANSACTION_AT + 8);
    case CM_REP: return (at >= MESSAGE && at < MESSAGE + 4) || (at >= MESSAGE + 8 && at < REP_PRIVATE_AT);
    default: return at >= MESSAGE && at < MESSAGE + 4;
    }
}

/* Writes the letter, and the value in so many hexadecimal digits, if there is somewhere to write. Returns `octets`. */
static size_t name(FILE *out, size_t octets, char letter, int digits, uint32_t value)
{
    if (out != NULL && digits > 0)
        fprintf(out, "%c%0*" PRIx32, letter, digits, value);
    else if (out != NULL)
        fputc(letter, out);
    return octets;
}

/* How many octets stand at `at` by another name, an address or a number, which is written; 0: none. */
static size_t write_name(const struct cm_plan *plan, const struct repro_mad *mad, size_t at, bool free_octet, FILE *out)
{
    const struct net_address *own = &plan->evidence->cm_own, *dut = &plan->evidence->cm_dut;
    size_t wide = own->family == 4 ? 4 : 16, number;
    bool fits = !free_octet && at + wide <= MAD_OCTETS, sent = !mad->from_dut;
    unsigned kind = attribute(mad);
    uint32_t value;

    if (at % 4 != 0 || at == ATTRIBUTE_AT || at == 0)
        return 0;
    value = octets_get32(mad->octets + at);
    number = number_of(plan, value);
    if (fits && memcmp(mad->octets + at, own->octets, wide) == 0)
        return name(out, wide, 'O', 0, 0);
    if (fits && memcmp(mad->octets + at, dut->octets, wide) == 0)
        return name(out, wide, 'D', 0, 0);
    if (((at == LOCAL_ID_AT || at == REMOTE_ID_AT) && is_own_id(plan, value)) ||
        (at == TRANSACTION_AT + 4 && !begun_by_dut(plan, mad)))
        return name(out, 4, 'I', 8, value);
    if (sent && at == (kind == CM_REQ ? REQ_QPN_AT : kind == CM_REP ? REP_QPN_AT : SIZE_MAX))
        return name(out, 3, 'Q', 6, value >> 8);
    if (number != SIZE_MAX &&
        (at <= REMOTE_ID_AT || (at == MESSAGE + 8 && kind == CM_DREQ) || (at == REP_QPN_AT && kind == CM_REP)))
        return name(out, 4, 'A', 1, (uint32_t)number);
    return 0;
}

/* Is this octet written as that one, and nothing else? */
static bool is_same(const struct cm_plan *plan, const struct repro_mad *mad, size_t at, size_t other)
{
    bool free_octet = mad->from_dut && is_free(plan, mad, at);

    return free_octet == (mad->from_dut && is_free(plan, mad, other)) &&
           (free_octet || mad->octets[at] == mad->octets[other]) && write_name(plan, mad, other, free_octet, NULL) == 0;
}

/* The MAD as octets() of the fixed parts reads it, `until` this octet and whatever follows ("*"); malloc'd or NULL. */
static char *pattern_of(const struct cm_plan *plan, const struct repro_mad *mad, size_t until, bool whatever)
{
    char *text = NULL;
    size_t size, named;
    FILE *out = text_stream_open(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t at = 0; at < until; at += named) {
        bool free_octet = mad->from_dut && is_free(plan, mad, at);

        named = write_name(plan, mad, at, free_octet, out);
        if (named != 0)
            continue;
        for (named = 1; at + named < until && is_same(plan, mad, at, at + named);)
            named++;
        if (named > RUN_LEAST)
            fprintf(out, "R%02zx", named);
        else
            named = 1;
        if (free_octet)
            fputs("..", out);
        else
            fprintf(out, "%02x", mad->octets[at]);
    }
    fputs(whatever ? "*" : "", out);
    return text_stream_close(out, &text) ? text : NULL;
}

/* A call with the pattern, in lines, which C joins again. */
static void write_call(struct repro_writer *writer, const char *call, const char *pattern, const char *end)
{
    size_t used = strlen(call) + 8;

    fprintf(writer->out, "    %s\"", call);
    for (; *pattern != '\0'; pattern++) {
        if (used++ >= REPRO_HEX_LINE) {
            fputs("\"\n          \"", writer->out);
            used = 8;
        }
        fputc(*pattern, writer->out);
    }
    fprintf(writer->out, "\"%s", end);
}

static int write_mad(struct cm_plan *plan, size_t index)
{
    const struct repro_mad *mad = &plan->evidence->mads[index];
    bool decisive = index == plan->cut && !plan->nothing, kind = mad->from_dut && (!decisive || plan->kind);
    size_t until = kind ? REMOTE_ID_AT + 4 : MAD_OCTETS;
    char *pattern;

    while (!mad->from_dut && until > MESSAGE && mad->octets[until - 1] == 0)
        until--;
    pattern = pattern_of(plan, mad, until, kind);
    if (pattern == NULL)
        return iwarp_sentence_set(plan->writer.error, "out of memory");
    plan->writer.blocks |= mad->from_dut ? 0 : REPRO_PUSH;
    write_call(&plan->writer, mad->from_dut ? "comes(" : "sends(", pattern,
               !mad->from_dut ? ");"
               : decisive     ? ", 0);"
                              : ", 2);");
    repro_write_comment(&plan->writer, repro_summary(&plan->writer, mad->frame));
    free(pattern);
    return 0;
}

/* What the fixed parts pass over is not waited for; what the tester sent again, with no answer in between, is sent once. */
static bool is_repeated(const struct cm_plan *plan, size_t index)
{
    const struct repro_mad *mad = &plan->evidence->mads[index];

    if (mad->from_dut && index != plan->cut && (attribute(mad) == CM_MRA || attribute(mad) == CM_DREP))
        return true;
    for (size_t i = index; i-- > plan->evidence->mads_begun;) {
        const struct repro_mad *before = &plan->evidence->mads[i];

        if (!is_kept(plan, i))
            continue;
        if (before->from_dut != mad->from_dut)
            return false;
        if (memcmp(before->octets, mad->octets, MAD_OCTETS) == 0)
            return true;
    }
    return false;
}

/* A command to the upper tester, whose address is that of the tester here. */
static int write_command(struct cm_plan *plan, const struct repro_event *event)
{
    const char *verb = json_string_value(json_object_get(event->asked, "verb"));
    struct repro_writer *writer = &plan->writer;
    bool connects = verb != NULL && strcmp(verb, "cm_connect") == 0;
    json_t *request;
    char *text;

    if (verb == NULL || (!connects && strcmp(verb, "cm_configure") != 0) ||
        !json_is_true(json_object_get(event->answer, "ok")))
        return 0;
    request = json_deep_copy(event->asked);
    if (connects)
        (void)json_object_set_new(request, "address", json_string("@"));
    text = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_SORT_KEYS);
    json_decref(request);
    if (text == NULL)
        return iwarp_sentence_set(writer->error, "out of memory");
    plan->port_asked = connects && json_object_get(event->asked, "source_port") != NULL;
    writer->blocks |= REPRO_UPPER;
    writer->blocks |= connects ? REPRO_CONNECT : 0;
    fprintf(writer->out, connects ? "    ask(%s, TEXT(\"" : "    ask(%s, \"", upper_tester);
    for (const char *at = text; *at != '\0'; at++) {
        if (connects && strncmp(at, "\"@\"", 3) == 0)
            fputs("\\\"%s\\\"", writer->out), at += 2;
        else
            fprintf(writer->out, *at == '"' || *at == '\\' ? "\\%c" : connects && *at == '%' ? "%%%c" : "%c", *at);
    }
    fputs(connects ? "\", own_address));\n" : "\");\n", writer->out);
    free(text);
    return 0;
}

/* A REQ of the tester that the device has taken: where it listens. NULL: none. */
static const struct repro_mad *taken_request(const struct repro_evidence *evidence)
{
    for (size_t i = 0; i < evidence->mad_count; i++)
        for (size_t k = i; k < evidence->mad_count; k++)
            if (!evidence->mads[i].from_dut && attribute(&evidence->mads[i]) == CM_REQ && evidence->mads[k].from_dut &&
                attribute(&evidence->mads[k]) == CM_REP && same_exchange(&evidence->mads[i], &evidence->mads[k]))
                return &evidence->mads[i];
    return NULL;
}

/* The device listens where it did: a new one, or a new upper tester of it, may listen nowhere. A check may say where itself. */
static void write_listener(struct cm_plan *plan)
{
    const struct repro_evidence *evidence = plan->evidence;
    const struct repro_mad *request = taken_request(evidence);
    uint64_t service_id = request != NULL ? octets_get64(request->octets + SERVICE_ID_AT) : 0;

    for (size_t i = evidence->begun; i < evidence->count; i++)
        if (begins(json_string_value(json_object_get(evidence->events[i].asked, "verb")), "cm_configure"))
            return;
    if (!plan->listens || !ip_cm_in_range(service_id))
        return;
    plan->writer.blocks |= REPRO_UPPER;
    fprintf(plan->writer.out,
            "    ask(%s, "
            "\"{\\\"verb\\\":\\\"cm_configure\\\",\\\"listen\\\":[{\\\"protocol\\\":%u,\\\"port\\\":%u}]}\");\n",
            upper_tester, (unsigned)(service_id >> 16 & UINT8_MAX), (unsigned)(service_id & UINT16_MAX));
}

/* The body of main(). */
static int write_steps(struct cm_plan *plan)
{
    const struct repro_evidence *evidence = plan->evidence;
    size_t next = evidence->begun;
    int rc = 0;

    write_listener(plan);
    for (size_t i = evidence->mads_begun; rc == 0 && i <= plan->cut; i++) {
        for (; rc == 0 && next < evidence->mads[i].after; next++)
            rc = evidence->events[next].asked != NULL ? write_command(plan, &evidence->events[next]) : 0;
        if (rc == 0 && is_kept(plan, i) && !is_repeated(plan, i))
            rc = write_mad(plan, i);
    }
    if (rc == 0 && plan->nothing)
        fprintf(plan->writer.out, "    comes(\"!R%02x..I%08" PRIx32 "*\", 0);\n", REMOTE_ID_AT,
                id_at(&evidence->mads[plan->cut], LOCAL_ID_AT));
    return rc;
}

static void write_file(struct cm_plan *plan, const char *tool, const char *steps)
{
    const struct repro_evidence *evidence = plan->evidence;
    struct repro_writer *writer = &plan->writer;
    char own[48], dut[48];
    bool upper = (writer->blocks & REPRO_UPPER) != 0;

    (void)net_address_format(&evidence->cm_own, own, sizeof(own));
    (void)net_address_format(&evidence->cm_dut, dut, sizeof(dut));
    repro_write_head(writer, tool, plan->result->role != NULL ? plan->result->role : "responder",
                     upper ? "OWN-ADDRESS ADDRESS [CONTROL-ADDRESS CONTROL-PORT [TOKEN]]" : "OWN-ADDRESS ADDRESS");
    repro_write_fixed(writer, "reports/assets/reproducer-cm.c.in");
    fprintf(writer->out, "int main(int argc, char **argv)\n{\n");
    if ((writer->blocks & REPRO_CONNECT) != 0)
        fprintf(writer->out,
                "    const char *own_address = argc > 1 ? argv[1] : \"%s\";\n\n"
                "    open_at(own_address, argc > 2 ? argv[2] : \"%s\");\n",
                own, dut);
    else
        fprintf(writer->out, "    open_at(argc > 1 ? argv[1] : \"%s\", argc > 2 ? argv[2] : \"%s\");\n", own, dut);
    fputs(steps, writer->out);
    fputs("    return end_with(1, \"as it was when the check failed\");\n}\n", writer->out);
}

/* Steps first: they say which of the fixed parts are needed. */
static int write_text(struct cm_plan *plan, const char *tool, char **text)
{
    struct repro_writer *writer = &plan->writer;
    char *steps = NULL;
    size_t size;
    int rc;

    writer->out = text_stream_open(&steps, &size);
    if (writer->out == NULL)
        return iwarp_sentence_set(writer->error, "out of memory");
    writer->blocks = plan->number_count != 0 ? REPRO_LEARN : 0;
    writer->silence = plan->evidence->mads[plan->cut].from_dut && attribute(&plan->evidence->mads[plan->cut]) == CM_REQ
                          ? INITIATOR_SECONDS
                          : RESPONDER_SECONDS;
    rc = write_steps(plan);
    if (!text_stream_close(writer->out, &steps))
        rc = iwarp_sentence_set(writer->error, "out of memory");
    writer->out = rc == 0 ? text_stream_open(text, &size) : NULL;
    if (writer->out != NULL)
        write_file(plan, tool, steps);
    if (rc == 0 && (writer->out == NULL || !text_stream_close(writer->out, text)))
        rc = iwarp_sentence_set(writer->error, "out of memory");
    free(steps);
    return rc == 0 ? repro_lines_fit(text, writer->error) : rc;
}

int repro_cm_write(const struct repro_evidence *evidence, const struct result *result, const char *tool, char **text,
                   struct iwarp_sentence *error)
{
    struct repro_plan *common = calloc(1, sizeof(*common)); /* what the parts of all reproducers look at */
    struct cm_plan plan = {.evidence = evidence, .result = result, .writer = {.plan = common, .error = error}};
    int rc;

    *text = NULL;
    if (common == NULL)
        return iwarp_sentence_set(error, "out of memory");
    common->evidence = evidence;
    common->result = result;
    rc = decide(&plan);
    if (rc == 0)
        rc = find_numbers(&plan);
    /* Where the file would be too long by it, somebody lets the device listen. */
    for (int listens = 1; rc == 0 && *text == NULL && listens >= 0; listens--) {
        plan.listens = listens != 0;
        rc = write_text(&plan, tool, text);
        rc = listens != 0 && rc > 0 ? 0 : rc;
    }
    free(common);
    return rc;
}
