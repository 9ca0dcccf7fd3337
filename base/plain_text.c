/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/plain_text.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT       0xFFFDu
#define CONTROL_PICTURES  0x2400u /* U+2400 + c shows the C0 control c */
#define PICTURE_OF_DELETE 0x2421u

/* Decodes one code point (RFC 3629: shortest form, no surrogates, at most U+10FFFF); returns the octets taken. */
static size_t utf8_decode(const uint8_t *p, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80             ? 1
                    : (p[0] & 0xE0) == 0xC0 ? 2
                    : (p[0] & 0xF0) == 0xE0 ? 3
                    : (p[0] & 0xF8) == 0xF0 ? 4
                                            : 0;
    if (length <= 1) {
        *code = length == 1 ? p[0] : REPLACEMENT;
        return 1;
    }
    uint32_t value = p[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) { /* also stops at the closing NUL */
            *code = REPLACEMENT;
            return i;
        }
        value = value << 6 | (p[i] & 0x3F);
    }
    bool bad = value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF);
    *code = bad ? REPLACEMENT : value;
    return length;
}

static size_t utf8_encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static bool is_space_control(uint32_t code)
{
    return code == '\n' || code == '\t' || code == '\r';
}

/* The code point to show instead of `code`. */
static uint32_t shown(uint32_t code, bool one_line)
{
    if (is_space_control(code))
        return one_line ? ' ' : code == '\r' ? CONTROL_PICTURES + code : code;
    if (code < 0x20)
        return CONTROL_PICTURES + code;
    if (code == 0x7F)
        return PICTURE_OF_DELETE;
    if (code >= 0x80 && code < 0xA0)
        return REPLACEMENT; /* C1: some terminals obey them */
    if ((code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F)
        return REPLACEMENT; /* bidirectional controls: text must read as it is stored */
    if (code == 0x2028 || code == 0x2029)
        return one_line ? ' ' : REPLACEMENT; /* line and paragraph separator */
    if ((code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF))
        return REPLACEMENT; /* non-characters; XML 1.0 forbids U+FFFE and U+FFFF */
    return code;
}

size_t plain_text(const char *in, bool one_line, char *out, size_t room)
{
    const uint8_t *p = (const uint8_t *)(in ? in : "");
    size_t used = 0;

    if (room == 0)
        return 0;
    while (*p) {
        uint32_t code;
        char encoded[4];
        size_t count;

        p += utf8_decode(p, &code);
        count = utf8_encode(shown(code, one_line), encoded);
        if (count >= room - used)
            break;
        memcpy(out + used, encoded, count);
        used += count;
    }
    out[used] = '\0';
    return used;
}

bool plain_text_is(const char *in)
{
    for (const uint8_t *p = (const uint8_t *)(in ? in : ""); *p;) {
        uint32_t code;
        size_t length = utf8_decode(p, &code);
        if (code == REPLACEMENT && length != 3)
            return false;
        if (code == REPLACEMENT && memcmp(p, "\xEF\xBF\xBD", 3) != 0)
            return false;
        if (shown(code, false) != code)
            return false;
        p += length;
    }
    return true;
}
