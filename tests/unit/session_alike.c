/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* open_memstream */
#include "tests/unit/session_alike.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/explore/session_text.h"

static char *printed(const struct session *session)
{
    char *text = NULL;
    size_t octets;
    FILE *out = open_memstream(&text, &octets);

    ck_assert_ptr_nonnull(out);
    session_print(session, "alike", "the same", out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

bool sessions_alike(const struct session *one, const struct session *other)
{
    char *text = printed(one), *second = printed(other);
    bool alike = strcmp(text, second) == 0;

    free(text);
    free(second);
    return alike;
}
