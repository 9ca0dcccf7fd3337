/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture scripts: the input is a script of somebody's, with all that `warpcheck gen` gives to scripts within its
 * reach: frames, connections, associations, losses, two reference stacks that talk. What it writes at once, and each
 * capture that it registers, is written, and read again: a capture has as many frames as were written into it.
 */
#define _GNU_SOURCE /* asprintf */
#include <unistd.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/gen/gen.h"
#include "conformance/flow/decoder.h"
#include "tests/fuzz/fuzz.h"

enum { CAPTURES_MAX = 4 };

static char folder[] = "/dev/shm/fuzz-gen-XXXXXX", *out;

static void clean_up(void)
{
    (void)unlink(out);
    (void)rmdir(folder);
    free(out);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char warm_up[] = "return rdmap.send { data = 'x' }";
    struct gen_writer_config config = {.format = GEN_RAW};
    struct iwarp_sentence error = {""};
    struct gen *gen = gen_new(1, &error);
    uint64_t written;

    (void)argc;
    (void)argv;
    FUZZ_HOLDS(mkdtemp(folder) != NULL && asprintf(&out, "%s/out", folder) > 0 && gen != NULL);
    (void)atexit(clean_up);
    /* The library's scripts are compiled once in a process, and kept. */
    config.to = place_at(out);
    FUZZ_HOLDS(gen_run_script(gen, "fuzz.lua", warm_up, sizeof(warm_up) - 1, &config, true, &written, &error) ==
               EXIT_DONE);
    gen_free(gen);
    return 0;
}

/* How many frames the capture has that was written; it is read as `audit` would. */
static uint64_t read_frames(void)
{
    struct iwarp_sentence error = {""};
    struct capture_file *capture = capture_open(out, &error);
    struct flow_frame frame;
    uint64_t frames = 0;
    int rc = 0;

    if (capture == NULL) {
        FUZZ_HOLDS(strstr(error.text, "is not read") != NULL); /* a link type of the script's own */
        return UINT64_MAX;
    }
    while ((rc = capture_next(capture, &frame, &error)) == 1)
        frames++;
    FUZZ_HOLDS(rc == 0 && frames == capture_frames(capture));
    capture_close(capture);
    return frames;
}

static void make(struct gen *gen, size_t which, enum gen_format format)
{
    struct gen_writer_config config = {.to = place_at(out), .format = format};
    struct iwarp_sentence error = {""};
    enum exit_status status = gen_make(gen, which, &config, &error);

    FUZZ_HOLDS(status == EXIT_DONE ? access(out, R_OK) == 0 : error.text[0] != '\0' && access(out, F_OK) != 0);
    if (status == EXIT_DONE && (format == GEN_PCAP || format == GEN_PCAPNG))
        FUZZ_HOLDS(read_frames() != 0);
    for (size_t i = 0; i < gen_finding_count(gen); i++)
        FUZZ_HOLDS(gen_finding_at(gen, i)->id != NULL && gen_finding_at(gen, i)->verdict != NULL);
    (void)unlink(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum gen_format format = (enum gen_format)(size % GEN_FORMATS);
    struct gen_writer_config config = {.to = place_at(out), .format = format};
    struct iwarp_sentence error = {""};
    struct gen *gen = gen_new(1, &error);
    uint64_t written = 0, read;
    enum exit_status status;

    FUZZ_HOLDS(gen != NULL);
    status = gen_run_script(gen, "fuzz.lua", data, size, &config, size & 1, &written, &error);
    FUZZ_HOLDS(status == EXIT_DONE || error.text[0] != '\0');
    if (status == EXIT_DONE && written != 0 && (format == GEN_PCAP || format == GEN_PCAPNG)) {
        read = read_frames();
        FUZZ_HOLDS(read == written || read == UINT64_MAX);
    }
    (void)unlink(out);
    for (size_t i = 0; i < gen_capture_count(gen) && i < CAPTURES_MAX; i++)
        make(gen, i, (enum gen_format)((size + i) % GEN_FORMATS));
    gen_free(gen);
    return 0;
}
