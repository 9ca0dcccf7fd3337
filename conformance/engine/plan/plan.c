/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/plan/plan.h"

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
static int capable(const struct plan_config *config, const char *predicate, struct iwarp_sentence *reason,
                   struct iwarp_sentence *error)
{
    return predicate == NULL || predicate[0] == '\0' ? 1 : pics_evaluate(config->pics, predicate, reason, error);
}

static int decide_skip(struct plan_item *item, const struct plan_config *config, struct iwarp_sentence *error)
{
    struct iwarp_sentence why = {{0}};
    int able = capable(config, item->role, &item->skip, &why);

    if (able == 1 && item->requirement != NULL)
        able = capable(config, item->requirement->capability, &item->skip, &why);
    if (able == 1)
        able = capable(config, item->check->requires, &item->skip, &why);
    if (able < 0)
        return iwarp_sentence_set(error, "%s:%d: %s", item->check->path, item->check->line, why.text);
    /* A device opens a connection only on request. */
    if (able == 1 && strcmp(item->role, "initiator") == 0 && !config->starts_initiator &&
        capable(config, "upper_tester", &item->skip, &why) == 0) {
        able = 0;
        (void)iwarp_sentence_set(&item->skip, "this check needs the device's upper tester (profile: \"control\") or a "
                                              "command that starts it (\"connect_command\")");
    }
    if (able == 1) {
        item->skip.text[0] = '\0';
        if (item->check->destructive && !config->destructive)
            (void)iwarp_sentence_set(&item->skip, "may crash a device: runs only with --destructive");
    }
    return 0;
}

static int add_item(struct plan *plan, const struct check *check, const char *role, const struct plan_config *config,
                    struct iwarp_sentence *error)
{
    struct plan_item *item = &plan->items[plan->count++];

    *item = (struct plan_item){.check = check, .role = role, .sctp = check->sctp};
    if (check->any_llp && config->sctp)
        item->sctp = config->profile != IWARP_SCTP_UNDECIDED ? config->profile : IWARP_SCTP_RFC5043;
    item->requirement = catalogue_find(config->catalogue, check->id);
    return decide_skip(item, config, error);
}

/* Does it drive a device over what this run has below DDP? */
static bool llp_fits(const struct check *check, const struct plan_config *config)
{
    if (check->any_llp)
        return !config->sctp || (!config->sctp_alone && (config->profile != IWARP_SCTP_DRAFT02 || !check->with_end));
    if (config->sctp && config->profile != IWARP_SCTP_UNDECIDED)
        return check->sctp == config->profile;
    return (check->sctp != IWARP_SCTP_UNDECIDED) == config->sctp;
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

/*
 * What can be decided: by the plan's checks, and by rules on their traffic. Somebody's own scripts ask for what they
 * declare: the rules judge their traffic all the same, but what they do not meet was not asked for.
 */
static int count_decidable(struct plan *plan, const struct plan_config *config, struct iwarp_sentence *error)
{
    bool *decides = plan->decides = calloc(catalogue_count(config->catalogue) + 1, sizeof(*decides));

    if (decides == NULL) {
        plan->short_of_memory = true;
        return iwarp_sentence_set(error, "out of memory for the plan");
    }
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].requirement != NULL)
            decides[plan->items[i].requirement->index] = true;
    for (size_t i = 0; i < rule_count(); i++) {
        const struct requirement *requirement = catalogue_find(config->catalogue, rule_at(i)->id);

        if (requirement == NULL || !selection_matches(config->selection, requirement))
            continue;
        plan->selects_rules = true;
        decides[requirement->index] = decides[requirement->index] || !config->own_scripts;
    }
    for (size_t i = 0; i < catalogue_count(config->catalogue); i++)
        plan->decidable += decides[i];
    return 0;
}

int plan_make(struct plan *plan, const struct script_host *host, const struct plan_config *config,
              struct iwarp_sentence *error)
{
    size_t count = script_check_count(host);

