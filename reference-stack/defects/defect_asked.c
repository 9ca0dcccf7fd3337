/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_asked.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/defect_compile.h"

struct defect_set *defect_set_asking(struct iwarp_sentence *sentence)
{
    struct defect_set *set = defect_set_empty();

    if (set != NULL)
        set->asked = calloc(1, sizeof(*set->asked));
    if (set != NULL && set->asked != NULL)
        return set;
    (void)iwarp_sentence_set(sentence, "defects: out of memory");
    free(set);
    return NULL;
}

void defect_set_forget(struct defect_set *set)
{
    memset(set->asked, 0, sizeof(*set->asked));
}

void defect_note_behaviour(const struct defect_set *set, enum defect_behaviour behaviour)
{
    set->asked->behaviours[behaviour] = true;
}

void defect_note_judged(const struct defect_set *set, size_t entry)
{
    if (set->asked != NULL)
        set->asked->judged[entry] = true;
}

/* What a row that is confined to a range may have been about (defect_quantity.h). */
static void note_numbers(struct defect_asked *asked, const struct validation_subject *subject, size_t entry)
{
    for (size_t i = 0; i < defect_quantity_count(); i++) {
        struct defect_range *range = &asked->numbers[entry][i];
        int64_t value;

        if (!defect_quantity_at(i)->of(subject, &value))
            continue;
        range->low = !range->seen || value < range->low ? value : range->low;
        range->high = !range->seen || value > range->high ? value : range->high;
        range->seen = true;
    }
}

void defect_note_refused(const struct defect_set *set, const struct validation_subject *subject, size_t entry)
{
    if (set->asked == NULL)
        return;
    set->asked->refused[entry] = true;
    note_numbers(set->asked, subject, entry);
}

void defect_note_others(const struct defect_set *set, const struct validation_subject *subject, size_t at, size_t end)
{
    for (; set->asked != NULL && at < end; at++)
        if (!validation_table[at].holds(subject)) {
            set->asked->also[at] = true;
            note_numbers(set->asked, subject, at);
        }
}

void defect_note_cm(const struct defect_set *set, size_t entry)
{
    if (set->asked != NULL)
        set->asked->cm[entry] = true;
}

void defect_note_sent(const struct defect_set *set, enum defect_target target, uint16_t opcodes)
{
    if (set->asked != NULL)
        set->asked->opcodes[target] |= opcodes;
}

/* What an override does to a subject that is refused it does there; these two act on any that lies in their range. */
static bool acts_on_any(const struct defect_override *override)
{
    return override->quantity != NULL && (override->kind == OVERRIDE_OFF || override->kind == OVERRIDE_FAIL);
}

/* What the stack is configured with is asked for before any check begins. */
static bool asked_for(const struct defect_asked *asked, const struct defect_set *row)
{
    if (row->setting_count != 0)
        return true;
    for (size_t i = 0; i < DEFECT_BEHAVIOUR_COUNT; i++)
        if (row->behaviours[i] && asked->behaviours[i])
            return true;
    for (size_t i = 0; i < VALIDATIONS_MAX; i++)
        if (row->overrides[i].kind != OVERRIDE_NONE &&
            (asked->refused[i] || (asked->judged[i] && acts_on_any(&row->overrides[i]))))
            return true;
    for (size_t i = 0; i < CM_VALIDATIONS_MAX; i++)
        if (row->cm[i].kind != CM_OVERRIDE_NONE && asked->cm[i])
            return true;
    for (size_t i = 0; i < row->transmit_count; i++)
        if ((asked->opcodes[row->transmits[i].target] & row->transmits[i].opcodes) != 0)
            return true;
    return false;
}

/* A set with this row alone, which free() frees; NULL: no memory, or the row cannot be compiled. */
static struct defect_set *row_compile(const struct defect *defect)
{
    struct defect_set *row = calloc(1, sizeof(*row));
    struct iwarp_sentence sentence;

    if (row != NULL && defect_compile(defect, row, &sentence) == 0)
        return row;
    free(row);
    return NULL;
}

bool defect_set_asked(const struct defect_set *set, const struct defect *defect)
{
    struct defect_set *row = row_compile(defect);
    bool asked = row == NULL || asked_for(set->asked, row);

    free(row);
    return asked;
}

bool defect_set_judged(const struct defect_set *set, size_t entry)
{
    return set->asked->judged[entry];
}

bool defect_set_may_end(const struct defect_set *set)
{
    return set->asked != NULL &&
           (set->asked->behaviours[DEFECT_SCTP_DUPLICATE_ENDS] || set->asked->behaviours[DEFECT_SCTP_GAP_ENDS]);
}

bool defect_set_refused(const struct defect_set *set, size_t entry)
{
    return set->asked->refused[entry] || set->asked->also[entry];
}

bool defect_set_may_apply(const struct defect_set *set, const struct defect *defect, size_t entry)
{
    struct defect_set *row;
    bool applies = true;

    if (defect->value == NULL || strchr(defect->value, '@') == NULL || !defect_set_refused(set, entry))
        return true;
    row = row_compile(defect);
    if (row != NULL && row->overrides[entry].quantity != NULL) {
        const struct defect_override *override = &row->overrides[entry];
        const struct defect_range *range = &set->asked->numbers[entry][override->quantity - defect_quantity_at(0)];

        applies = range->seen && range->low <= override->high && override->low <= range->high;
    }
    free(row);
    return applies;
}
