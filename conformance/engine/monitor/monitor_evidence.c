/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_evidence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "conformance/engine/monitor/monitor_frames.h"
#include "conformance/engine/option/shard.h"
#include "generator/packet/pcapng.h"

/* A file in the folder. */
struct stored {
    struct stored *next, *prev;
    uint64_t octets;
    char name[EVIDENCE_NAME];
};

/* A capture that is being written. */
struct open_cut {
    struct pcapng *writer; /* NULL: free */
    struct monitor_flow flow;
    struct stored *file; /* NULL: it was removed meanwhile */
    uint32_t link;
    uint64_t begun_ns, frame;
    unsigned after;
};

struct monitor_evidence {
    struct monitor_evidence_config config;
    int folder;
    struct monitor_frames *frames;
    struct stored *files; /* the oldest first */
    unsigned file_count;
    uint64_t octets;
    struct open_cut cuts[EVIDENCE_OPEN];
    unsigned open_count;
    uint64_t lost;
    struct iwarp_sentence why;
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* "20261128T102201.123Z-MPA-4.4-14-0123456789abcdef.pcapng": alphabetical is by time. */
static bool is_own_name(const char *name)
{
    static const char form[] = "ddddddddTdddddd.dddZ-";
    size_t length = strlen(name), from = sizeof(form) - 1;

    if (length < from + 25 || length >= EVIDENCE_NAME || strcmp(name + length - 7, ".pcapng") != 0)
        return false;
    for (size_t i = 0; i < from; i++) {
        if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return false;
    }
    return strspn(name + length - 23, "0123456789abcdef") == 16 && name[length - 24] == '-';
}

static void make_name(const struct monitor_cut *cut, char name[EVIDENCE_NAME])
{
    char key[SHARD_DIGEST_OCTETS], day[20] = "";
    time_t seconds = (time_t)(cut->time_ns / 1000000000);
    struct tm utc;

    shard_digest_show(cut->key, key);
    if (gmtime_r(&seconds, &utc) != NULL)
        (void)strftime(day, sizeof(day), "%Y%m%dT%H%M%S", &utc);
    (void)snprintf(name, EVIDENCE_NAME, "%s.%03uZ-%.40s-%s.pcapng", day,
                   (unsigned)(cut->time_ns % 1000000000 / 1000000), cut->id, key);
}

static struct stored *file_add(struct monitor_evidence *evidence, const char *name, uint64_t octets)
{
    struct stored *file = calloc(1, sizeof(*file));

