/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_SESSION_ALIKE_H
#define TESTS_UNIT_SESSION_ALIKE_H

#include <stdbool.h>

#include "conformance/engine/explore/session.h"

/* Do both sessions make the same check, octet for octet? */
bool sessions_alike(const struct session *one, const struct session *other);

#endif
