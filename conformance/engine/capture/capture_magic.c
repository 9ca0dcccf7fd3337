/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_magic.h"

#include <stdbool.h>
#include <string.h>

/* What a file has at a place. */
struct magic {
    const char *octets;
    uint8_t count;
    uint16_t at;
    enum flow_row row;
};

/* clang-format off */
static const struct magic magics[] = {
    {"\xA1\xB2\xC3\xD4", 4, 0, FLOW_ROWS}, /* pcap, and in the other order of octets */
    {"\xD4\xC3\xB2\xA1", 4, 0, FLOW_ROWS},
    {"\xA1\xB2\x3C\x4D", 4, 0, FLOW_ROWS}, /* with nanoseconds */
    {"\x4D\x3C\xB2\xA1", 4, 0, FLOW_ROWS},
    {"\xA1\xB2\xCD\x34", 4, 0, FLOW_ROWS}, /* as some kernels' tcpdump wrote it */
    {"\x34\xCD\xB2\xA1", 4, 0, FLOW_ROWS},
    {"\x0A\x0D\x0D\x0A", 4, 0, FLOW_ROWS}, /* pcapng */

    {"\x1F\x8B", 2, 0, FLOW_ROW_COMPRESSED}, /* gzip, zstd and lz4 in another compression */
    {"\x28\xB5\x2F\xFD", 4, 0, FLOW_ROW_COMPRESSED},
    {"\x04\x22\x4D\x18", 4, 0, FLOW_ROW_COMPRESSED},
    {"\x02\x21\x4C\x18", 4, 0, FLOW_ROW_COMPRESSED}, /* lz4 -l */
    {"\x1F\x9D", 2, 0, FLOW_ROW_COMPRESSED},         /* compress */
    {"\x1F\x9E", 2, 0, FLOW_ROW_COMPRESSED},
    {"\x1F\x9F", 2, 0, FLOW_ROW_COMPRESSED},
    {"\x1F\xA0", 2, 0, FLOW_ROW_COMPRESSED},
    {"\x1F\x1E", 2, 0, FLOW_ROW_COMPRESSED},
    {"BZh", 3, 0, FLOW_ROW_COMPRESSED},
    {"\xFD" "7zXZ", 5, 0, FLOW_ROW_COMPRESSED},
    {"\x5D\0\0", 3, 0, FLOW_ROW_COMPRESSED}, /* lzma */
    {"LZIP", 4, 0, FLOW_ROW_COMPRESSED},
    {"LRZI", 4, 0, FLOW_ROW_COMPRESSED},
    {"\x89LZO\0", 5, 0, FLOW_ROW_COMPRESSED},
    {"\xFF\x06\0\0sNaPpY", 10, 0, FLOW_ROW_COMPRESSED},

    {"PK\x03\x04", 4, 0, FLOW_ROW_ARCHIVE},
    {"PK\x05\x06", 4, 0, FLOW_ROW_ARCHIVE},
    {"7z\xBC\xAF\x27\x1C", 6, 0, FLOW_ROW_ARCHIVE},
    {"ustar", 5, 257, FLOW_ROW_ARCHIVE}, /* tar */
    {"!<arch>\n", 8, 0, FLOW_ROW_ARCHIVE},
    {"Rar!\x1A\x07", 6, 0, FLOW_ROW_ARCHIVE},
    {"07070", 5, 0, FLOW_ROW_ARCHIVE}, /* cpio */
    {"\xC7\x71", 2, 0, FLOW_ROW_ARCHIVE},
    {"\x71\xC7", 2, 0, FLOW_ROW_ARCHIVE},
    {"MSCF", 4, 0, FLOW_ROW_ARCHIVE},
    {"hsqs", 4, 0, FLOW_ROW_ARCHIVE}, /* squashfs */
    {"\xED\xAB\xEE\xDB", 4, 0, FLOW_ROW_ARCHIVE}, /* rpm */

    {"\x1C\0\x01\xAC", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* Ixia's pcap, of hardware and of software */
    {"\xAC\x01\0\x1C", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"\x1C\0\x01\xAB", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"\xAB\x01\0\x1C", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"\xA1\x2B\x3C\x4D", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* Navtel's */
    {"\x4D\x3C\x2B\xA1", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"\xA1\xE2\xCB\x12", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* of FRITZ!Box-like routers */
    {"\x12\xCB\xE2\xA1", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"snoop\0\0", 8, 0, FLOW_ROW_OTHER_FORMAT},
    {"btsnoop\0", 8, 0, FLOW_ROW_OTHER_FORMAT},
    {"GMBU", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* Microsoft Network Monitor */
    {"RTSS", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"XCP\0", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* NetXRay */
    {"VL\0\0", 4, 0, FLOW_ROW_OTHER_FORMAT},
    {"TRSNIFF ", 8, 0, FLOW_ROW_OTHER_FORMAT},
    {"iptrace ", 8, 0, FLOW_ROW_OTHER_FORMAT},
    {"\xAA\xAA\xAA\xAA", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* 5Views */
    {"\x7Fver", 4, 0, FLOW_ROW_OTHER_FORMAT},          /* *Peek */
    {"\x05VNF", 4, 0, FLOW_ROW_OTHER_FORMAT},          /* Visual Networks */
    {"\0\0\x02\0\x12\x05\0\x10", 8, 0, FLOW_ROW_OTHER_FORMAT}, /* Tektronix K12 */
    {"\x01\x10\x4C\0\x01\x05", 6, 0, FLOW_ROW_OTHER_FORMAT},   /* LANalyzer */
    {"ObserverPktBuffe", 16, 0, FLOW_ROW_OTHER_FORMAT},
    {"EyeSDN", 6, 0, FLOW_ROW_OTHER_FORMAT},
    {"cpse", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* Capsa */
    {"TR\0\x40", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* nettl */
    {"LOGG", 4, 0, FLOW_ROW_OTHER_FORMAT}, /* BLF */

    {"\x89PNG", 4, 0, FLOW_ROW_FILE},
    {"\xFF\xD8\xFF", 3, 0, FLOW_ROW_FILE}, /* JPEG */
    {"GIF8", 4, 0, FLOW_ROW_FILE},
    {"RIFF", 4, 0, FLOW_ROW_FILE},
    {"OggS", 4, 0, FLOW_ROW_FILE},
    {"ftyp", 4, 4, FLOW_ROW_FILE}, /* MP4 and the like */
    {"%PDF", 4, 0, FLOW_ROW_FILE},
    {"\x7F" "ELF", 4, 0, FLOW_ROW_FILE},
    {"MZ", 2, 0, FLOW_ROW_FILE},
    {"\xCA\xFE\xBA\xBE", 4, 0, FLOW_ROW_FILE}, /* Java, Mach-O */
    {"\xCF\xFA\xED\xFE", 4, 0, FLOW_ROW_FILE},
    {"\xCE\xFA\xED\xFE", 4, 0, FLOW_ROW_FILE},
    {"\0asm", 4, 0, FLOW_ROW_FILE},
    {"BC\xC0\xDE", 4, 0, FLOW_ROW_FILE}, /* LLVM */
    {"\x1BLua", 4, 0, FLOW_ROW_FILE},
    {"wOFF", 4, 0, FLOW_ROW_FILE},
    {"wOF2", 4, 0, FLOW_ROW_FILE},
    {"OTTO", 4, 0, FLOW_ROW_FILE},
    {"\0\x01\0\0", 4, 0, FLOW_ROW_FILE}, /* TrueType */
    {"SQLite format 3", 16, 0, FLOW_ROW_FILE},
    {"DIRC", 4, 0, FLOW_ROW_FILE}, /* git */
    {"PACK", 4, 0, FLOW_ROW_FILE},
    {"\xFFtOc", 4, 0, FLOW_ROW_FILE},
    {"\xDE\x12\x04\x95", 4, 0, FLOW_ROW_FILE}, /* message catalogues */
    {"\x95\x04\x12\xDE", 4, 0, FLOW_ROW_FILE},
    {"\xFE\xFF", 2, 0, FLOW_ROW_FILE}, /* UTF-16 */
    {"\xFF\xFE", 2, 0, FLOW_ROW_FILE},
};
/* clang-format on */

/*
 * Octets of a character of UTF-8 that is no control character but white space and the escape of colours; 0: it is none.
 */
static size_t character_octets(const uint8_t *at, size_t left)
{
    size_t octets = *at < 0x80 ? 1 : (*at & 0xE0) == 0xC0 ? 2 : (*at & 0xF0) == 0xE0 ? 3 : (*at & 0xF8) == 0xF0 ? 4 : 0;

    if (octets == 1)
        return (*at >= 0x20 && *at != 0x7F) || (*at >= '\t' && *at <= '\r') || *at == 0x1B ? 1 : 0;
    for (size_t i = 1; i < octets && i < left; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return octets;
}

static bool is_text(const uint8_t *octets, size_t count)
{
    for (size_t i = 0, length; i < count; i += length) {
        length = character_octets(octets + i, count - i);
        if (length == 0)
            return false;
    }
    return true;
}

enum flow_row capture_magic_row(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (count >= (size_t)magics[i].at + magics[i].count &&
            memcmp(octets + magics[i].at, magics[i].octets, magics[i].count) == 0)
            return magics[i].row;
    return is_text(octets, count) ? FLOW_ROW_FILE : FLOW_ROW_FILE_UNKNOWN;
}
