/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of protocols that run over TCP. */
#include "conformance/flow/mpa/flow_records.h"

#include <string.h>

static const struct flow_record none = {RECORD_NONE, 0, 0}, more = {RECORD_MORE, 0, 0};

static bool is_one_of(unsigned value, const uint8_t *list, size_t count)
{
    return value <= UINT8_MAX && memchr(list, (int)value, count) != NULL;
}

#define IS_ONE_OF(value, ...) is_one_of(value, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* As far as the octets go they are the word's: 1 all of it, 0 no, -1 too few. */
static int begins_with(const uint8_t *octets, size_t count, const void *word, size_t length)
{
    if (memcmp(octets, word, count < length ? count : length) != 0)
        return 0;
    return count < length ? -1 : 1;
}

/* RFC 8446 5.1, RFC 5246 6.2.1. A Hello says its length twice. */
static struct flow_record begin_tls(const uint8_t *octets, size_t count)
{
    enum { HEADER = 5, FIRST_TYPE = 20, LAST_TYPE = 24, HANDSHAKE = 22, LAST_MINOR = 4, MOST = (1 << 14) + 2048 };
    struct flow_record record = {HEADER, 21, 14};
    size_t length;

    if (octets[0] < FIRST_TYPE || octets[0] > LAST_TYPE || (count > 1 && octets[1] != 3) ||
        (count > 2 && octets[2] > LAST_MINOR))
        return none;
    if (count < HEADER)
        return more;
    length = octets_get16(octets + 3);
    if (length == 0 || length > MOST)
        return none;
    if (octets[0] == HANDSHAKE && count < HEADER + 4 && length >= 4)
        return more;
    if (octets[0] == HANDSHAKE && length >= 4 && (octets[5] == 1 || octets[5] == 2) &&
        (octets_get32(octets + 5) & 0xFFFFFF) == length - 4)
        record.bits += 24;
    record.octets += length;
    return record;
}

/* NetBIOS sessions (RFC 1002 4.3.1), and SMB on them or directly on TCP. */
static struct flow_record begin_smb(const uint8_t *octets, size_t count)
{
    enum { HEADER = 4 };
    static const char name[] = "SMB";

    if (octets[0] != 0)
        return none;
    if (count < HEADER + 4)
        return more;
    if (octets[4] < 0xFC || memcmp(octets + 5, name, 3) != 0)
        return none;
    return (struct flow_record){HEADER + octets_get32(octets), 38, 16};
}

/* RFC 1006 6, with a TPDU of COTP (ISO 8073 13) or a message of Q.931 in it. */
static struct flow_record begin_tpkt(const uint8_t *octets, size_t count)
{
    enum { HEADER = 4, LEAST = 7 };
    struct flow_record record = {0, 24, 16};

    if (octets[0] != 3 || (count > 1 && octets[1] != 0))
        return none;
    if (count < HEADER + 2)
        return more;
    record.octets = octets_get16(octets + 2);
    if (record.octets < LEAST)
        return none;
    if (octets[4] == 8)
        return record;
    return octets[4] < record.octets - HEADER && octets[5] >= 0x10 && (octets[5] >= 0xC0 || octets[5] < 0x90) ? record
                                                                                                              : none;
}

/* RFC 1035 4.2.2, RFC 7766 8: one question, or an answer to it. */
static struct flow_record begin_dns(const uint8_t *octets, size_t count)
{
    enum { HEADER = 14, OPCODES = 0x78, ZERO = 0x40, QUERY = 0, UPDATE = 0x28 };

    if (count < HEADER)
        return more;
    if (octets_get16(octets) < HEADER - 2 || ((octets[4] & OPCODES) != QUERY && (octets[4] & OPCODES) != UPDATE) ||
        (octets[5] & ZERO) != 0 || octets_get16(octets + 6) != 1 || octets[8] != 0 || octets[10] != 0 ||
        octets[12] != 0)
        return none;
    return (struct flow_record){2u + octets_get16(octets), 44, 16};
}

