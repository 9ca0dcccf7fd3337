/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/option/output_folder.h"

#include <string.h>

#include "reports/results/result.h"

int output_folder_claim(struct folder **folder, const char *path, enum folder_use use, bool resumes,
                        struct iwarp_sentence *error)
{
    struct folder_config config = {
        .path = path,
        .use = use,
        .hint = resumes ? "--force removes what an earlier run left, --resume continues that run"
                        : "--force removes what an earlier command left",
    };

    if (strcmp(path, "-") == 0) { /* as other programs call standard output */
        (void)iwarp_sentence_set(error, "-o -: a folder was expected (./- is one); a report goes to standard output "
                                        "by --format without -o");
        return EXIT_USAGE;
    }
    switch (folder_claim(folder, &config, error)) {
    case 0: return 0;
    case FOLDER_NOT_EMPTY: return EXIT_USAGE;
    default: return EXIT_INCONCLUSIVE;
    }
}
