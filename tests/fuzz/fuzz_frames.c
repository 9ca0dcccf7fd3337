/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scripts' frame builder: the octets are a Lua script, run in the script host as a user's would be, with every
 * constructor and every override within its reach. Whatever it says, the host survives and gives an error as a
 * sentence. A share of the input goes to frame_build() directly, whose result has the size that frame_room()
 * promised.
 */
#include "conformance/engine/script/script.h"
#include "generator/packet/frame.h"
#include "tests/fuzz/fuzz.h"
#include "base/octets.h"

static void build_frame(const uint8_t *data, size_t size)
{
    struct frame_spec spec = {.ulpdu = data + 16, .ulpdu_octets = size - 16};
    uint8_t *out;
    size_t room;

    spec.framing.position = octets_get32(data) & ~UINT32_C(3);
    spec.framing.markers = data[4] & 1;
    spec.framing.crc = data[4] & 2;
    spec.set_length = data[4] & 4;
    spec.set_pad = data[4] & 8;
    spec.set_crc = data[4] & 16;
    spec.crc_swapped = data[4] & 32;
    spec.omit_crc = data[4] & 64;
    spec.touch_marker = data[4] & 128;
    spec.length = octets_get16(data + 6);
    spec.pad = data + 5;
    spec.pad_octets = data[5] % 11;
    spec.crc = octets_get32(data + 8);
    spec.marker_index = data[12];
    spec.marker_pointer_flip = octets_get16(data + 13);
    room = frame_room(&spec);
    out = malloc(room);
    FUZZ_HOLDS(out != NULL);
    FUZZ_HOLDS(frame_build(&spec, out, room) == room && (room == 0 || frame_build(&spec, out, room - 1) == 0));
    free(out);
}

static void load(const uint8_t *data, size_t size)
{
    struct iwarp_sentence error = {{0}};
    struct script_host *host = script_host_new(&error);

    FUZZ_HOLDS(host != NULL);
    FUZZ_HOLDS(script_load(host, "fuzz.lua", data, size, &error) == 0 || error.text[0] != '\0');
    for (size_t i = 0; i < script_check_count(host); i++) {
        const struct check *check = script_check_at(host, i);

        FUZZ_HOLDS(check->id[0] != '\0' && check->purpose != NULL && (check->responder || check->initiator));
    }
    script_host_free(host);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    load((const uint8_t *)"", 0); /* the library's scripts are compiled once in a process, and kept */
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 17 && (data[15] & 3) != 0)
        build_frame(data, size);
    load(data, size);
    return 0;
}
