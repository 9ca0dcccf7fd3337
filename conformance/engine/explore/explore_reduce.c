/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/explore_reduce.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_stream.h"
#include "conformance/engine/explore/session_reduction.h"
#include "conformance/engine/explore/session_text.h"
#include "reports/file/save.h"

static int reduce_group(const struct explore_config *config, struct session_device *oracle, struct explore_group *group,
                        struct iwarp_sentence *error)
{
    struct session *session = calloc(1, sizeof(*session));
    int status;

    if (session == NULL)
        return iwarp_sentence_set(error, "out of memory for a smaller session");
    status = explore_make(config, oracle, session, group->number, 1, NULL, error);
    if (status == 0)
        status = session_reduce(config, oracle, group, session, error);
    if (status == 0)
        group->reduced = session;
    else
        free(session);
    return status < 0 ? -1 : 0;
}

int explore_reduce(const struct explore_config *config, struct explore_summary *summary, struct iwarp_sentence *error)
{
    struct session_device oracle = {.defects = defect_set_asking(error)};
    int status = oracle.defects != NULL ? 0 : -1;

    if (config->device->live != NULL)
        config->device->live->trial = true;
    for (size_t i = 0; status == 0 && i < summary->group_count && i < EXPLORE_REDUCED_MOST; i++)
        status = reduce_group(config, &oracle, &summary->groups[i], error);
    run_services_free(&oracle.services);
    defect_set_free(oracle.defects);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int write_check(int folder, const char *path, const struct explore_group *group, struct iwarp_sentence *error)
{
    char name[SESSION_ID_OCTETS + sizeof(".lua")], id[SESSION_ID_OCTETS], shown[640], purpose[400];
    const struct place place = {folder, name, shown};
    char *text = NULL;
    size_t octets = 0;
    FILE *out = text_stream_open(&text, &octets);
    int status;

    (void)snprintf(name, sizeof(name), "%s.lua", session_id(group->reduced, id));
    (void)snprintf(shown, sizeof(shown), "%s/%s", path, name);
    (void)snprintf(purpose, sizeof(purpose), "%s%s%s", group->id != NULL ? group->id : "",
                   group->id != NULL ? ": " : "", group->message != NULL ? group->message : "");
    if (out == NULL)
        return iwarp_sentence_set(error, "out of memory for %s", shown);
    (void)fprintf(out,
                  "-- Session %" PRIu64 " of seed %" PRIu64 ", reduced by warpcheck explore (docs/exploring.md).\n"
                  "-- %" PRIu64 " sessions failed in this way.\n\n",
                  group->number, group->reduced->seed, group->count);
    session_print(group->reduced, NULL, purpose, out);
    if (!text_stream_close(out, &text))
        return iwarp_sentence_set(error, "out of memory for %s", shown);
    status = save_new(&place, text, octets, error);
    free(text);
    return status;
}

int explore_write_checks(const struct explore_summary *summary, const char *folder, struct iwarp_sentence *error)
{
    char path[480];
    int checks, status = 0;

    if (snprintf(path, sizeof(path), "%s/checks", folder) >= (int)sizeof(path))
        return iwarp_sentence_set(error, "%.100s...: the name is too long", folder);
    if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || mkdir(path, 0777) != 0)
        return iwarp_sentence_set(error, "%s cannot be made: %s; a new folder was expected", path, strerror(errno));
    checks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (checks < 0)
        return iwarp_sentence_set(error, "%s cannot be opened: %s", path, strerror(errno));
    for (size_t i = 0; status == 0 && i < summary->group_count; i++)
        if (summary->groups[i].reduced != NULL)
            status = write_check(checks, path, &summary->groups[i], error);
    (void)close(checks);
    return status;
}
