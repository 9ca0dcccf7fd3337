/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_named.h"

#include <stdio.h>
#include <string.h>

#include "base/cells.h"
#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "tools/embedded.h"

enum { ID_OCTETS = 64, LLPS_OCTETS = 64 };

/* The columns of reference-stack/defects/defects-uncaught.tsv. */
enum { DEFECT, REQUIREMENT, LLPS, REASON, COLUMNS };

static bool is_text(struct cell cell, const char *text)
{
    return strlen(text) == cell.octets && memcmp(text, cell.text, cell.octets) == 0;
}

static bool is_excused(const char *defect, const char *id, const char *llp)
{
    const struct embedded_file *file =
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-uncaught.tsv");
    const char *at = file != NULL ? (const char *)file->octets : "", *end = at + (file != NULL ? file->size : 0);
    struct cell cells[COLUMNS];
    char llps[LLPS_OCTETS];

    while (cells_next(&at, end, cells, COLUMNS) != 0) {
        (void)snprintf(llps, sizeof(llps), "%.*s", (int)cells[LLPS].octets, cells[LLPS].text);
        if (cells[REASON].octets != 0 && is_text(cells[DEFECT], defect) && is_text(cells[REQUIREMENT], id) &&
            defect_is_among(llps, llp))
            return true;
    }
    return false;
}

bool prove_named_has(const json_t *ids, const char *id)
{
    const json_t *one;
    size_t i;

    json_array_foreach(ids, i, one)
    {
        if (strcmp(json_string_value(one), id) == 0)
            return true;
    }
    return false;
}

/*
 * Rules of the draft's text see a device that keeps it, and no other; those of RFC 6581 none that does; those of MPA,
 * unless the row names SCTP (RFC 6581 7), one over TCP.
 */
static bool is_of_other_text(const struct requirement *requirement, const struct prove_judges *judges)
{
    bool draft = strcmp(judges->llp, "sctp-draft02") == 0;

    if (strstr(requirement->capability, "sctp.draft02") != NULL)
        return !draft;
    if (draft && strstr(requirement->capability, "mpa.rev2") != NULL)
        return true;
    return requirement->layer == REQUIREMENT_LAYER_MPA && (judges->flows & 1U << FLOW_CONNECTION) == 0 &&
           strstr(requirement->capability, "sctp") == NULL;
}

static bool is_judged(const struct prove_judges *judges, const char *id)
{
    const struct rule *rule = rule_find(id);
    const struct requirement *requirement = catalogue_find(judges->catalogue, id);
    struct iwarp_sentence reason, error;

    if (prove_named_has(judges->decided, id))
        return true;
    return rule != NULL && (rule->flows & judges->flows) != 0 && requirement != NULL &&
           !is_of_other_text(requirement, judges) &&
           (requirement->capability[0] == '\0' ||
            pics_evaluate(judges->pics, requirement->capability, &reason, &error) == 1);
}

/* The next id of a list that commas separate; false at its end. */
static bool id_next(const char **at, char id[ID_OCTETS])
{
    size_t octets = strcspn(*at, ",");

    if (octets == 0)
        return false;
    (void)snprintf(id, ID_OCTETS, "%.*s", (int)octets, *at);
    *at += octets + ((*at)[octets] == ',');
    return true;
}

json_t *prove_named_uncaught(const struct prove_judges *judges, const struct defect *defect, const json_t *caught)
{
    json_t *uncaught = json_array();
    const char *at = defect->requirement;
    char id[ID_OCTETS];

    while (uncaught != NULL && id_next(&at, id))
        if (!prove_named_has(caught, id) && is_judged(judges, id) && !is_excused(defect->id, id, judges->llp))
            (void)json_array_append_new(uncaught, json_string(id));
    return uncaught;
}

json_t *prove_named_needless(const struct prove_judges *judges, const struct defect *defect, const json_t *caught)
{
    json_t *needless = json_array();
    const char *at = defect->requirement;
    char id[ID_OCTETS];

    while (needless != NULL && id_next(&at, id))
        if (prove_named_has(caught, id) && is_excused(defect->id, id, judges->llp))
            (void)json_array_append_new(needless, json_string(id));
    return needless;
}