    if (file == NULL)
        return NULL;
    (void)snprintf(file->name, sizeof(file->name), "%s", name);
    file->octets = octets;
    DL_APPEND(evidence->files, file);
    evidence->file_count++;
    evidence->octets += octets;
    return file;
}

/* It is not in the list any more. */
static void file_forget(struct monitor_evidence *evidence, struct stored *file)
{
    for (unsigned i = 0; i < EVIDENCE_OPEN; i++)
        if (evidence->cuts[i].file == file)
            evidence->cuts[i].file = NULL;
    DL_DELETE(evidence->files, file);
    evidence->file_count--;
    evidence->octets -= file->octets;
    free(file);
}

/* The oldest ones go, so that `more` files fit; the newest one stays, however long it is. */
static void files_limit(struct monitor_evidence *evidence, unsigned more)
{
    while (evidence->files != NULL &&
           (evidence->file_count + more > evidence->config.most_files ||
            (evidence->octets > evidence->config.most_octets && evidence->file_count + more > 1))) {
        struct stored *oldest = evidence->files;

        (void)unlinkat(evidence->folder, oldest->name, 0);
        file_forget(evidence, oldest);
    }
}

static int by_name(const struct stored *a, const struct stored *b)
{
    return strcmp(a->name, b->name);
}

/* Those of earlier processes. */
static int files_list(struct monitor_evidence *evidence)
{
    int again = openat(evidence->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    bool memory = true;

    if (folder == NULL) {
        if (again >= 0)
            (void)close(again);
        return -1;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat status;

        if (is_own_name(entry->d_name) && fstatat(evidence->folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            memory &= file_add(evidence, entry->d_name, (uint64_t)status.st_size) != NULL;
    }
    (void)closedir(folder);
    DL_SORT(evidence->files, by_name);
    return memory ? 0 : -1;
}

/* ---- captures ---------------------------------------------------------------------------------------------------- */

static void finish(struct monitor_evidence *evidence, struct open_cut *cut)
{
    struct iwarp_sentence error;
    struct stat status;

    if (pcapng_close(cut->writer, &error) != 0 && evidence->lost++ == 0)
        evidence->why = error;
    if (cut->file != NULL && fstatat(evidence->folder, cut->file->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        evidence->octets += (uint64_t)status.st_size - cut->file->octets;
        cut->file->octets = (uint64_t)status.st_size;
    }
    *cut = (struct open_cut){0};
    evidence->open_count--;
    files_limit(evidence, 0);
}

/* The flow's frames among those that are kept: how many, and then the last of them. */
struct passage {
    const struct open_cut *cut;
    size_t count, skip;
    const char *comment;
};

static void count_frame(void *user, const struct flow_frame *frame)
{
    struct passage *passage = user;

    passage->count += frame->link == passage->cut->link && monitor_flow_has(&passage->cut->flow, frame);
}

static void write_frame(const struct open_cut *cut, const struct flow_frame *frame, const char *comment)
{
    (void)pcapng_write_cut_frame(cut->writer, frame->time_ns, frame->octets, frame->captured, frame->length, comment,
                                 false);
}

static void write_kept(void *user, const struct flow_frame *frame)
{
    struct passage *passage = user;

    if (frame->link != passage->cut->link || !monitor_flow_has(&passage->cut->flow, frame))
        return;
    if (passage->skip > 0)
        passage->skip--;
    else
        write_frame(passage->cut, frame, frame->number == passage->cut->frame ? passage->comment : NULL);
}

static void write_before(const struct monitor_evidence *evidence, const struct open_cut *cut, const char *comment)
{
    struct passage passage = {.cut = cut, .comment = comment};

    monitor_frames_each(evidence->frames, count_frame, &passage);
    passage.skip = passage.count > EVIDENCE_BEFORE ? passage.count - EVIDENCE_BEFORE : 0;
    monitor_frames_each(evidence->frames, write_kept, &passage);
}

/* A free place; the capture that was begun first makes room. */
static struct open_cut *place_of(struct monitor_evidence *evidence)
{
    struct open_cut *oldest = NULL;

    for (unsigned i = 0; i < EVIDENCE_OPEN; i++) {
        struct open_cut *cut = &evidence->cuts[i];

        if (cut->writer == NULL)
            return cut;
        if (oldest == NULL || cut->begun_ns < oldest->begun_ns)
            oldest = cut;
    }
    finish(evidence, oldest);
    return oldest;
}

int monitor_evidence_cut(struct monitor_evidence *evidence, const struct monitor_cut *what, char name[EVIDENCE_NAME],
                         struct iwarp_sentence *error)
{
    struct open_cut *cut = place_of(evidence);
    char path[PATH_MAX];
    int file;

    make_name(what, name);
    (void)snprintf(path, sizeof(path), "%s/%s", evidence->config.folder, name);
    files_limit(evidence, 1);
    file = openat(evidence->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return iwarp_sentence_set(error, "%s: cannot create the capture: %s", path, strerror(errno));
    *cut = (struct open_cut){.flow = what->flow, .link = what->link, .begun_ns = what->time_ns, .frame = what->frame};
    cut->writer = pcapng_open_file(file, path, (uint16_t)what->link, "warpcheck monitor", what->comment, error);
    if (cut->writer != NULL)
        cut->file = file_add(evidence, name, 0);
    if (cut->file == NULL) {
        if (cut->writer != NULL)
            (void)iwarp_sentence_set(error, "%s: out of memory", path);
        (void)pcapng_close(cut->writer, NULL);
        (void)unlinkat(evidence->folder, name, 0);
        *cut = (struct open_cut){0};
        return -1;
    }
    evidence->open_count++;
    write_before(evidence, cut, what->comment);
    (void)pcapng_flush(cut->writer);
    return 0;
}

void monitor_evidence_frame(struct monitor_evidence *evidence, const struct flow_frame *frame)
{
    monitor_frames_add(evidence->frames, frame);
    for (unsigned i = 0; i < EVIDENCE_OPEN && evidence->open_count != 0; i++) {
        struct open_cut *cut = &evidence->cuts[i];

        if (cut->writer == NULL || cut->link != frame->link || !monitor_flow_has(&cut->flow, frame))
            continue;
        write_frame(cut, frame, NULL);
        if (++cut->after == EVIDENCE_AFTER)
            finish(evidence, cut);
    }
}

void monitor_evidence_time(struct monitor_evidence *evidence, uint64_t now_ns)
{
    for (unsigned i = 0; i < EVIDENCE_OPEN && evidence->open_count != 0; i++)
        if (evidence->cuts[i].writer != NULL &&
            now_ns > evidence->cuts[i].begun_ns + EVIDENCE_SECONDS * UINT64_C(1000000000))
            finish(evidence, &evidence->cuts[i]);
}

uint64_t monitor_evidence_lost(struct monitor_evidence *evidence, struct iwarp_sentence *why)
{
    uint64_t lost = evidence->lost;

    *why = evidence->why;
    evidence->lost = 0;
    return lost;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct monitor_evidence *monitor_evidence_open(const struct monitor_evidence_config *config,
                                               struct iwarp_sentence *error)
{
    struct monitor_evidence *evidence = calloc(1, sizeof(*evidence));

    if (evidence == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for evidence");
        return NULL;
    }
    evidence->config = *config;
    evidence->folder = open(config->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    evidence->frames = monitor_frames_new(config->memory);
    if (evidence->folder < 0)
        (void)iwarp_sentence_set(error, "--evidence %.200s: %s", config->folder, strerror(errno));
    else if (evidence->frames == NULL)
        (void)iwarp_sentence_set(error, "out of memory for the frames that evidence is cut from");
    else if (files_list(evidence) != 0)
        (void)iwarp_sentence_set(error, "--evidence %.200s: the folder cannot be read", config->folder);
    else
        return evidence;
    monitor_evidence_close(evidence);
    return NULL;
}

void monitor_evidence_close(struct monitor_evidence *evidence)
{
    if (evidence == NULL)
        return;
    for (unsigned i = 0; i < EVIDENCE_OPEN; i++)
        if (evidence->cuts[i].writer != NULL)
            finish(evidence, &evidence->cuts[i]);
    while (evidence->files != NULL)
        file_forget(evidence, evidence->files);
    if (evidence->folder >= 0)
        (void)close(evidence->folder);
    monitor_frames_free(evidence->frames);
    free(evidence);
}
