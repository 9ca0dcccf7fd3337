/* SPDX-License-Identifier: BSD-2-Clause */
/* File paths as URI references (RFC 3986, RFC 8089). */
#ifndef REPORTS_URI_H
#define REPORTS_URI_H

/*
 * `path` as a URI reference: percent-encoded but for unreserved characters and '/', without "." and empty segments; an
 * absolute path becomes "file:///...", a relative one stays relative and can be taken neither for a scheme ("a:b") nor
 * for a host ("//a"). malloc'd; NULL without memory. The empty path gives the empty string.
 */
char *uri_of_path(const char *path);

#endif
