/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/plan.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/rules/rule.h"

/* A role that is selected by --role; other subjects select requirements, not roles. */
static bool role_selected(const struct selection *selection, const char *role)
{
    bool names_a_role = false;

    for (size_t i = 0; i < selection->subject_count; i++) {
        const char *subject = selection->subject[i];

        if (strcmp(subject, role) == 0)
            return true;
        names_a_role = names_a_role || strcmp(subject, "initiator") == 0 || strcmp(subject, "responder") == 0;
    }
    return !names_a_role;
}

/* 1: run it, 0: skip it with the reason, -1: the predicate cannot be read. */
static int capable(const struct plan_config *config, const char *predicate, struct sentence *reason,
                   struct sentence *error)
{
    return predicate == NULL || predicate[0] == '\0' ? 1 : pics_evaluate(config->pics, predicate, reason, error);
}

static int decide_skip(struct plan_item *item, const struct plan_config *config, struct sentence *error)
{
    struct sentence why = {{0}};
    int able = capable(config, item->role, &item->skip, &why);

    if (able == 1 && item->requirement != NULL)
        able = capable(config, item->requirement->capability, &item->skip, &why);
    if (able == 1)
        able = capable(config, item->check->requires, &item->skip, &why);
    if (able < 0)
        return sentence_set(error, "%s:%d: %s", item->check->path, item->check->line, why.text);
    if (able == 1) {
        item->skip.text[0] = '\0';
        if (item->check->destructive && !config->destructive)
            (void)sentence_set(&item->skip, "may crash a device: runs only with --destructive");
    }
    return 0;
}

static int add_item(struct plan *plan, const struct check *check, const char *role, const struct plan_config *config,
                    struct sentence *error)
{
    struct plan_item *item = &plan->items[plan->count++];

    *item = (struct plan_item){.check = check, .role = role};
    item->requirement = catalogue_find(config->catalogue, check->id);
    return decide_skip(item, config, error);
}

/* A stand-alone script may use an id of its own: it is selected when nothing, or that very id, is asked for. */
static bool check_selected(const struct check *check, const struct plan_config *config)
{
    const struct requirement *requirement = catalogue_find(config->catalogue, check->id);

    if (requirement != NULL)
        return selection_matches(config->selection, requirement);
    for (size_t i = 0; i < config->selection->pattern_count; i++)
        if (strcmp(config->selection->pattern[i], check->id) == 0)
            return true;
    return config->selection->pattern_count == 0;
}

static bool rules_selected(const struct plan_config *config)
{
    for (size_t i = 0; i < rule_count(); i++) {
        const struct requirement *requirement = catalogue_find(config->catalogue, rule_at(i)->id);

        if (requirement != NULL && selection_matches(config->selection, requirement))
            return true;
    }
    return false;
}

int plan_make(struct plan *plan, const struct script_host *host, const struct plan_config *config,
              struct sentence *error)
{
    size_t count = script_check_count(host);

    memset(plan, 0, sizeof(*plan));
    plan->items = calloc(count * CHECK_ROLES + 1, sizeof(*plan->items));
    if (plan->items == NULL)
        return sentence_set(error, "out of memory for the plan");
    for (size_t i = 0; i < count; i++) {
        const struct check *check = script_check_at(host, i);

        if (!check_selected(check, config))
            continue;
        if (check->responder && role_selected(config->selection, "responder") &&
            add_item(plan, check, "responder", config, error) != 0)
            return -1;
        if (check->initiator && role_selected(config->selection, "initiator") &&
            add_item(plan, check, "initiator", config, error) != 0)
            return -1;
    }
    plan->selects_rules = rules_selected(config);
    return 0;
}

void plan_free(struct plan *plan)
{
    free(plan->items);
    memset(plan, 0, sizeof(*plan));
}
