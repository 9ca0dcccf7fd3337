/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"
#include "wire/ddp_sctp.h"

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

json_t *peer_reply_number(const char *name, json_t **number, struct iwarp_sentence *sentence)
{
    json_t *reply = json_object();

    *number = json_integer(0);
    if (json_object_set_new(reply, name, *number) == 0)
        return reply;
    json_decref(reply);
    (void)iwarp_sentence_set(sentence, "out of memory");
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

static int get_accept(const json_t *command, enum iwarp_accept_policy *accept, struct iwarp_sentence *sentence)
{
    static const enum iwarp_accept_policy policies[] = {
        [UPPER_ACCEPT_AUTO] = IWARP_ACCEPT,
        [UPPER_ACCEPT_MANUAL] = IWARP_ACCEPT_ASK,
        [UPPER_ACCEPT_REJECT] = IWARP_ACCEPT_NOT,
    };
    unsigned word = UINT_MAX;

    if (upper_word(command, "accept", upper_accept_words, &word, sentence) != 0)
        return -1;
    if (word != UINT_MAX)
        *accept = policies[word];
    return 0;
}

static int get_extensions(const json_t *command, enum iwarp_extensions *extensions, struct iwarp_sentence *sentence)
{
    static const char *const words[] = {
        [IWARP_EXTENSIONS_OFF] = "off",
        [IWARP_EXTENSIONS_DRAFT03] = "draft03",
        [IWARP_EXTENSIONS_RFC7306] = "rfc7306",
        NULL,
    };
    unsigned word = *extensions;

    if (upper_word(command, "extensions", words, &word, sentence) != 0)
        return -1;
    *extensions = (enum iwarp_extensions)word;
    return 0;
}

static int get_role(const json_t *command, struct peer_options *options, struct iwarp_sentence *sentence)
{
    static const char *const words[] = {[IWARP_RESPONDER] = "responder", [IWARP_INITIATOR] = "initiator", NULL};
    unsigned word = UINT_MAX;

    if (upper_word(command, "mpa_role", words, &word, sentence) != 0)
        return -1;
    if (word == UINT_MAX)
        return 0;
    options->role_given = true;
    options->role = (enum iwarp_role)word;
    return 0;
}

/* Numbers among the options: where each goes. */
static int get_numbers(const json_t *command, struct peer_options *options, struct iwarp_sentence *sentence)
{
    struct iwarp_stream_config *config = &options->config;
    uint64_t rev = config->revision;
    uint64_t ird = config->ird;
    uint64_t ord = config->ord;
    uint64_t pd = config->pd;
    uint64_t emss = 0;
    uint64_t indication = options->indication;
    uint64_t room = config->private_room;
    uint64_t receives = options->receives;
    uint64_t receive_octets = options->receive_octets;
    uint64_t queue = options->queue;
    uint64_t startup = config->startup_limit / 1000000;
    uint64_t linger = config->linger_limit / 1000000;
    uint64_t teardown = config->teardown_delay / 1000000;

    if (upper_number(command, "rev", 2, &rev, sentence) != 0 ||
        upper_number(command, "ird", DEPTH_NOT_NEGOTIATED, &ird, sentence) != 0 ||
        upper_number(command, "ord", DEPTH_NOT_NEGOTIATED, &ord, sentence) != 0 ||
        upper_number(command, "pd", UINT32_MAX, &pd, sentence) != 0 ||
        upper_number(command, "emss", 65535, &emss, sentence) != 0 ||
        upper_number(command, "indication", DDP_SCTP_INDICATION_DDP_RDMA, &indication, sentence) != 0 ||
        upper_number(command, "private_data_room", IWARP_MPA_PRIVATE_DATA_MAX, &room, sentence) != 0 ||
        upper_number(command, "receives", 65536, &receives, sentence) != 0 ||
        upper_number(command, "receive_octets", PEER_MESSAGE_MAX, &receive_octets, sentence) != 0 ||
        upper_number(command, "completions", 65536, &queue, sentence) != 0 ||
        upper_number(command, "startup_ms", 86400000, &startup, sentence) != 0 ||
        upper_number(command, "linger_ms", 86400000, &linger, sentence) != 0 ||
        upper_number(command, "teardown_ms", 86400000, &teardown, sentence) != 0)
        return -1;
    if (rev == 0)
        return iwarp_sentence_set(sentence, "'rev' is 0, 1 or 2 was expected");
    if (receives * receive_octets > (uint64_t)4 * PEER_MESSAGE_MAX)
        return iwarp_sentence_set(sentence, "'receives' times 'receive_octets' is too much memory for each stream");
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
    options->indication = (uint32_t)indication;
    options->without_ddp = indication == 0 && json_object_get(command, "indication") != NULL;
    if (emss != 0) {
        config->emss = emss;
        options->emss_given = true;
    }
    return 0;
}

static int get_streaming(const json_t *command, struct peer_options *options, struct iwarp_sentence *sentence)
{
    uint64_t awaited = 0;
    uint8_t *octets;
    size_t count;

    if (upper_number(command, "streaming_octets", PEER_STREAMING_MAX, &awaited, sentence) != 0 ||
        upper_octets(command, "streaming", PEER_STREAMING_MAX, &octets, &count, sentence) != 0)
        return -1;
    if (octets != NULL)
        memcpy(options->streaming_message, octets, count);
    options->streams_first = octets != NULL || awaited != 0;
    options->streaming_octets = (uint16_t)count;
    options->streaming_awaited = (uint16_t)awaited;
    free(octets);
    return 0;
}

int peer_get_options(const struct peer *peer, const json_t *command, struct peer_options *options,
                     struct iwarp_sentence *sentence)
{
    struct iwarp_stream_config *config = &options->config;
    uint8_t *octets;
    size_t count;

    if (json_object_get(command, "startup_ms") != NULL &&
        PEER_HOOK_IF(&peer->config, hook_limits_fixed(peer->config.defects)))
        return iwarp_sentence_set(sentence, "'startup_ms': the limit of the start-up exchange cannot be set");
    if (get_numbers(command, options, sentence) != 0 ||
        upper_flag(command, "enhanced", &config->enhanced, sentence) != 0 ||
        upper_flag(command, "markers", &config->markers, sentence) != 0 ||
        upper_flag(command, "crc", &config->crc, sentence) != 0 ||
        upper_flag(command, "p2p", &config->peer_to_peer, sentence) != 0 ||
        upper_flag(command, "trace", &config->trace, sentence) != 0 ||
        upper_flag(command, "smbd", &config->smbd, sentence) != 0 ||
        upper_flag(command, "rev0", &config->rdmac, sentence) != 0 ||
        upper_flag(command, "modify_fails", &config->modify_fails, sentence) != 0 ||
        upper_flag(command, "echo", &options->echo, sentence) != 0 ||
        upper_flag(command, "repost", &options->repost, sentence) != 0 ||
        upper_flag(command, "hold_open", &options->hold_open, sentence) != 0 ||
        upper_rtr_kinds(command, &config->rtr, sentence) != 0 || get_accept(command, &config->accept, sentence) != 0 ||
        get_extensions(command, &config->extensions, sentence) != 0 || get_role(command, options, sentence) != 0 ||
        get_streaming(command, options, sentence) != 0 ||
        upper_octets(command, "private_data", IWARP_MPA_PRIVATE_DATA_MAX, &octets, &count, sentence) != 0)
        return -1;
    if (octets != NULL) {
        memcpy(config->private_data, octets, count);
        config->private_octets = (uint16_t)count;
        free(octets);
    }
    return 0;
}
