/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cells of a table's lines: text between tabs. The tables of the tree (requirements, defects, exercises, results)
 * are such lines, and newlines end them.
 */
#ifndef BASE_CELLS_H
#define BASE_CELLS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Cuts a line, which ends with NUL, at its tabs: each tab becomes NUL, and cells[] points to the cells. Returns how
 * many cells the line has. These may be more than `most`: then cells[] has the first `most` of them.
 */
size_t cells_cut(char *line, char *cells[], size_t most);

struct cell {
    const char *text; /* not ended by NUL; NULL: the line has no such cell */
    size_t octets;
};

/*
 * Takes the next line of a text that nobody may write, from *at, and moves *at after its newline; the text ends at
 * `end`. All of cells[0] to cells[most - 1] are set; those that the line does not have are empty. Returns how many
 * cells the line has, at least 1; 0: there are no more lines.
 */
size_t cells_next(const char **at, const char *end, struct cell cells[], size_t most);

#ifdef __cplusplus
}
#endif

#endif
