/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/folder/folder_reports.h"

#include "reports/writers/format.h"

int folder_write_reports(const struct report *report, const struct report_coverage *coverage, struct folder *folder,
                         void (*written)(const char *path), struct iwarp_sentence *error)
{
    int rc = 0;
    for (const struct report_format *format = report_formats; format->name; format++) {
        struct place to = folder_place(folder, format->file);
        if (!format->standing)
            continue;
        if (format->write(report, coverage, &to, rc == 0 ? error : NULL) != 0)
            rc = -1;
        else if (written)
            written(to.path);
    }
    return rc;
}
