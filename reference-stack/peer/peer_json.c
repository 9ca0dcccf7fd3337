/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"

int peer_require(const json_t *command, const char *name, struct sentence *sentence)
{
    if (json_object_get(command, name) == NULL)
        return sentence_set(sentence, "'%s' was expected", name);
    return 0;
}

static int string_number(const char *text, uint64_t *value)
{
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10; /* never octal */
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ? -1 : 0;
}

int peer_get_number(const json_t *command, const char *name, uint64_t most, uint64_t *value, struct sentence *sentence)
{
    const json_t *member = json_object_get(command, name);
    uint64_t number;

    if (member == NULL)
        return 0;
    if (json_is_integer(member)) {
        json_int_t integer = json_integer_value(member);

        if (integer < 0 && most != UINT64_MAX)
            return sentence_set(sentence, "'%s' is %lld, 0 to %llu was expected", name, (long long)integer,
                                (unsigned long long)most);
        number = (uint64_t)integer;
    } else if (!json_is_string(member) || string_number(json_string_value(member), &number) != 0) {
        return sentence_set(sentence, "'%s' is no number", name);
    }
    if (number > most)
        return sentence_set(sentence, "'%s' is %llu, 0 to %llu was expected", name, (unsigned long long)number,
                            (unsigned long long)most);
    *value = number;
    return 0;
}

int peer_get_bool(const json_t *command, const char *name, bool *value, struct sentence *sentence)
{
    const json_t *member = json_object_get(command, name);

    if (member == NULL)
        return 0;
    if (!json_is_boolean(member))
        return sentence_set(sentence, "'%s' is not true or false", name);
    *value = json_is_true(member);
    return 0;
}

int peer_get_string(const json_t *command, const char *name, const char **value, struct sentence *sentence)
{
    const json_t *member = json_object_get(command, name);

    if (member == NULL)
        return 0;
    if (!json_is_string(member))
        return sentence_set(sentence, "'%s' is no string", name);
    *value = json_string_value(member);
    return 0;
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

json_t *peer_gathered(const json_t *command, const char *name, size_t first, size_t count)
{
    const json_t *list = json_object_get(command, name);
    json_t *whole = json_string("");
    json_t *gathered = json_copy((json_t *)(uintptr_t)command);

    for (size_t i = 0; i < count && whole != NULL; i++) {
        const json_t *piece = json_array_get(list, first + i);
        json_t *longer = json_is_string(piece) && json_string_length(piece) % 2 == 0
                             ? json_sprintf("%s%s", json_string_value(whole), json_string_value(piece))
                             : json_null(); /* which is no string either */

        json_decref(whole);
        whole = longer;
    }
    if (whole == NULL || json_object_set_new(gathered, name, whole) != 0) {
        json_decref(gathered);
        return NULL;
    }
    return gathered;
}

int peer_get_octets(const json_t *command, const char *name, size_t most, uint8_t **octets, size_t *count,
                    struct sentence *sentence)
{
    const json_t *member = json_object_get(command, name);
    const char *text;
    size_t length;

    *octets = NULL;
    *count = 0;
    if (member == NULL)
        return 0;
    if (!json_is_string(member))
        return sentence_set(sentence, "'%s' is no string of hex digits", name);
    text = json_string_value(member);
    length = json_string_length(member);
    if (length % 2 != 0)
        return sentence_set(sentence, "'%s' has an odd number of hex digits", name);
    if (length / 2 > most)
        return sentence_set(sentence, "'%s' has %zu octets, at most %zu were expected", name, length / 2, most);
    *octets = malloc(length / 2 + 1);
    if (*octets == NULL)
        return sentence_set(sentence, "out of memory");
    for (size_t i = 0; i < length; i += 2) {
        int high = nibble(text[i]);
        int low = nibble(text[i + 1]);

        if (high < 0 || low < 0) {
            free(*octets);
            *octets = NULL;
            return sentence_set(sentence, "'%s' is no string of hex digits", name);
        }
        (*octets)[i / 2] = (uint8_t)(high << 4 | low);
    }
    *count = length / 2;
    return 0;
}

json_t *peer_hex(const uint8_t *octets, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(count * 2 + 1);
    json_t *string;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[octets[i] >> 4];
        text[2 * i + 1] = digits[octets[i] & 0xF];
    }
    string = json_stringn(text, count * 2);
    free(text);
    return string;
}

