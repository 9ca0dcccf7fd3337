/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of the upper tester: parsed, looked up, answered. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_association.h"

/* The options of listen and connect, each with a space after it. */
static const char option_members[] =
    "rev enhanced markers crc ird ord p2p rtr private_data accept startup_ms linger_ms teardown_ms pd completions "
    "streaming streaming_octets mpa_role private_data_room modify_fails rev0 smbd trace "
    "indication emss extensions echo repost hold_open receives receive_octets ";

/* A misspelt member must not pass for an absent one. */
static int check_members(const struct peer_verb_row *row, const json_t *command, struct iwarp_sentence *sentence)
{
    const char *name;
    const json_t *value;

    json_object_foreach((json_t *)(uintptr_t)command, name, value)
    {
        if (strcmp(name, "verb") == 0 || strcmp(name, "tag") == 0 || upper_in_list(row->members, name) ||
            (strchr(row->members, '+') != NULL && upper_in_list(option_members, name)))
            continue;
        return iwarp_sentence_set(sentence, "%s has no member '%.60s'", row->name, name);
    }
    return 0;
}

static const struct peer_verb_row *find_row(const struct peer *peer, const char *verb)
{
    for (const struct peer_verb_row *row = peer_association_verbs; peer->ops->sctp != NULL && row->name != NULL; row++)
        if (strcmp(row->name, verb) == 0)
            return row;
    for (const struct peer_verb_row *row = peer_verbs; row->name != NULL; row++)
        if (strcmp(row->name, verb) == 0)
            return row;
    return NULL;
}

static json_t *obey(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct peer_verb_row *row;
    const char *verb;
    struct iwarp_sentence inner = {"out of memory"};
    json_t *empty; /* allocated first, so that a command that was executed always has a reply */
    json_t *reply;

    if (!json_is_object(command)) {
        (void)iwarp_sentence_set(sentence, "a command is one JSON object");
        return NULL;
    }
    verb = json_string_value(json_object_get(command, "verb"));
    if (verb == NULL) {
        (void)iwarp_sentence_set(sentence, "a command has a string member 'verb'");
        return NULL;
    }
    row = find_row(peer, verb);
    if (row == NULL) {
        (void)iwarp_sentence_set(sentence, "there is no verb '%.60s'", verb);
        return NULL;
    }
    if (check_members(row, command, sentence) != 0)
        return NULL;
    empty = json_object();
    reply = empty == NULL ? NULL : row->verb(peer, command, &inner);
    if (reply == NULL)
        (void)iwarp_sentence_set(sentence, "%s: %.400s", verb, inner.text);
    if (json_is_true(reply))
        return empty;
    json_decref(empty);
    return reply;
}

/* json_dumps() leaves out what it finds no memory for. */
static char *text_of(const json_t *reply)
{
    static const size_t flags = JSON_COMPACT | JSON_ENSURE_ASCII;
    size_t count = json_dumpb(reply, NULL, 0, flags);
    char *text = count == 0 ? NULL : malloc(count + 1);

    if (text == NULL || json_dumpb(reply, text, count, flags) != count) {
        free(text);
        return NULL;
    }
    text[count] = '\0';
    return text;
}

/* At least as many as a command's text has values: what separates them, wherever it stands. */
static size_t values_of(const char *line)
{
    size_t count = 1;

    for (; (line = strpbrk(line, ",[{:")) != NULL; line++)
        count++;
    return count;
}

/* Removes the events that the reply has reported. */
static void replied(struct peer *peer)
{
    if (!peer->polled)
        return;
    peer_events_clear(peer);
    peer->polls++;
}

/* `command` NULL: it cannot be read, and the sentence says why. NULL: memory was not enough for all of the reply. */
static json_t *reply_to(struct peer *peer, const json_t *command, uint64_t now, struct iwarp_sentence *sentence)
{
    json_t *reply, *tag = json_is_object(command) ? json_object_get(command, "tag") : NULL;
    bool whole;

    peer->now = now;
    peer->polled = false;
    reply = command != NULL ? obey(peer, command, sentence) : NULL;
    if (reply != NULL) {
        whole = json_object_set_new(reply, "ok", json_true()) == 0;
    } else {
        reply = json_object();
        whole = json_object_set_new(reply, "ok", json_false()) == 0;
        /* The text may quote what was no UTF-8. */
        whole = whole && (json_object_set_new(reply, "error", json_string(sentence->text)) == 0 ||
                          json_object_set_new(reply, "error", json_string("the command is not UTF-8")) == 0);
    }
    if (tag != NULL)
        whole = json_object_set(reply, "tag", tag) == 0 && whole;
    if (whole)
        return reply;
    json_decref(reply);
    return NULL;
}

char *peer_command(struct peer *peer, const char *line, uint64_t now)
{
    struct iwarp_sentence sentence = {""};
    json_error_t error;
    bool long_winded = values_of(line) > PEER_VALUES_MAX;
    json_t *command = long_winded ? NULL : json_loads(line, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    json_t *reply;
    char *text;

    if (long_winded)
        (void)iwarp_sentence_set(&sentence, "a command of more than %d values", PEER_VALUES_MAX);
    else if (command == NULL)
        (void)iwarp_sentence_set(&sentence, "not JSON: %s, at octet %d", error.text, error.position);
    reply = reply_to(peer, command, now, &sentence);
    text = reply != NULL ? text_of(reply) : NULL;
    json_decref(reply);
    json_decref(command);
    if (text != NULL)
        replied(peer);
    return text;
}

json_t *peer_answer(struct peer *peer, const json_t *command, uint64_t now)
{
    struct iwarp_sentence sentence = {""};
    json_t *reply = reply_to(peer, command, now, &sentence);

    /* The events are the peer's own array, which is emptied now. */
    if (reply != NULL && peer->polled && json_object_set_new(reply, "events", json_copy(peer->events)) != 0) {
        json_decref(reply);
        reply = NULL;
    }
    if (reply != NULL)
        replied(peer);
    return reply;
}