/* MODBUS Messaging on TCP/IP 3.1.3. */
static struct flow_record begin_modbus(const uint8_t *octets, size_t count)
{
    enum { HEADER = 6, MOST = 254 };

    if (count < HEADER)
        return more;
    if (octets_get16(octets + 2) != 0 || octets_get16(octets + 4) < 2 || octets_get16(octets + 4) > MOST)
        return none;
    return (struct flow_record){HEADER + octets_get16(octets + 4), 24, 8};
}

/* Packets of Tabular Data Streams: type, status, length, process, number, window. */
static struct flow_record begin_tds(const uint8_t *octets, size_t count)
{
    enum { HEADER = 8 };

    if (!IS_ONE_OF(octets[0], 1, 2, 3, 4, 6, 7, 8, 14, 16, 17, 18) ||
        (count > 1 && !IS_ONE_OF(octets[1], 0, 1, 2, 4, 5, 8, 9, 16, 17)))
        return none;
    if (count < HEADER)
        return more;
    if (octets_get16(octets + 2) < HEADER || octets[7] != 0)
        return none;
    return (struct flow_record){octets_get16(octets + 2), 16, 16};
}

/* Connection-oriented DCE/RPC (C706 12.6.3.1), with little-endian integers. */
static struct flow_record begin_dcerpc(const uint8_t *octets, size_t count)
{
    enum { HEADER = 16, LAST_TYPE = 19, LITTLE = 0x10 };
    size_t length;

    if (octets[0] != 5 || (count > 1 && octets[1] > 1) || (count > 2 && octets[2] > LAST_TYPE))
        return none;
    if (count < HEADER)
        return more;
    length = octets[8] | (size_t)octets[9] << 8;
    if (octets[4] != LITTLE || octets[5] != 0 || octets[6] != 0 || octets[7] != 0 || length < HEADER)
        return none;
    return (struct flow_record){length, 51, 16};
}

/* MQTT 3.1.1 2.2: type and flags, and a length of up to four octets. */
static struct flow_record begin_mqtt(const uint8_t *octets, size_t count)
{
    enum { CONNECT = 1, PUBLISH = 3, SUBSCRIBE = 8, UNSUBSCRIBE = 10, PUBREL = 6 };
    unsigned type = octets[0] >> 4, flags = octets[0] & 0xF;
    struct flow_record record = {0, 4, 7};
    size_t length = 0, at = 1;

    if (type == 0 || type == 15 ||
        (type != PUBLISH && flags != (type == SUBSCRIBE || type == UNSUBSCRIBE || type == PUBREL ? 2u : 0u)))
        return none;
    for (;; at++) {
        if (at > 4)
            return none;
        if (count <= at)
            return more;
        length |= (size_t)(octets[at] & 0x7F) << 7 * (at - 1);
        if ((octets[at] & 0x80) == 0)
            break;
        record.length_bits += 7;
    }
    record.octets = at + 1 + length;
    if (type != CONNECT)
        return record;
    if (count < at + 5)
        return more;
    if (memcmp(octets + at + 1, "\0\4MQ", 4) != 0 && memcmp(octets + at + 1, "\0\6MQ", 4) != 0)
        return none;
    record.bits += 31;
    return record;
}

/* Simple fixed beginnings, with a length that stands at a place in the header. */
struct fixed {
    const char *word;
    uint8_t word_octets;
    uint8_t header;    /* octets of it */
    uint8_t length_at; /* where the length stands; */
    uint8_t length_octets;
    bool little;
    uint8_t beside; /* octets that the length does not count */
};

static struct flow_record begin_fixed(const struct fixed *fixed, const uint8_t *octets, size_t count)
{
    struct flow_record record = {0, fixed->word_octets * 8u, fixed->length_octets * 8u};
    int fits = begins_with(octets, count, fixed->word, fixed->word_octets);

    if (fits <= 0 || count < fixed->header)
        return fits == 0 ? none : more;
    for (unsigned i = 0; i < fixed->length_octets; i++) {
        uint64_t octet = octets[fixed->length_at + i];

        record.octets |= octet << 8 * (fixed->little ? i : fixed->length_octets - 1u - i);
    }
    record.octets += fixed->beside;
    return record.octets < fixed->header ? none : record;
}