json_t *peer_reply_number(const char *name, json_t **number, struct sentence *sentence)
{
    json_t *reply = json_object();

    *number = json_integer(0);
    if (json_object_set_new(reply, name, *number) == 0)
        return reply;
    json_decref(reply);
    (void)sentence_set(sentence, "out of memory");
    return NULL;
}

json_t *peer_replied(json_t *reply, json_t *number, json_int_t value)
{
    if (value >= 0) {
        (void)json_integer_set(number, value);
        return reply;
    }
    json_decref(reply);
    return NULL;
}

static int get_rtr(const json_t *command, unsigned *rtr, struct sentence *sentence)
{
    static const char *const names[] = {"send", "write", "read"};
    const json_t *member = json_object_get(command, "rtr");
    size_t index;
    const json_t *item;

    if (member == NULL)
        return 0;
    if (!json_is_array(member) || json_array_size(member) == 0)
        return sentence_set(sentence,
                            "'rtr' is not a list of \"send\", \"write\" and \"read\" with at least one of them");
    *rtr = 0;
    json_array_foreach(member, index, item)
    {
        const char *name = json_string_value(item);
        unsigned before = *rtr;

        for (unsigned i = 0; i < 3 && name != NULL; i++)
            *rtr |= strcmp(name, names[i]) == 0 ? 1u << i : 0;
        if (*rtr == before)
            return sentence_set(sentence, "'rtr' is not a list of \"send\", \"write\" and \"read\", each once");
    }
    return 0;
}

static int get_accept(const json_t *command, enum iwarp_accept_policy *accept, struct sentence *sentence)
{
    const char *text = NULL;

    if (peer_get_string(command, "accept", &text, sentence) != 0)
        return -1;
    if (text == NULL)
        return 0;
    if (strcmp(text, "auto") == 0)
        *accept = IWARP_ACCEPT;
    else if (strcmp(text, "manual") == 0)
        *accept = IWARP_ACCEPT_ASK;
    else if (strcmp(text, "reject") == 0)
        *accept = IWARP_ACCEPT_NOT;
    else
        return sentence_set(sentence, "'accept' is '%.40s', \"auto\", \"manual\" or \"reject\" was expected", text);
    return 0;
}

static int get_extensions(const json_t *command, enum iwarp_extensions *extensions, struct sentence *sentence)
{
    const char *text = NULL;

    if (peer_get_string(command, "extensions", &text, sentence) != 0)
        return -1;
    if (text == NULL)
        return 0;
    if (strcmp(text, "off") == 0)
        *extensions = IWARP_EXTENSIONS_OFF;
    else if (strcmp(text, "draft03") == 0)
        *extensions = IWARP_EXTENSIONS_DRAFT03;
    else if (strcmp(text, "rfc7306") == 0)
        *extensions = IWARP_EXTENSIONS_RFC7306;
    else
        return sentence_set(sentence, "'extensions' is '%.40s', \"off\", \"draft03\" or \"rfc7306\" was expected",
                            text);
    return 0;
}

static int get_role(const json_t *command, struct peer_options *options, struct sentence *sentence)
{
    const char *text = NULL;

    if (peer_get_string(command, "mpa_role", &text, sentence) != 0)
        return -1;
    if (text == NULL)
        return 0;
    options->role_given = true;
    if (strcmp(text, "initiator") == 0)
        options->role = IWARP_INITIATOR;
    else if (strcmp(text, "responder") == 0)
        options->role = IWARP_RESPONDER;
    else
        return sentence_set(sentence, "'mpa_role' is '%.40s', \"initiator\" or \"responder\" was expected", text);
    return 0;
}

