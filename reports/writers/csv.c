/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/results_log.h"
#include "reports/file/save.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

void csv_text(FILE *out, bool first, const char *text)
{
    char *clean = text ? text_clean_line(text) : NULL;
    const char *at = clean ? clean : "";

    fputs(first ? "\"" : ",\"", out);
    if (*at != '\0' && strchr("=+-@", *at) != NULL)
        fputc('\'', out);
    for (; *at != '\0'; at++) {
        if (*at == '"')
            fputc('"', out);
        fputc(*at, out);
    }
    fputc('"', out);
    free(clean);
}

void csv_number(FILE *out, bool first, uint64_t number)
{
    fprintf(out, "%s%" PRIu64, first ? "" : ",", number);
}

void csv_line_end(FILE *out)
{
    fputs("\r\n", out); /* RFC 4180 2.1 */
}

struct writing {
    FILE *out;
    const struct catalogue *catalogue;
    const char *device; /* in one line */
};

static int on_result(void *user, const struct result *result, json_t *object)
{
    const struct writing *writing = user;
    const struct requirement *requirement = writing->catalogue ? catalogue_find(writing->catalogue, result->id) : NULL;
    const char *const cells[] = {
        verdict_name(result->verdict),
        result->role,
        requirement ? requirement_level_name(requirement->level) : NULL,
        requirement ? requirement->source : NULL,
        requirement ? requirement->section : NULL,
        requirement ? requirement->text : NULL,
        result->expected,
        result->actual,
        result->message ? result->message : result->pics,
        result->reading,
        result->file,
        result->flow,
    };

    (void)object;
    csv_text(writing->out, true, result->id);
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
        csv_text(writing->out, false, cells[i]);
    csv_number(writing->out, false, result->frame);
    csv_number(writing->out, false, result->count);
    csv_text(writing->out, false, result->cause);
    csv_text(writing->out, false, result->finding);
    csv_text(writing->out, false, result->review_by);
    csv_text(writing->out, false, result->by);
    csv_text(writing->out, false, result->script);
    csv_text(writing->out, false, result->evidence);
    csv_text(writing->out, false, writing->device);
    csv_line_end(writing->out);
    return 0;
}

static const char head[] =
    "requirement,verdict,role,level,document,section,text,expected,actual,message,reading,file,flow,"
    "frame,count,cause,finding,review_by,by,script,evidence,device\r\n";

int csv_write(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    char *text = NULL, *device = run_info_device(&report->info);
    size_t size = 0;
    struct writing writing = {
        .out = device ? text_stream_open(&text, &size) : NULL, .catalogue = report->catalogue, .device = device};
    struct results_reader reader = {.on_result = on_result, .user = &writing};
    int rc;

    if (!writing.out) {
        free(device);
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    }
    fputs(head, writing.out);
    rc = results_read_place(&report->source, &reader, error);
    if (!text_stream_close(writing.out, &text))
        rc = iwarp_sentence_set(error, "%s: out of memory", to->path);
    if (rc == 0)
        rc = save_file(to, text, size, error);
    free(text);
    free(device);
    return rc;
}
