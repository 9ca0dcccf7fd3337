/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/cm/cm_validation.h"

#include <string.h>

#include "reference-stack/cm/cm_internal.h"

enum { IPV4_AT = 12 }; /* of an address field, A11.4.6 */

static unsigned family_bit(unsigned ip_version)
{
    return ip_version == 4 ? CM_FAMILY_4 : ip_version == 6 ? CM_FAMILY_6 : 0;
}

/* A listener that uses no service is reached without it, at a Service ID of its range too (A11.6). */
static bool holds_service(const struct cm_subject *subject)
{
    return subject->config->service || (subject->listener != NULL && subject->listener->plain);
}

static bool holds_listener(const struct cm_subject *subject)
{
    return subject->listener != NULL;
}

static bool holds_major(const struct cm_subject *subject)
{
    return subject->message->ip.major == subject->config->major;
}

static bool holds_minor(const struct cm_subject *subject)
{
    return subject->message->ip.minor <= subject->config->minor;
}

static bool holds_ip_version(const struct cm_subject *subject)
{
    unsigned families = subject->config->families;

    if (subject->listener != NULL && subject->listener->families != 0)
        families &= subject->listener->families;
    return (families & family_bit(subject->message->ip.ip_version)) != 0;
}

static bool is_zero(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

/* A11.4.6 says it of IPv4. Which IPv6 addresses contradict IPV 6, no text says (A11-AMB-08). */
static bool fits(const struct cm_subject *subject, const uint8_t *address)
{
    if (!subject->config->check_formats)
        return true;
    if (subject->message->ip.ip_version == 4)
        return is_zero(address, IPV4_AT);
    if (subject->message->ip.ip_version != 6 || !subject->config->strict_ipv6)
        return true;
    return !is_zero(address, 16) && !(is_zero(address, 10) && address[10] == 0xFF && address[11] == 0xFF);
}

static bool holds_source_format(const struct cm_subject *subject)
{
    return fits(subject, subject->message->ip.source);
}

static bool holds_destination_format(const struct cm_subject *subject)
{
    return fits(subject, subject->message->ip.destination);
}

static bool holds_destination_own(const struct cm_subject *subject)
{
    const struct ip_cm_private *ip = &subject->message->ip;

    if (!subject->config->check_destination || family_bit(ip->ip_version) == 0)
        return true;
    for (size_t i = 0; i < subject->config->own_count; i++) {
        const struct cm_address *own = &subject->config->own[i];

        if (own->family == ip->ip_version &&
            memcmp(own->octets, ip->destination + (own->family == 4 ? IPV4_AT : 0), own->family == 4 ? 4 : 16) == 0)
            return true;
    }
    return subject->config->own_count == 0;
}

/* clang-format off */
const struct cm_validation cm_validation_table[] = {
    {"CA11-8",     "service",            CM_STAGE_SERVICE,  holds_service,            CM_REASON_INVALID_SERVICE_ID, 0},
    {"CA11-6-02",  "listener",           CM_STAGE_LISTENER, holds_listener,           CM_REASON_INVALID_SERVICE_ID, 0},
    {"CA11-2",     "major",              CM_STAGE_VERSION,  holds_major,              CM_REASON_CONSUMER, IP_CM_ARI_MAJOR},
    {"CA11-3.1.1", "minor",              CM_STAGE_VERSION,  holds_minor,              CM_REASON_CONSUMER, IP_CM_ARI_MINOR},
    {"CA11-4",     "ip-version",         CM_STAGE_FIELDS,   holds_ip_version,         CM_REASON_CONSUMER, IP_CM_ARI_IPV},
    {"oA11-1-03",  "source-format",      CM_STAGE_FIELDS,   holds_source_format,      CM_REASON_CONSUMER, IP_CM_ARI_SOURCE},
    {"oA11-1-03",  "destination-format", CM_STAGE_FIELDS,   holds_destination_format, CM_REASON_CONSUMER, IP_CM_ARI_DESTINATION},
    {"oA11-1-02",  "destination-own",    CM_STAGE_FIELDS,   holds_destination_own,    CM_REASON_CONSUMER, IP_CM_ARI_UNKNOWN},
};
/* clang-format on */

const size_t cm_validation_count = sizeof(cm_validation_table) / sizeof(cm_validation_table[0]);
_Static_assert(sizeof(cm_validation_table) / sizeof(cm_validation_table[0]) <= CM_VALIDATIONS_MAX,
               "CM_VALIDATIONS_MAX is large enough");

const struct cm_validation *cm_validation_find(const char *what, size_t n)
{
    for (size_t i = 0; i < cm_validation_count; i++) {
        const struct cm_validation *entry = &cm_validation_table[i];

        if ((strcmp(entry->requirement, what) == 0 || strcmp(entry->name, what) == 0) && n-- == 0)
            return entry;
    }
    return NULL;
}

bool cm_validation_judge(const struct cm_validation *entry, const struct cm_subject *subject,
                         struct cm_verdict *verdict)
{
    if (entry->holds(subject))
        return true;
    *verdict = (struct cm_verdict){entry, entry->reason, entry->code};
    return false;
}

/* A stage's entries, in the order of the table or in the other one; the first that does not hold ends it. */
static bool run_stage(enum cm_stage stage, bool backwards, const struct cm_subject *subject, struct cm_verdict *verdict)
{
    for (size_t i = 0; i < cm_validation_count; i++) {
        const struct cm_validation *entry = &cm_validation_table[backwards ? cm_validation_count - 1 - i : i];

        if (entry->stage == stage && !CM_SEAM_VALUE(subject->agent, cm_validation_judge(entry, subject, verdict),
                                                    judge(entry, subject, verdict)))
            return false;
    }
    return true;
}

bool cm_validation_run(const struct cm_subject *subject, struct cm_verdict *verdict)
{
    static const enum cm_stage orders[2][CM_STAGES] = {
        {CM_STAGE_SERVICE, CM_STAGE_LISTENER, CM_STAGE_VERSION, CM_STAGE_FIELDS},
        {CM_STAGE_SERVICE, CM_STAGE_VERSION, CM_STAGE_FIELDS, CM_STAGE_LISTENER},
    };
    const struct cm_agent_config *config = subject->config;
    /* Only who uses the service at a Service ID of its range has its header in the Private Data (CA11-7). */
    bool formatted = subject->message->has_ip && (config->service || subject->listener == NULL) &&
                     (subject->listener == NULL || !subject->listener->plain);

    *verdict = (struct cm_verdict){0};
    for (size_t i = 0; i < CM_STAGES; i++) {
        enum cm_stage stage = orders[config->fields_first][i];
        bool backwards = stage == CM_STAGE_VERSION ? config->minor_first : config->last_reason;

        if (!formatted && (stage == CM_STAGE_VERSION || stage == CM_STAGE_FIELDS))
            continue;
        if (stage == CM_STAGE_SERVICE && !subject->message->has_ip)
            continue;
        if (!run_stage(stage, backwards, subject, verdict))
            return false;
    }
    return true;
}