/* Numbers among the options: where each goes. */
static int get_numbers(const json_t *command, struct peer_options *options, struct sentence *sentence)
{
    struct iwarp_stream_config *config = &options->config;
    uint64_t rev = config->revision;
    uint64_t ird = config->ird;
    uint64_t ord = config->ord;
    uint64_t pd = config->pd;
    uint64_t emss = 0;
    uint64_t room = config->private_room;
    uint64_t receives = options->receives;
    uint64_t receive_octets = options->receive_octets;
    uint64_t queue = options->queue;
    uint64_t startup = config->startup_limit / 1000000;
    uint64_t linger = config->linger_limit / 1000000;
    uint64_t teardown = config->teardown_delay / 1000000;

    if (peer_get_number(command, "rev", 2, &rev, sentence) != 0 ||
        peer_get_number(command, "ird", DEPTH_NOT_NEGOTIATED, &ird, sentence) != 0 ||
        peer_get_number(command, "ord", DEPTH_NOT_NEGOTIATED, &ord, sentence) != 0 ||
        peer_get_number(command, "pd", UINT32_MAX, &pd, sentence) != 0 ||
        peer_get_number(command, "emss", 65535, &emss, sentence) != 0 ||
        peer_get_number(command, "private_data_room", MPA_PRIVATE_DATA_MAX, &room, sentence) != 0 ||
        peer_get_number(command, "receives", 65536, &receives, sentence) != 0 ||
        peer_get_number(command, "receive_octets", PEER_MESSAGE_MAX, &receive_octets, sentence) != 0 ||
        peer_get_number(command, "completions", 65536, &queue, sentence) != 0 ||
        peer_get_number(command, "startup_ms", 86400000, &startup, sentence) != 0 ||
        peer_get_number(command, "linger_ms", 86400000, &linger, sentence) != 0 ||
        peer_get_number(command, "teardown_ms", 86400000, &teardown, sentence) != 0)
        return -1;
    if (rev == 0)
        return sentence_set(sentence, "'rev' is 0, 1 or 2 was expected");
    if (receives * receive_octets > (uint64_t)4 * PEER_MESSAGE_MAX)
        return sentence_set(sentence, "'receives' times 'receive_octets' is too much memory for each stream");
    config->revision = (uint8_t)rev;
    config->ird = (uint16_t)ird;
    config->ord = (uint16_t)ord;
    config->pd = (uint32_t)pd;
    config->private_room = (uint16_t)room;
    config->startup_limit = startup * 1000000;
    config->linger_limit = linger * 1000000;
    config->teardown_delay = teardown * 1000000;
    options->receives = (uint32_t)receives;
    options->receive_octets = (uint32_t)receive_octets;
    options->queue = (uint32_t)queue;
    if (emss != 0) {
        config->emss = emss;
        options->emss_given = true;
    }
    return 0;
}

static int get_streaming(const json_t *command, struct peer_options *options, struct sentence *sentence)
{
    uint64_t awaited = 0;
    uint8_t *octets;
    size_t count;

    if (peer_get_number(command, "streaming_octets", PEER_STREAMING_MAX, &awaited, sentence) != 0 ||
        peer_get_octets(command, "streaming", PEER_STREAMING_MAX, &octets, &count, sentence) != 0)
        return -1;
    if (octets != NULL)
        memcpy(options->streaming_message, octets, count);
    options->streams_first = octets != NULL || awaited != 0;
    options->streaming_octets = (uint16_t)count;
    options->streaming_awaited = (uint16_t)awaited;
    free(octets);
    return 0;
}

int peer_get_options(const json_t *command, struct peer_options *options, struct sentence *sentence)
{
    struct iwarp_stream_config *config = &options->config;
    uint8_t *octets;
    size_t count;

    if (get_numbers(command, options, sentence) != 0 ||
        peer_get_bool(command, "enhanced", &config->enhanced, sentence) != 0 ||
        peer_get_bool(command, "markers", &config->markers, sentence) != 0 ||
        peer_get_bool(command, "crc", &config->crc, sentence) != 0 ||
        peer_get_bool(command, "p2p", &config->peer_to_peer, sentence) != 0 ||
        peer_get_bool(command, "trace", &config->trace, sentence) != 0 ||
        peer_get_bool(command, "smbd", &config->smbd, sentence) != 0 ||
        peer_get_bool(command, "rev0", &config->rdmac, sentence) != 0 ||
        peer_get_bool(command, "modify_fails", &config->modify_fails, sentence) != 0 ||
        peer_get_bool(command, "echo", &options->echo, sentence) != 0 ||
        peer_get_bool(command, "repost", &options->repost, sentence) != 0 ||
        peer_get_bool(command, "hold_open", &options->hold_open, sentence) != 0 ||
        get_rtr(command, &config->rtr, sentence) != 0 || get_accept(command, &config->accept, sentence) != 0 ||
        get_extensions(command, &config->extensions, sentence) != 0 || get_role(command, options, sentence) != 0 ||
        get_streaming(command, options, sentence) != 0 ||
        peer_get_octets(command, "private_data", MPA_PRIVATE_DATA_MAX, &octets, &count, sentence) != 0)
        return -1;
    if (octets != NULL) {
        memcpy(config->private_data, octets, count);
        config->private_octets = (uint16_t)count;
        free(octets);
    }
    return 0;
}
