/* SPDX-License-Identifier: BSD-2-Clause */
/* The account for people, as plain lines. */
#ifndef REPORTS_ACCOUNT_TEXT_H
#define REPORTS_ACCOUNT_TEXT_H

#include <stdio.h>

#include "conformance/flow/event/flow_account.h"

/*
 * What was judged, what is foreign (with the protocols), and each reason for what was not judged or is missing. Nothing
 * when nothing was counted.
 */
void account_print(FILE *out, const struct flow_account *account);

#endif
