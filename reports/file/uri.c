/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/file/uri.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_unreserved(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("-._~", c));
}

static char *write_segment(char *out, const char *segment, size_t length)
{
    static const char digits[] = "0123456789ABCDEF"; /* RFC 3986 2.1: upper case */
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)segment[i];
        if (is_unreserved(c)) {
            *out++ = (char)c;
        } else {
            *out++ = '%';
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
        }
    }
    return out;
}

char *uri_of_path(const char *path)
{
    static const char root[] = "file:///";
    char *uri = malloc(sizeof(root) + 3 * strlen(path));
    char *out = uri;
    bool first = true;
    if (!uri)
        return NULL;
    if (*path == '/') {
        memcpy(out, root, sizeof(root) - 1);
        out += sizeof(root) - 1;
    }
    for (size_t length; *path; path += length + (path[length] == '/')) {
        length = strcspn(path, "/");
        if (length == 0 || (length == 1 && *path == '.'))
            continue;
        if (!first)
            *out++ = '/';
        out = write_segment(out, path, length);
        first = false;
    }
    *out = '\0';
    return uri;
}
