/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck complete: what may stand next on a command line. The shells' scripts in packaging/completion/ ask it. */
#include "conformance/engine/complete/cmd_complete.h"

#include <stdio.h>
#include <string.h>

#include "conformance/engine/complete/complete.h"
#include "reference-stack/program/help_text.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/process/run_confine.h"
#include "reference-stack/program/complaint.h"
#include "reports/results/result.h"
#include "base/sentence.h"

static const struct option_row rows[] = {
    {"  --help             shows this text\n", OPTION_SHOWS, .kind = OPTION_EARLY},
};

static const struct option_table table = {
    .command = "complete",
    .head = "usage: warpcheck complete -- PROGRAM WORD...\n"
            "  The completion of a shell calls this command. It prints the candidates for the last WORD of a command "
            "line of PROGRAM\n"
            "  (warpcheck or iwarp-peer), one on each line, followed by a tab and the meaning. :files and :folders "
            "stand for the\n"
            "  names of files and folders.\n",
    .rows = rows,
    .count = 1,
};

/* The help of this program itself, which may have another name than "warpcheck". */
static char *own_help(void *context, const char *command, struct iwarp_sentence *error)
{
    (void)context;
    return help_ask("/proc/self/exe", command, error);
}

int cmd_complete(int argc, char **argv)
{
    const struct completion_source source = {own_help, NULL};
    struct iwarp_sentence error = {{0}};

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return option_table_print(&table, stdout) < 0 ? EXIT_INCONCLUSIVE : EXIT_CONFORMS;
    if (argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--") != 0) {
        (void)option_table_unknown(&table, argv[1], &error);
        return complain(EXIT_USAGE, "%s", error.text);
    }
    if (argc < 4 || strcmp(argv[1], "--") != 0)
        return complain(EXIT_USAGE, "-- PROGRAM WORD... was expected");
    if (confine_privileges(0, &error) != 0 || /* it executes this program, for its help */
        complete_write(&source, (size_t)argc - 2, (const char *const *)argv + 2, stdout, &error) != 0)
        return complain(EXIT_INCONCLUSIVE, "%s", error.text);
    return EXIT_CONFORMS;
}
