/* SPDX-License-Identifier: BSD-2-Clause */
/* A page on paper: a browser that is installed makes a PDF of it, as everybody would by hand. */
#ifndef CONFORMANCE_ENGINE_STATEMENT_PDF_H
#define CONFORMANCE_ENGINE_STATEMENT_PDF_H

#include <stdbool.h>

/* Is the output a PDF, by its name? NULL: no. */
bool statement_is_pdf(const char *output);

/*
 * Calls write(), in a process of its own, with the name of a page to be written in a new folder that only this user can
 * read; has a browser print that page to `output`; and removes the folder. The browser has a profile of
 * its own there. Returns write()'s exit status where that is not EXIT_DONE, else EXIT_DONE, or
 * EXIT_ENVIRONMENT after a complaint: no browser is installed, it failed or took longer than two minutes, the disk is
 * full. An older file stays then.
 */
int statement_pdf(const char *output, int (*write)(void *user, const char *page), void *user);

#endif
