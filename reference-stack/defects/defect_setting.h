/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the hook `configure`: a stack that is configured in another way, as its ULP or its vendor may do. */
#ifndef REFERENCE_STACK_DEFECT_SETTING_H
#define REFERENCE_STACK_DEFECT_SETTING_H

#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

struct defect;
struct defect_set;
struct tcp_settings;

enum { DEFECT_SETTINGS_MAX = 16 }; /* of one set */

/* What a member belongs to. */
enum defect_configuration { CONFIGURES_ASSOCIATION, CONFIGURES_SCTP, CONFIGURES_TCP, CONFIGURES_CM };

struct defect_setting {
    enum defect_configuration of;
    size_t offset, octets; /* of the member */
    uint64_t value;
};

/* Adds the row's members to the set. -1 with a sentence: target, operation or value are not known, or too many. */
int defect_setting_compile(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence);

/* The set's settings of TCP. */
void hook_tcp_settings(const struct defect_set *set, struct tcp_settings *settings);

#endif
