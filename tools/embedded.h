/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_EMBEDDED_H
#define TOOLS_EMBEDDED_H

/*
 * Files that the programs carry inside themselves. The build makes each table of the files in the tree (mk/embed.mk,
 * tools/embed.c); the tables are constant and live as long as the program.
 */

#include <stddef.h>
#include <string.h>

struct embedded_file {
    const char *path;            /* from the root of the tree, such as "conformance/requirements/mpa.tsv" */
    const unsigned char *octets; /* the content; one zero octet follows it, not counted in size */
    size_t size;                 /* in octets */
};

/* Each table is sorted by path (octet order), and one entry of NULLs follows the last, not counted. */

/* conformance/scripts, every .lua at any depth */
extern const struct embedded_file embedded_scripts[];
extern const size_t embedded_script_count;

/* conformance/requirements/ *.tsv: the catalogue */
extern const struct embedded_file embedded_requirements[];
extern const size_t embedded_requirement_count;

/* reports/assets: what the report writers put into their pages */
extern const struct embedded_file embedded_report_files[];
extern const size_t embedded_report_file_count;

/*
 * reference-stack/defects/defects.tsv, defects-cm.tsv, defects-llp.tsv, defects-uncaught.tsv, defects-warn.tsv,
 * variants.tsv and choices.tsv, or nothing;
 * part of libiwarp
 */
extern const struct embedded_file embedded_defects[];
extern const size_t embedded_defect_count;

/* reference-stack/defects/defects-none.tsv: requirements without a defect, and why */
extern const struct embedded_file embedded_no_defects[];
extern const size_t embedded_no_defect_count;

/* generator/lua (the library of capture scripts) and generator/corpus, every .lua */
extern const struct embedded_file embedded_captures[];
extern const size_t embedded_capture_count;

/* conformance/impairments, every .lua: the suite of `warpcheck bridge` */
extern const struct embedded_file embedded_impairments[];
extern const size_t embedded_impairment_count;

/* conformance/engine/course: the table of exercises, and the exchanges that they show */
extern const struct embedded_file embedded_course_files[];
extern const size_t embedded_course_file_count;

/*
 * The scripts of embedded_scripts and embedded_captures as compiled chunks (tools/lua_compile.c), under the same paths;
 * and "lua_ident", whose content is the lua_ident of the Lua that they are good for.
 */
extern const struct embedded_file embedded_chunks[];
extern const size_t embedded_chunk_count;

/* The entry of `table` (with `count` entries) whose path is `path`, or NULL. */
static inline const struct embedded_file *embedded_find(const struct embedded_file *table, size_t count,
                                                        const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].path, path) == 0)
            return &table[i];
    return NULL;
}

#endif
