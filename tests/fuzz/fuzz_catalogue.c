/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that reads the catalogue's texts: the tables of requirements and of PICS items, capability predicates, and
 * the index of what the table of defects cites. The first octet chooses which.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/plan/coverage.h"
#include "conformance/engine/script/script.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/defect.h"
#include "base/sentence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void requirements(const void *octets, size_t size)
{
    struct catalogue_source source = {"fuzz.tsv", octets, size};
    const struct requirement *nearest[4];
    struct catalogue *catalogue;
    struct iwarp_sentence error;

    if (catalogue_parse(&catalogue, &source, 1, &error) != 0)
        return;
    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        if (catalogue_find(catalogue, catalogue_at(catalogue, i)->id) != catalogue_at(catalogue, i))
            abort();
    catalogue_nearest(catalogue, "MPA-7.1.2-05", nearest, 4);
    catalogue_free(catalogue);
}

static void items(const void *octets, size_t size)
{
    struct iwarp_sentence error;
    struct pics *pics;

    if (pics_parse(&pics, "fuzz.tsv", octets, size, &error) == 0)
        pics_free(pics);
}

static void predicate(const void *octets, size_t size)
{
    static const char table[] = "item\tquestion\tdefault\tmeaning\ttold\na\tq\tyes\tm\t-\nb\tq\tno\tm\t-\n";
    char *text = malloc(size + 1);
    struct iwarp_sentence reason, error;
    struct pics *pics;

    if (text == NULL || pics_parse(&pics, "t", table, sizeof(table) - 1, &error) != 0)
        abort();
    memcpy(text, octets, size);
    text[size] = '\0';
    pics_evaluate(pics, text, &reason, &error);
    pics_free(pics);
    free(text);
}

static void citations(const void *octets, size_t size)
{
    struct iwarp_sentence error;
    struct defect_list *defects = defect_list_parse(octets, size, &error);
    struct script_host *host = script_host_new(&error);
    struct coverage_index *index = NULL;
    struct coverage coverage;

    if (defects != NULL && host != NULL && coverage_build(&index, host, defects, &error) == 0)
        for (size_t i = 0; i < coverage_citation_count(index); i++) {
            coverage_of(index, coverage_citation(index, i)->requirement, &coverage);
            if (coverage.defect_count == 0)
                abort();
        }
    coverage_free(index);
    script_host_free(host);
    defect_list_free(defects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t choice = size > 0 ? data[0] : 0;
    const uint8_t *octets = size > 0 ? data + 1 : data;
    size_t rest = size > 0 ? size - 1 : 0;

    switch (choice % 4) {
    case 0: requirements(octets, rest); break;
    case 1: items(octets, rest); break;
    case 2: predicate(octets, rest); break;
    default: citations(octets, rest); break;
    }
    return 0;
}
