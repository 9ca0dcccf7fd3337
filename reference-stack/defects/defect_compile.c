/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of defects.tsv into their compact form. */
#include "reference-stack/defects/defect_compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/defect_quantity.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/marker.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "base/nearest.h"
#include "wire/rdmap.h"

#define BEHAVIOUR_ROW(id, name, meaning) [DEFECT_##id] = {name, meaning},
const struct defect_behaviour_row defect_behaviour_rows[DEFECT_BEHAVIOUR_COUNT] = {DEFECT_BEHAVIOURS(BEHAVIOUR_ROW)};

/* --- Numbers --------------------------------------------------------------------------------------------------- */

/* A number, decimal or 0x; negative ones wrap. `end` is where it stops. */
static int number(const char *text, uint64_t *value, const char **end)
{
    char *stop;
    bool negative = text[0] == '-';

    errno = 0;
    *value = strtoull(negative ? text + 1 : text, &stop, 0);
    if (negative)
        *value = 0 - *value;
    *end = stop;
    return errno != 0 || stop == text + negative ? -1 : 0;
}

/* --- validate -------------------------------------------------------------------------------------------------- */

/* A triple by its name ("DDP_INVALID_QN"), or as the number of its three parts ("0x1201"). */
static int triple_of(const char *text, wire_result *triple)
{
    const struct terminate_error *error = terminate_error_named(text);
    const char *end;
    uint64_t value;

    if (error != NULL) {
        *triple = error->triple;
        return 0;
    }
    if (number(text, &value, &end) != 0 || *end != '\0' || value > 0xFFFF)
        return -1;
    *triple = WIRE_ERROR_BIT | (wire_result)value;
    return 0;
}

/* "NUMBER" or "LOW..HIGH" */
static int range_of(const char *text, int64_t *low, int64_t *high)
{
    const char *end;
    uint64_t value;

    if (number(text, &value, &end) != 0)
        return -1;
    *low = *high = (int64_t)value;
    if (strncmp(end, "..", 2) == 0) {
        if (number(end + 2, &value, &end) != 0)
            return -1;
        *high = (int64_t)value;
    }
    return *end == '\0' && *low <= *high ? 0 : -1;
}

/* "@QUANTITY=RANGE", or nothing: always. */
static int compile_where(const char *text, struct defect_override *override, struct iwarp_sentence *sentence)
{
    size_t name = strcspn(text, "=");

    if (*text == '\0')
        return 0;
    if (*text == '@' && text[name] == '=') {
        override->quantity = defect_quantity_find(text + 1, name - 1);
        if (override->quantity == NULL)
            return iwarp_sentence_set(sentence, "'%s': nothing that is judged has a number of that name", text);
        if (range_of(text + name + 1, &override->low, &override->high) == 0)
            return 0;
    }
    return iwarp_sentence_set(sentence, "'%s': @QUANTITY=NUMBER or @QUANTITY=LOW..HIGH was expected", text);
}

/* Before "@" stands the triple of an operation that has one. */
static int compile_triple(const char *value, struct defect_override *override, struct iwarp_sentence *sentence)
{
    char name[64] = "";
    size_t octets = strcspn(value, "@");

    if (octets < sizeof(name)) {
        memcpy(name, value, octets);
        name[octets] = '\0';
        if (triple_of(name, &override->triple) == 0)
            return compile_where(value + octets, override, sentence);
    }
    return iwarp_sentence_set(
        sentence, "'%s' is no Terminate triple: a name such as DDP_INVALID_QN or 0x1201 was expected", value);
}

static int compile_override(const struct defect *defect, struct defect_override *override,
                            struct iwarp_sentence *sentence)
{
    static const struct {
        const char *name;
        int kind;
        enum validation_action action;
    } operations[] = {
        {"off", OVERRIDE_OFF, VALIDATION_TERMINATE},   {"ignore", OVERRIDE_IGNORE, VALIDATION_TERMINATE},
        {"fail", OVERRIDE_FAIL, VALIDATION_TERMINATE}, {"terminate", OVERRIDE_ACTION, VALIDATION_TERMINATE},
        {"close", OVERRIDE_ACTION, VALIDATION_CLOSE},  {"abort", OVERRIDE_ACTION, VALIDATION_ABORT},
        {"hang", OVERRIDE_ACTION, VALIDATION_HANG},    {"reject", OVERRIDE_ACTION, VALIDATION_REJECT},
    };

