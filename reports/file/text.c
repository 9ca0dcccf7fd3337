/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/file/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"

static char *clean(const char *in, bool one_line)
{
    size_t room = PLAIN_TEXT_ROOM(in ? strlen(in) : 0);
    char *out = malloc(room);

    if (out)
        (void)plain_text(in, one_line, out, room);
    return out;
}

char *text_clean(const char *in)
{
    return clean(in, false);
}

char *text_clean_line(const char *in)
{
    return clean(in, true);
}

bool text_is_clean(const char *in)
{
    return plain_text_is(in);
}
