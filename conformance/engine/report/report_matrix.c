/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_matrix.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/report/report_input.h"
#include "conformance/requirements/catalogue.h"
#include "reports/page/matrix.h"

enum { FAILED_TO_READ = -1, FAILED_TO_WRITE = -2 };

int report_matrix(char *const *inputs, size_t count, const char *output, struct iwarp_sentence *error)
{
    const struct place to = place_at(output);
    struct report_input *runs = calloc(count, sizeof(*runs));
    struct matrix_column columns[MATRIX_COLUMNS_MAX];
    struct catalogue *catalogue = NULL;
    int rc = FAILED_TO_READ;

    if (runs == NULL || count > MATRIX_COLUMNS_MAX) {
        iwarp_sentence_set(error, runs == NULL ? "out of memory" : "a matrix shows at most %d runs",
                           MATRIX_COLUMNS_MAX);
    } else if (catalogue_load(&catalogue, error) == 0 &&
               report_inputs_load(runs, inputs, count, catalogue, error) == 0) {
        for (size_t i = 0; i < count; i++) {
            report_input_page(&runs[i], output);
            columns[i] = (struct matrix_column){runs[i].name, &runs[i].report, runs[i].page[0] ? runs[i].page : NULL};
        }
        rc = matrix_write(columns, count, catalogue, &to, error) == 0 ? 0 : FAILED_TO_WRITE;
    }
    if (runs != NULL)
        report_inputs_free(runs, count);
    catalogue_free(catalogue);
    free(runs);
    return rc;
}