    memset(override, 0, sizeof(*override));
    if (strcmp(defect->operation, "triple") == 0) {
        override->kind = OVERRIDE_TRIPLE;
        return compile_triple(defect->value, override, sentence);
    }
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(defect->operation, operations[i].name) != 0)
            continue;
        override->kind = operations[i].kind;
        override->action = operations[i].action;
        if (override->kind == OVERRIDE_FAIL && defect->value[0] == '\0')
            return iwarp_sentence_set(sentence, "'fail' needs @QUANTITY=NUMBER or @QUANTITY=LOW..HIGH");
        return compile_where(defect->value, override, sentence);
    }
    return iwarp_sentence_set(
        sentence,
        "validate has no operation '%s': off, fail, ignore, triple, terminate, close, abort, hang or "
        "reject was expected",
        defect->operation);
}

/* Of the CM's table: what its REJs say. */
static int compile_cm_override(const struct defect *defect, struct defect_cm_override *override,
                               struct iwarp_sentence *sentence)
{
    const char *end;
    uint64_t value;

    memset(override, 0, sizeof(*override));
    if (strcmp(defect->operation, "off") == 0 || strcmp(defect->operation, "ignore") == 0) {
        override->kind = defect->operation[0] == 'o' ? CM_OVERRIDE_OFF : CM_OVERRIDE_SILENT;
        return 0;
    }
    if (strcmp(defect->operation, "reason") != 0 && strcmp(defect->operation, "code") != 0)
        return iwarp_sentence_set(sentence,
                                  "validate has no operation '%s' for a CM: off, ignore, reason or code was expected",
                                  defect->operation);
    override->kind = defect->operation[0] == 'r' ? CM_OVERRIDE_REASON : CM_OVERRIDE_CODE;
    if (number(defect->value, &value, &end) != 0 || *end != '\0' ||
        value > (override->kind == CM_OVERRIDE_REASON ? UINT16_MAX : UINT8_MAX))
        return iwarp_sentence_set(sentence, "'%s': a number was expected that fits the field", defect->value);
    override->value = (uint16_t)value;
    return 0;
}

static int compile_cm_validate(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence)
{
    struct defect_cm_override override;
    const struct cm_validation *entry;

    if (compile_cm_override(defect, &override, sentence) != 0)
        return -1;
    for (size_t n = 0; (entry = cm_validation_find(defect->target, n)) != NULL; n++)
        set->cm[entry - cm_validation_table] = override;
    return 0;
}

/* A target may be an entry's requirement or its name. */
static const char *validation_name_at(const void *table, size_t index)
{
    const struct validation *entry = (const struct validation *)table + index / 2;

    return index % 2 == 0 ? entry->requirement : entry->name;
}

static int compile_validate(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence)
{
    struct defect_override override;
    const struct validation *entry;
    char hint[NEAREST_HINT_OCTETS];

    if (cm_validation_find(defect->target, 0) != NULL)
        return compile_cm_validate(defect, set, sentence);
    if (validation_find(defect->target, 0) == NULL)
        return iwarp_sentence_set(
            sentence, "no validation is called '%s'%s", defect->target,
            nearest_hint(nearest_name(defect->target, validation_name_at, validation_table, 2 * validation_count),
                         hint));
    if (compile_override(defect, &override, sentence) != 0)
        return -1;
    for (size_t n = 0; (entry = validation_find(defect->target, n)) != NULL; n++)
        set->overrides[entry - validation_table] = override;
    return 0;
}