/* The Bitcoin network's messages: magic, command, length, checksum. */
static struct flow_record begin_bitcoin(const uint8_t *octets, size_t count)
{
    static const struct fixed fixed = {"\xF9\xBE\xB4\xD9", 4, 24, 16, 4, true, 24};

    return begin_fixed(&fixed, octets, count);
}

static struct flow_record begin_elasticsearch(const uint8_t *octets, size_t count)
{
    static const struct fixed fixed = {"ES\0\0", 4, 6, 2, 4, false, 6};

    return begin_fixed(&fixed, octets, count);
}

static struct flow_record begin_ymsg(const uint8_t *octets, size_t count)
{
    static const struct fixed fixed = {"YMSG", 4, 20, 8, 2, false, 20};

    return begin_fixed(&fixed, octets, count);
}

/* KNXnet/IP: header length, version, service, total length. */
static struct flow_record begin_knx(const uint8_t *octets, size_t count)
{
    static const struct fixed fixed = {"\x06\x10", 2, 6, 4, 2, false, 0};

    return begin_fixed(&fixed, octets, count);
}

/* STUN on TCP (RFC 8489 6.2.2), by itself and with a length before it (RFC 4571 2). */
static struct flow_record begin_stun(const uint8_t *octets, size_t count)
{
    enum { COOKIE = 0x2112A442, HEADER = 20, COOKIE_AT = 4, CLASSES = 0xC0 };

    if ((octets[0] & CLASSES) != 0)
        return none;
    if (count < COOKIE_AT + 4)
        return more;
    if (octets_get32(octets + COOKIE_AT) == COOKIE)
        return (struct flow_record){HEADER + (uint64_t)octets_get16(octets + 2), 34, 14};
    if (count < 2 + COOKIE_AT + 4)
        return more;
    if (octets_get32(octets + 2 + COOKIE_AT) == COOKIE)
        return (struct flow_record){2 + (uint64_t)octets_get16(octets), 34, 16};
    return none;
}

/* Push messages: magic, version, length after a header of 12 octets. */
static struct flow_record begin_push(const uint8_t *octets, size_t count)
{
    static const struct fixed fixed = {"\xC2\xFE\0\5", 4, 12, 4, 4, false, 12};

    return begin_fixed(&fixed, octets, count);
}

/* EtherNet/IP encapsulation (ODVA volume 2, 2-3): command, length, session, status, context, options 0. */
static struct flow_record begin_enip(const uint8_t *octets, size_t count)
{
    enum { HEADER = 24 };

    if (!IS_ONE_OF(octets[0], 0x00, 0x04, 0x63, 0x64, 0x65, 0x66, 0x6F, 0x70) || (count > 1 && octets[1] != 0))
        return none;
    if (count < HEADER)
        return more;
    if (octets_get32(octets + 20) != 0 || octets[9] != 0 || octets[10] != 0 || octets[11] != 0)
        return none;
    return (struct flow_record){HEADER + (octets[2] | (uint64_t)octets[3] << 8), 64, 16};
}

/* IEC 60870-5-104 5: start octet, length; of those without data the form of the control octets. */
static struct flow_record begin_iec104(const uint8_t *octets, size_t count)
{
    enum { START = 0x68, LEAST = 4, MOST = 253, WHOLE = 6 };
    struct flow_record record = {0, 8, 8};

    if (octets[0] != START)
        return none;
    if (count < 2)
        return more;
    if (octets[1] < LEAST || octets[1] > MOST)
        return none;
    record.octets = 2u + octets[1];
    if (octets[1] != LEAST)
        return record;
    if (count < WHOLE)
        return more;
    if (octets[2] == 1 && octets[3] == 0 && (octets[4] & 1) == 0) /* it acknowledges */
        record.bits += 17;
    else if ((octets[2] & 3) == 3 && octets[3] == 0 && octets[4] == 0 && octets[5] == 0) /* it controls the link */
        record.bits += 26;
    else
        return none;
    return record;
}

