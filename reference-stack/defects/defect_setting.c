/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_setting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/sctp.h"
#include "reference-stack/cm/cm_agent.h"
#include "reference-stack/defects/defect_asked.h"
#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/defects/peer_faults.h"
#include "base/nearest.h"

enum { MEMBER_NAME_MAX = 64 };

#define ASSOCIATION(member)                                                                                            \
    {                                                                                                                  \
        "association." #member, CONFIGURES_ASSOCIATION, offsetof(struct iwarp_association_config, member),             \
            sizeof(((struct iwarp_association_config *)NULL)->member)                                                  \
    }
#define SCTP(member)                                                                                                   \
    {                                                                                                                  \
        "sctp." #member, CONFIGURES_SCTP, offsetof(struct sctp_settings, member),                                      \
            sizeof(((struct sctp_settings *)NULL)->member)                                                             \
    }
#define TCP(member)                                                                                                    \
    {                                                                                                                  \
        "tcp." #member, CONFIGURES_TCP, offsetof(struct tcp_settings, member),                                         \
            sizeof(((struct tcp_settings *)NULL)->member)                                                              \
    }
#define CM(member)                                                                                                     \
    {                                                                                                                  \
        "cm." #member, CONFIGURES_CM, offsetof(struct cm_agent_config, member),                                        \
            sizeof(((struct cm_agent_config *)NULL)->member)                                                           \
    }

static const struct {
    const char *name;
    enum defect_configuration of;
    size_t offset, octets;
} members[] = {
    ASSOCIATION(streams),
    ASSOCIATION(pending_max),
    ASSOCIATION(mtu),
    ASSOCIATION(held_max),
    ASSOCIATION(any_indication),
    ASSOCIATION(draft_reset_ppid),
    ASSOCIATION(draft_reset_answer),
    ASSOCIATION(draft_version),
    SCTP(sack_delay_ms),
    SCTP(sack_packets),
    SCTP(window),
    SCTP(chunk_max),
    TCP(mss),
    TCP(window),
    CM(service),
    CM(major),
    CM(minor),
    CM(families),
    CM(check_formats),
    CM(check_destination),
    CM(suggest),
    CM(suggest_whole_octet),
    CM(info_length),
    CM(unspecified),
    CM(fields_first),
    CM(minor_first),
    CM(last_reason),
    CM(generic_refusal),
    CM(strict_ipv6),
    CM(own_id_in_rejections),
    CM(mra_first),
    CM(mra_timeout),
    CM(remote_timeout),
    CM(local_timeout),
    CM(retries),
};

static const char *name_at(const void *unused, size_t index)
{
    (void)unused;
    return members[index].name;
}

/* One member by its name of `octets` octets. */
static int add_member(const char *name, size_t octets, uint64_t value, struct defect_set *set,
                      struct iwarp_sentence *sentence)
{
    char hint[NEAREST_HINT_OCTETS], text[MEMBER_NAME_MAX] = "";
    size_t count = sizeof(members) / sizeof(members[0]), i = 0;

    memcpy(text, name, octets < sizeof(text) ? octets : sizeof(text) - 1);
    while (i < count && strcmp(members[i].name, text) != 0)
        i++;
    if (i == count)
        return iwarp_sentence_set(sentence, "nothing that is configured is called '%s'%s", text,
                                  nearest_hint(nearest_name(text, name_at, NULL, count), hint));
    if (members[i].octets < sizeof(value) && value >> (8 * members[i].octets) != 0)
        return iwarp_sentence_set(sentence, "%s has no room for %" PRIu64, text, value);
    if (set->setting_count == DEFECT_SETTINGS_MAX)
        return iwarp_sentence_set(sentence, "more than %d settings at once", DEFECT_SETTINGS_MAX);
    set->settings[set->setting_count++] =
        (struct defect_setting){members[i].of, members[i].offset, members[i].octets, value};
    return 0;
}

int defect_setting_compile(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence)
{
    const char *name = defect->target;
    uint64_t value;
    char *end;

    if (strcmp(defect->operation, "set") != 0)
        return iwarp_sentence_set(sentence, "configure has no operation '%s': set was expected", defect->operation);
    value = strtoull(defect->value, &end, 0);
    if (*end != '\0' || end == defect->value || defect->value[0] == '-')
        return iwarp_sentence_set(sentence, "'%s': a number was expected", defect->value);
    for (;;) {
        size_t octets = strcspn(name, ",");

        if (add_member(name, octets, value, set, sentence) != 0)
            return -1;
        if (name[octets] == '\0')
            return 0;
        name += octets + 1;
    }
}

/* Sets those of the set that belong to the configuration at `config`. */
static void settings_apply(const struct defect_set *set, enum defect_configuration of, void *config)
{
    for (size_t i = 0; i < set->setting_count; i++) {
        const struct defect_setting *setting = &set->settings[i];
        uint8_t *member = (uint8_t *)config + setting->offset;
        uint16_t in_two = (uint16_t)setting->value;
        uint32_t in_four = (uint32_t)setting->value;

        if (setting->of != of)
            continue;
        switch (setting->octets) {
        case sizeof(uint8_t): *member = (uint8_t)setting->value; break;
        case sizeof(in_two): memcpy(member, &in_two, sizeof(in_two)); break;
        case sizeof(in_four): memcpy(member, &in_four, sizeof(in_four)); break;
        default: memcpy(member, &setting->value, sizeof(setting->value)); break;
        }
    }
}

/* --- Where it acts ------------------------------------------------------------------------------------------------ */

void hook_sctp_config(const struct defect_set *set, struct iwarp_association_config *config,
                      struct sctp_settings *settings)
{
    settings_apply(set, CONFIGURES_ASSOCIATION, config);
    settings_apply(set, CONFIGURES_SCTP, settings);
}

void hook_tcp_settings(const struct defect_set *set, struct tcp_settings *settings)
{
    settings_apply(set, CONFIGURES_TCP, settings);
}

void hook_cm_config(const struct defect_set *set, struct cm_agent_config *config)
{
    settings_apply(set, CONFIGURES_CM, config);
}