    memset(plan, 0, sizeof(*plan));
    plan->items = calloc(count * CHECK_ROLES + 1, sizeof(*plan->items));
    if (plan->items == NULL) {
        plan->short_of_memory = true;
        return iwarp_sentence_set(error, "out of memory for the plan");
    }
    for (size_t i = 0; i < count; i++) {
        const struct check *check = script_check_at(host, i);

        if (!llp_fits(check, config) || (!config->every_llp && check->cm != config->cm) ||
            !check_selected(check, config))
            continue;
        if (check->responder && role_selected(config->selection, "responder") &&
            add_item(plan, check, "responder", config, error) != 0)
            return -1;
        if (check->initiator && role_selected(config->selection, "initiator") &&
            add_item(plan, check, "initiator", config, error) != 0)
            return -1;
    }
    return count_decidable(plan, config, error);
}

int plan_put_hazards_last(struct plan *plan, struct iwarp_sentence *error)
{
    struct plan_item *items = calloc(plan->count + 1, sizeof(*items));
    size_t count = 0;

    if (items == NULL) {
        plan->short_of_memory = true;
        return iwarp_sentence_set(error, "out of memory for the plan");
    }
    for (int hazard = 0; hazard <= 1; hazard++)
        for (size_t i = 0; i < plan->count; i++)
            if (plan->items[i].hazard == (hazard != 0))
                items[count++] = plan->items[i];
    free(plan->items);
    plan->items = items;
    return 0;
}

/* ---- shards ------------------------------------------------------------------------------------------------------ */

enum { WEIGHT_RUN = 1000, WEIGHT_SKIP = 1 }; /* what is skipped takes no time, but is shared out all the same */

/* The number of each item's unit: the items of one id are one unit. Returns how many units there are. */
static size_t number_units(const struct plan *plan, size_t *unit, uint64_t *weights)
{
    size_t units = 0;

    for (size_t i = 0; i < plan->count; i++) {
        size_t k = 0;

        while (k < i && strcmp(plan->items[k].check->id, plan->items[i].check->id) != 0)
            k++;
        unit[i] = k < i ? unit[k] : units++;
        weights[unit[i]] += plan->items[i].skip.text[0] != '\0' ? WEIGHT_SKIP : WEIGHT_RUN;
    }
    return units;
}

static uint64_t plan_digest(const struct plan *plan)
{
    uint64_t digest = digest_number(DIGEST_START, plan->decidable);

    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_item *item = &plan->items[i];

        digest = digest_text(digest_text(digest, item->check->id), item->role);
        digest = digest_number(digest_text(digest, item->check->path), (uint64_t)item->check->line);
        digest = digest_text(digest, item->skip.text);
    }
    return digest;
}

int plan_shard(struct plan *plan, const struct shard *shard, char digest[SHARD_DIGEST_OCTETS],
               struct iwarp_sentence *error)
{
    size_t *unit = calloc(plan->count + 1, sizeof(*unit));
    uint64_t *weights = calloc(plan->count + 1, sizeof(*weights));
    unsigned *owner = calloc(plan->count + 1, sizeof(*owner));
    size_t kept = 0;
    int rc = -1;

    shard_digest_show(plan_digest(plan), digest);
    if (unit == NULL || weights == NULL || owner == NULL)
        (void)iwarp_sentence_set(error, "out of memory for the plan");
    else
        rc = shard_assign(weights, number_units(plan, unit, weights), shard->of, owner, error);
    for (size_t i = 0; rc == 0 && i < plan->count; i++)
        if (owner[unit[i]] == shard->index)
            plan->items[kept++] = plan->items[i];
    if (rc == 0)
        plan->count = kept;
    free(unit);
    free(weights);
    free(owner);
    return rc;
}

void plan_free(struct plan *plan)
{
    free(plan->items);
    free(plan->decides);
    memset(plan, 0, sizeof(*plan));
}