/* LDAPMessage (RFC 4511 4.1.1) in BER: SEQUENCE, INTEGER, the operation's tag. */
static struct flow_record begin_ldap(const uint8_t *octets, size_t count)
{
    enum { SEQUENCE = 0x30, INTEGER = 2, LONG_FORM = 0x80, LONGEST = 4 };
    size_t extra = 0, at;
    uint64_t length;

    if (octets[0] != SEQUENCE)
        return none;
    if (count < 2)
        return more;
    length = octets[1];
    if ((octets[1] & LONG_FORM) != 0) {
        extra = octets[1] & 0x7F;
        if (extra == 0 || extra > LONGEST)
            return none;
        if (count < 2 + extra)
            return more;
        length = 0;
        for (size_t i = 0; i < extra; i++)
            length = length << 8 | octets[2 + i];
    }
    at = 2 + extra;
    if (count < at + 2)
        return more;
    if (octets[at] != INTEGER || octets[at + 1] == 0 || octets[at + 1] > LONGEST)
        return none;
    at += 2u + octets[at + 1];
    if (count <= at)
        return more;
    if (octets[at] < 0x40 || octets[at] >= 0x7A)
        return none;
    return (struct flow_record){2 + extra + length, 26, extra == 0 ? 7u : 8u * (unsigned)extra};
}

/* BEP 3: the handshake; its messages have 32-bit lengths. */
static struct flow_record begin_bittorrent(const uint8_t *octets, size_t count)
{
    static const char name[] = "\x13"
                               "BitTorrent protocol";
    enum { NAME = 20, HANDSHAKE = 68, MOST = 1 << 20 };
    int fits = begins_with(octets, count, name, NAME);

    if (fits != 0)
        return fits < 0 ? more : (struct flow_record){HANDSHAKE, 8 * NAME, 0};
    if (octets[0] != 0)
        return none;
    if (count < 5)
        return more;
    if (octets_get32(octets) > MOST || octets[4] > 21)
        return none;
    return (struct flow_record){4 + (uint64_t)octets_get32(octets), 15, 20};
}

/* BGP (RFC 4271 4.1): a marker of ones, the length, one of five types. */
static struct flow_record begin_bgp(const uint8_t *octets, size_t count)
{
    enum { TYPE_AT = 18, LAST_TYPE = 5 };
    static const struct fixed fixed = {
        "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 16, 19, 16, 2, false, 0};

    if (count > TYPE_AT && (octets[TYPE_AT] == 0 || octets[TYPE_AT] > LAST_TYPE))
        return none;
    return begin_fixed(&fixed, octets, count);
}

/*
 * ONC RPC (RFC 5531 9, 11): a record mark, an XID, and a call of version 2 or a reply that was accepted or denied. Of a
 * message in several fragments the first alone says so: the others are of no chain.
 */
static struct flow_record begin_rpc(const uint8_t *octets, size_t count)
{
    enum { MARK = 4, TYPE_AT = 8, STATUS_AT = 12, HEADER = 16, CALL = 0, REPLY = 1, VERSION = 2 };
    uint32_t length, type, status;

    if (count < HEADER)
        return more;
    length = octets_get32(octets) & 0x7FFFFFFF;
    type = octets_get32(octets + TYPE_AT);
    status = octets_get32(octets + STATUS_AT);
    if (length < HEADER - MARK || (type == CALL ? status != VERSION : type != REPLY || status > 1))
        return none;
    return (struct flow_record){MARK + (uint64_t)length, 62, 16};
}

/* Kerberos on TCP (RFC 4120 5, 7.2.2): a length, and a message of one of its tags that is as long. */
static struct flow_record begin_kerberos(const uint8_t *octets, size_t count)
{
    enum { MARK = 4, TAG_AT = 4, HEADER = 8, SHORTEST = 4, LONG_FORM = 0x82, SHORT_FORM = 0x81 };
    uint32_t length;