/* --- transmit -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum defect_target target;
    const struct wire_layout *layout;
} targets[] = {
    {"mpa_request", TARGET_REQUEST, &mpa_start_layout},
    {"mpa_reply", TARGET_REPLY, &mpa_start_layout},
    {"mpa_reject", TARGET_REJECT, &mpa_start_layout},
    {"mpa_request_word", TARGET_REQUEST_WORD, &mpa_enhanced_layout},
    {"mpa_reply_word", TARGET_REPLY_WORD, &mpa_enhanced_layout},
    {"fpdu", TARGET_FPDU, &fpdu_layout},
    {"marker", TARGET_MARKER, &marker_layout},
    {"ddp_tagged", TARGET_TAGGED, &ddp_tagged_layout},
    {"ddp_untagged", TARGET_UNTAGGED, &ddp_untagged_layout},
    {"rdmap_control", TARGET_CONTROL, &rdmap_control_layout},
    {"rdmap_untagged", TARGET_RDMAP_UNTAGGED, &rdmap_untagged_layout},
    {"read_request", TARGET_READ_REQUEST, &read_request_layout},
    {"atomic_request", TARGET_ATOMIC_REQUEST, &atomic_request_layout},
    {"atomic_response", TARGET_ATOMIC_RESPONSE, &atomic_response_layout},
    {"immediate", TARGET_IMMEDIATE, &immediate_layout},
    {"terminate", TARGET_TERMINATE, &terminate_layout},
    {"terminate_length", TARGET_TERMINATE_LENGTH, &terminate_length_layout},
    {"ddp_sctp_segment", TARGET_SCTP_SEGMENT, &ddp_sctp_segment_layout},
    {"ddp_sctp_control", TARGET_SCTP_CONTROL, &ddp_sctp_control_layout},
    {"ddp_sctp_draft_control", TARGET_SCTP_RESET, &ddp_sctp_draft_control_layout},
    {"mad", TARGET_MAD, &mad_layout},
    {"cm_req", TARGET_CM_REQ, &cm_req_layout},
    {"cm_mra", TARGET_CM_MRA, &cm_mra_layout},
    {"cm_rej", TARGET_CM_REJ, &cm_rej_layout},
    {"cm_rep", TARGET_CM_REP, &cm_rep_layout},
    {"cm_rtu", TARGET_CM_RTU, &cm_ids_layout},
    {"cm_dreq", TARGET_CM_DREQ, &cm_dreq_layout},
    {"cm_drep", TARGET_CM_DREP, &cm_ids_layout},
    {"ip_cm_private", TARGET_IP_CM_PRIVATE, &ip_cm_private_layout},
    {"ip_cm_ari", TARGET_IP_CM_ARI, &ip_cm_ari_layout},
};

static const struct {
    const char *name;
    uint16_t opcodes;
} messages[] = {
    {"write", 1 << IWARP_RDMAP_WRITE},
    {"read_request", 1 << IWARP_RDMAP_READ_REQUEST},
    {"read_response", 1 << IWARP_RDMAP_READ_RESPONSE},
    {"send", 1 << IWARP_RDMAP_SEND | 1 << IWARP_RDMAP_SEND_INVALIDATE | 1 << IWARP_RDMAP_SEND_SE |
                 1 << IWARP_RDMAP_SEND_SE_INVALIDATE},
    {"send_plain", 1 << IWARP_RDMAP_SEND},
    {"send_invalidate", 1 << IWARP_RDMAP_SEND_INVALIDATE},
    {"send_se", 1 << IWARP_RDMAP_SEND_SE},
    {"send_se_invalidate", 1 << IWARP_RDMAP_SEND_SE_INVALIDATE},
    {"terminate", 1 << IWARP_RDMAP_TERMINATE},
    {"immediate", 1 << IWARP_RDMAP_IMMEDIATE | 1 << IWARP_RDMAP_IMMEDIATE_SE},
    {"atomic_request", 1 << IWARP_RDMAP_ATOMIC_REQUEST},
    {"atomic_response", 1 << IWARP_RDMAP_ATOMIC_RESPONSE},
};

static int compile_field(const struct wire_layout *layout, const char *name, struct defect_transmit *transmit,
                         struct iwarp_sentence *sentence)
{
    transmit->field = wire_layout_field(layout, name);
    if (transmit->field != NULL && transmit->field->kind != WIRE_OCTETS)
        return 0;
    if (transmit->field != NULL && strcmp(name, "key") == 0)
        return 0;
    if (transmit->target == TARGET_FPDU) {
        if (strcmp(name, "pad") == 0)
            transmit->pseudo = PSEUDO_PAD;
        else if (strcmp(name, "pad_octets") == 0)
            transmit->pseudo = PSEUDO_PAD_OCTETS;
        else if (strcmp(name, "crc") == 0)
            transmit->pseudo = PSEUDO_CRC;
        else if (strcmp(name, "ulpdu_octets") == 0)
            transmit->pseudo = PSEUDO_ULPDU_OCTETS;
        if (transmit->pseudo != PSEUDO_NONE)
            return 0;
    }
    return iwarp_sentence_set(sentence, "%s has no field '%s'", layout->id, name);
}

/* "[message/]layout.field" */
static int compile_target(const char *text, struct defect_transmit *transmit, const struct wire_layout **layout,
                          struct iwarp_sentence *sentence)
{
    const char *slash = strchr(text, '/');
    const char *at = slash == NULL ? text : slash + 1;
    const char *dot = strchr(at, '.');

