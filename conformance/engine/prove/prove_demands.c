/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_demands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/no_defect.h"
#include "tools/embedded.h"

enum { KILL_MAX = 128, ROLES = 2 };

static const char *const roles[ROLES] = {"responder", "initiator"};

struct prove_demands {
    json_t *kills;  /* "ID role VERDICT", as members */
    json_t *levels; /* by defect: what it drew so, of what it names */
};

/* Where the sentences go. */
struct teller {
    const struct prove_demands *demands;
    void (*unmet)(void *user, const char *text);
    void *user;
    size_t count;
};

struct prove_demands *prove_demands_new(void)
{
    struct prove_demands *demands = calloc(1, sizeof(*demands));

    if (demands == NULL)
        return NULL;
    demands->kills = json_object();
    demands->levels = json_object();
    if (demands->kills == NULL || demands->levels == NULL) {
        prove_demands_free(demands);
        return NULL;
    }
    return demands;
}

void prove_demands_free(struct prove_demands *demands)
{
    if (demands != NULL) {
        json_decref(demands->kills);
        json_decref(demands->levels);
    }
    free(demands);
}

/* The id of "ID role VERDICT"; false where that is none of the catalogue's. */
static bool id_of_kill(const char *kill, char id[KILL_MAX])
{
    size_t length = strcspn(kill, " ");

    if (length >= KILL_MAX)
        return false;
    memcpy(id, kill, length);
    id[length] = '\0';
    return true;
}

int prove_demands_kill(struct prove_demands *demands, const struct defect *defect, const char *kill)
{
    char id[KILL_MAX];
    json_t *drawn;

    if (!id_of_kill(kill, id) || !defect_breaks(defect, id))
        return 0;
    if (json_object_get(demands->levels, defect->id) == NULL &&
        json_object_set_new(demands->levels, defect->id, json_array()) != 0)
        return -1;
    drawn = json_object_get(demands->levels, defect->id);
    return json_array_append_new(drawn, json_string(kill)) != 0 ||
                   json_object_set_new(demands->kills, kill, json_true()) != 0
               ? -1
               : 0;
}

static void report_unmet(struct teller *teller, const char *text)
{
    teller->count++;
    teller->unmet(teller->user, text);
}

static bool is_killed(const struct prove_demands *demands, const char *id, const char *role, const char *verdict)
{
    char kill[KILL_MAX];

    (void)snprintf(kill, sizeof(kill), "%s %s %s", id, role, verdict);
    return json_object_get(demands->kills, kill) != NULL;
}

/* A MAY has no verdict of its own, what is unclear has several, and of some rows the outcomes say what is a warning. */
static bool wants_fail(const struct requirement *requirement)
{
    return requirement != NULL && !requirement_is_should(requirement) && !requirement_is_may(requirement) &&
           !requirement_is_ambiguous(requirement) && strstr(requirement->outcomes, "warn") == NULL;
}

static void tell_of_check(struct teller *teller, const struct check *check, const char *role,
                          const struct requirement *requirement)
{
    bool failed = is_killed(teller->demands, check->id, role, "FAIL");
    bool warned = is_killed(teller->demands, check->id, role, "WARN");
    char text[256];

    if (!failed && !warned)
        (void)snprintf(text, sizeof(text), "%s as %s: no defect that names it makes this check fail", check->id, role);
    else if (!failed && wants_fail(requirement))
        (void)snprintf(text, sizeof(text), "%s as %s: a %s, and no defect draws more than WARN", check->id, role,
                       requirement_level_name(requirement->level));
    else
        return;
    report_unmet(teller, text);
}

/*
 * Of what a defect drew: a requirement that wants FAIL and had WARN alone (id), or "" where there is none or one had
 * FAIL.
 */
static void find_warned(const json_t *drawn, const struct catalogue *catalogue, char id[KILL_MAX])
{
    char of[KILL_MAX];
    const json_t *kill;
    size_t i;

    id[0] = '\0';
    json_array_foreach(drawn, i, kill)
    {
        const char *text = json_string_value(kill), *verdict = strrchr(text, ' ');

        if (verdict == NULL || !id_of_kill(text, of))
            continue;
        if (strcmp(verdict + 1, "FAIL") == 0) {
            id[0] = '\0';
            return;
        }
        if (id[0] == '\0' && wants_fail(catalogue_find(catalogue, of)))
            memcpy(id, of, sizeof(of));
    }
}

bool prove_demands_may_warn(const char *defect)
{
    struct no_defect row;

    return no_defect_find_in(
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-warn.tsv"), defect,
        &row);
}

static void tell_of_level(struct teller *teller, const struct catalogue *catalogue, const struct defect *defect)
{
    const json_t *drawn = json_object_get(teller->demands->levels, defect->id);
    bool declared = prove_demands_may_warn(defect->id);
    char id[KILL_MAX], text[256];

    find_warned(drawn, catalogue, id);
    if (drawn == NULL || declared == (id[0] != '\0'))
        return; /* a defect that is not killed at all is reported elsewhere */
    if (declared)
        (void)snprintf(text, sizeof(text), "%s: reference-stack/defects/defects-warn.tsv has it without need",
                       defect->id);
    else
        (void)snprintf(text, sizeof(text), "%s: breaks %.40s, a MUST, and nothing that it names draws more than WARN",
                       defect->id, id);
    report_unmet(teller, text);
}

static bool same_operation(const struct defect *a, const struct defect *b)
{
    return strcmp(a->hook, b->hook) == 0 && strcmp(a->target, b->target) == 0 &&
           strcmp(a->operation, b->operation) == 0 && strcmp(a->value, b->value) == 0;
}

static void tell_of_operations(struct teller *teller, const struct defect_list *defects)
{
    char text[256];

    for (size_t i = 0; i < defect_list_count(defects); i++)
        for (size_t k = 0; k < i; k++)
            if (same_operation(defect_list_at(defects, i), defect_list_at(defects, k))) {
                (void)snprintf(text, sizeof(text), "%s: the operation of %s once more", defect_list_at(defects, i)->id,
                               defect_list_at(defects, k)->id);
                report_unmet(teller, text);
                break;
            }
}

size_t prove_demands_tell(const struct prove_demands *demands, const struct script_host *host,
                          const struct catalogue *catalogue, const struct defect_list *defects,
                          void (*unmet)(void *user, const char *text), void *user)
{
    struct teller teller = {demands, unmet, user, 0};
    struct no_defect row;

    for (size_t i = 0; i < script_check_count(host); i++) {
        const struct check *check = script_check_at(host, i);
        const bool has[ROLES] = {check->responder, check->initiator};

        for (size_t k = 0; k < ROLES && !no_defect_find(check->id, &row); k++)
            if (has[k])
                tell_of_check(&teller, check, roles[k], catalogue_find(catalogue, check->id));
    }
    for (size_t i = 0; i < defect_list_count(defects); i++)
        tell_of_level(&teller, catalogue, defect_list_at(defects, i));
    tell_of_operations(&teller, defects);
    return teller.count;
}