    if (octets[0] != 0 || (count > 1 && octets[1] != 0))
        return none;
    if (count < HEADER)
        return more;
    length = octets_get32(octets);
    if (!IS_ONE_OF(octets[TAG_AT], 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x74, 0x75, 0x76, 0x7E) || length < SHORTEST)
        return none;
    if (octets[TAG_AT + 1] == LONG_FORM ? octets_get16(octets + TAG_AT + 2) != length - 4
                                        : octets[TAG_AT + 1] != SHORT_FORM || octets[TAG_AT + 2] != length - 3)
        return none;
    return (struct flow_record){MARK + (uint64_t)length, 44, 16};
}

/* Diameter (RFC 6733 3): version 1, a length in words, four flags that are 0, a command. */
static struct flow_record begin_diameter(const uint8_t *octets, size_t count)
{
    enum { HEADER = 20, RESERVED = 0x0F };
    uint32_t length;

    if (octets[0] != 1)
        return none;
    if (count < HEADER)
        return more;
    length = octets_get32(octets) & 0xFFFFFF;
    if (length < HEADER || length % 4 != 0 || (octets[4] & RESERVED) != 0)
        return none;
    return (struct flow_record){length, 14, 16};
}

/* ---- lengths alone ----------------------------------------------------------------------------------------------- */

/* 32 bits, in network order, as far as the upper half of them is 0. */
static struct flow_record begin_length32(const uint8_t *octets, size_t count)
{
    if (octets[0] != 0 || (count > 1 && octets[1] != 0))
        return none;
    if (count < 4)
        return more;
    return octets_get32(octets) == 0 ? none : (struct flow_record){4 + (uint64_t)octets_get32(octets), 16, 16};
}

static struct flow_record begin_little32(const uint8_t *octets, size_t count)
{
    uint64_t length;

    if (count < 4)
        return more;
    length = octets_get16_little(octets);
    return length == 0 || octets[2] != 0 || octets[3] != 0 ? none : (struct flow_record){4 + length, 16, 16};
}

/* A type of 16 bits, then a length of as many. */
static struct flow_record begin_type_length(const uint8_t *octets, size_t count)
{
    if (count < 4)
        return more;
    return (struct flow_record){4 + (uint64_t)octets_get16(octets + 2), 0, 16};
}

static struct flow_record begin_length16(const uint8_t *octets, size_t count)
{
    if (count < 2)
        return more;
    return octets_get16(octets) == 0 ? none : (struct flow_record){2 + (uint64_t)octets_get16(octets), 0, 16};
}

/* The length counts itself. */
static struct flow_record begin_little16(const uint8_t *octets, size_t count)
{
    uint64_t length;

    if (count < 2)
        return more;
    length = octets_get16_little(octets);
    return length < 4 ? none : (struct flow_record){length, 0, 16};
}

const struct flow_record_form flow_record_forms[] = {
    {"TLS", begin_tls, false},
    {"BGP", begin_bgp, false},
    {"ONC RPC", begin_rpc, false},
    {"SMB", begin_smb, false},
    {"Kerberos", begin_kerberos, false},
    {"Bitcoin", begin_bitcoin, false},
    {"Elasticsearch", begin_elasticsearch, false},
    {"YMSG", begin_ymsg, false},
    {"STUN", begin_stun, false},
    {"push messages", begin_push, false},
    {"DCE/RPC", begin_dcerpc, false},
    {"EtherNet/IP", begin_enip, true},
    {"BitTorrent", begin_bittorrent, true},
    {"DNS", begin_dns, false},
    {"LDAP", begin_ldap, true},
    {"KNXnet/IP", begin_knx, false},
    {"TPKT", begin_tpkt, true},
    {"Diameter", begin_diameter, true},
    {"Modbus", begin_modbus, true},
    {"TDS", begin_tds, true},
    {"32-bit lengths", begin_length32, true},
    {"32-bit lengths, little-endian", begin_little32, true},
    {"IEC 60870-5-104", begin_iec104, true},
    {"MQTT", begin_mqtt, true},
    {"types and lengths", begin_type_length, true},
    {"16-bit lengths", begin_length16, true},
    {"16-bit lengths, little-endian", begin_little16, true},
};

const size_t flow_record_form_count = sizeof(flow_record_forms) / sizeof(flow_record_forms[0]);