    transmit->opcodes = 0xFFFF;
    for (size_t i = 0; slash != NULL && i < sizeof(messages) / sizeof(messages[0]); i++) {
        if (strlen(messages[i].name) == (size_t)(slash - text) &&
            strncmp(messages[i].name, text, (size_t)(slash - text)) == 0)
            transmit->opcodes = messages[i].opcodes;
    }
    if (slash != NULL && transmit->opcodes == 0xFFFF)
        return iwarp_sentence_set(sentence, "'%s': no message of that name", text);
    if (dot == NULL)
        return iwarp_sentence_set(sentence, "'%s': layout.field was expected", text);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        if (strlen(targets[i].name) == (size_t)(dot - at) && strncmp(targets[i].name, at, (size_t)(dot - at)) == 0) {
            transmit->target = targets[i].target;
            *layout = targets[i].layout;
            return compile_field(*layout, dot + 1, transmit, sentence);
        }
    }
    return iwarp_sentence_set(sentence, "'%s': no layout of that name is sent", text);
}

/*
 * "@3" the third, "@3+" from the third on, "@last" segments with L = 1, "@later" all but the first of a message,
 * "@pad0" to "@pad3" where so many octets of pad are due
 */
static int compile_when(const char *text, struct defect_transmit *transmit, struct iwarp_sentence *sentence)
{
    const char *end;
    uint64_t nth;

    if (*text == '\0')
        return 0;
    if (strcmp(text, "@last") == 0) {
        transmit->when = WHEN_LAST;
        return 0;
    }
    if (strcmp(text, "@later") == 0) {
        transmit->when = WHEN_LATER;
        return 0;
    }
    if (strncmp(text, "@pad", 4) == 0 && text[4] >= '0' && text[4] <= '0' + FPDU_PAD_MAX && text[5] == '\0') {
        transmit->nth = (uint32_t)(text[4] - '0');
        transmit->when = WHEN_PAD;
        return 0;
    }
    if (*text == '@' && number(text + 1, &nth, &end) == 0 && nth != 0 && nth <= UINT32_MAX &&
        (*end == '\0' || strcmp(end, "+") == 0)) {
        transmit->nth = (uint32_t)nth;
        transmit->when = *end == '+' ? WHEN_FROM_NTH : WHEN_NTH;
        return 0;
    }
    return iwarp_sentence_set(sentence, "'%s': @n, @n+, @last, @later or @pad0 to @pad3 was expected", text);
}

/* SWAP and COPY name another field of the layout. */
static int compile_other(const char *value, const struct wire_layout *layout, struct defect_transmit *transmit,
                         struct iwarp_sentence *sentence)
{
    size_t octets = strcspn(value, "@");
    char name[32];

    if (octets >= sizeof(name))
        return iwarp_sentence_set(sentence, "'%s': a field's name was expected", value);
    memcpy(name, value, octets);
    name[octets] = '\0';
    transmit->other = wire_layout_field(layout, name);
    if (transmit->other == NULL || transmit->other->kind == WIRE_OCTETS || transmit->pseudo != PSEUDO_NONE)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no layout, no field: refused above */
        return iwarp_sentence_set(sentence, "%s has no field '%s' to exchange with", layout->id, name);
    return compile_when(value + octets, transmit, sentence);
}

/* A field of whole octets, and the value "on". */
static int compile_reverse(const struct defect *defect, struct defect_transmit *transmit,
                           struct iwarp_sentence *sentence)
{
    size_t octets = strcspn(defect->value, "@");
    const struct wire_field *field = transmit->field;

    if (field == NULL || field->kind == WIRE_OCTETS || field->bits % 8 != 0 || field->bits > 64 ||
        transmit->pseudo != PSEUDO_NONE)
        return iwarp_sentence_set(sentence, "'%s' has no octets to reverse", defect->target);
    if (octets != 2 || strncmp(defect->value, "on", 2) != 0)
        return iwarp_sentence_set(sentence, "'%s': on was expected", defect->value);
    return compile_when(defect->value + octets, transmit, sentence);
}

static int compile_transmit(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence)
{
    static const char *const names[] = {"set", "add", "xor", "swap", "copy", "reverse"};
    struct defect_transmit transmit = {0};
    const struct wire_layout *layout = NULL;
    const char *end;
    size_t operation = 0;

    if (compile_target(defect->target, &transmit, &layout, sentence) != 0)
        return -1;
    while (operation < sizeof(names) / sizeof(names[0]) && strcmp(names[operation], defect->operation) != 0)
        operation++;
    if (operation == sizeof(names) / sizeof(names[0]))
        return iwarp_sentence_set(sentence,
                                  "transmit has no operation '%s': set, add, xor, swap, copy or reverse was expected",
                                  defect->operation);
    transmit.operation = (enum defect_operation)operation;
    if (transmit.operation == OPERATION_SWAP || transmit.operation == OPERATION_COPY) {
        if (compile_other(defect->value, layout, &transmit, sentence) != 0)
            return -1;
    } else if (transmit.operation == OPERATION_REVERSE) {
        if (compile_reverse(defect, &transmit, sentence) != 0)
            return -1;
    } else {
        if (number(defect->value, &transmit.value, &end) != 0)
            return iwarp_sentence_set(sentence, "'%s': a number was expected", defect->value);
        if (compile_when(end, &transmit, sentence) != 0)
            return -1;
    }
    if (set->transmit_count == DEFECT_TRANSMITS_MAX)
        return iwarp_sentence_set(sentence, "more than %d transmit defects at once", DEFECT_TRANSMITS_MAX);
    set->transmits[set->transmit_count++] = transmit;
    return 0;
}

/* --- behaviour ------------------------------------------------------------------------------------------------- */

static const char *behaviour_name_at(const void *unused, size_t index)
{
    (void)unused;
    return defect_behaviour_rows[index].name;
}

/* "@error=0x12", "@triple=0x1204", or nothing: in all cases. */
static int compile_error(const char *text, uint32_t *error, struct iwarp_sentence *sentence)
{
    bool triple = strncmp(text, "@triple=", 8) == 0;
    const char *end;
    uint64_t value;

    *error = 0;
    if (*text == '\0')
        return 0;
    if ((!triple && strncmp(text, "@error=", 7) != 0) || number(text + (triple ? 8 : 7), &value, &end) != 0 ||
        *end != '\0' || value > (triple ? UINT16_MAX : UINT8_MAX))
        return iwarp_sentence_set(
            sentence, "'%s': @error= and the first octet of a Terminate, or @triple= and two, were expected", text);
    *error = (uint32_t)(value | (triple ? DEFECT_TRIPLE : DEFECT_ERROR));
    return 0;
}

static int compile_behaviour(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence)
{
    char hint[NEAREST_HINT_OCTETS];
    uint32_t error;

    if (compile_error(defect->value, &error, sentence) != 0)
        return -1;
    if (strcmp(defect->operation, "on") != 0)
        return iwarp_sentence_set(sentence, "behaviour has no operation '%s': on was expected", defect->operation);
    for (size_t i = 0; i < DEFECT_BEHAVIOUR_COUNT; i++) {
        if (strcmp(defect_behaviour_rows[i].name, defect->target) == 0) {
            set->behaviours[i] = true;
            set->errors[i] = error;
            return 0;
        }
    }
    return iwarp_sentence_set(
        sentence, "no behaviour is called '%s'%s", defect->target,
        nearest_hint(nearest_name(defect->target, behaviour_name_at, NULL, DEFECT_BEHAVIOUR_COUNT), hint));
}

int defect_compile(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence)
{
    if (strcmp(defect->hook, "validate") == 0)
        return compile_validate(defect, set, sentence);
    if (strcmp(defect->hook, "transmit") == 0)
        return compile_transmit(defect, set, sentence);
    if (strcmp(defect->hook, "behaviour") == 0)
        return compile_behaviour(defect, set, sentence);
    if (strcmp(defect->hook, "configure") == 0)
        return defect_setting_compile(defect, set, sentence);
    return iwarp_sentence_set(
        sentence, "no hook is called '%s': validate, transmit, configure or behaviour was expected", defect->hook);
}
