/* SPDX-License-Identifier: BSD-2-Clause */
#include "upper-tester/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static bool is_usable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || *text > '~' || *text == '"' || *text == '\\')
            return false;
    return true;
}

int upper_token_read(struct upper_token *token, const char *path, struct iwarp_sentence *sentence)
{
    char line[UPPER_TOKEN_MOST + 3] = "";
    FILE *file = fopen(path, "re");
    size_t length;

    *token = (struct upper_token){{0}}; /* all of it is compared */
    if (file == NULL)
        return iwarp_sentence_set(sentence, "%s: %s", path, strerror(errno));
    if (fgets(line, sizeof(line), file) == NULL)
        line[0] = '\0';
    (void)fclose(file);
    length = strcspn(line, "\r\n");
    line[length] = '\0';
    if (length < UPPER_TOKEN_LEAST || length > UPPER_TOKEN_MOST || !is_usable(line))
        return iwarp_sentence_set(
            sentence,
            "%s: a token was expected as the first line: %d to %d printable characters without space, "
            "quote and backslash (openssl rand -hex 32)",
            path, UPPER_TOKEN_LEAST, UPPER_TOKEN_MOST);
    memcpy(token->text, line, length + 1);
    return 0;
}

char *upper_token_command(const struct upper_token *token)
{
    json_t *command = json_pack("{s:s, s:s}", "verb", "token", "token", token->text);
    char *text = command != NULL ? json_dumps(command, JSON_COMPACT) : NULL;

    json_decref(command);
    return text;
}

/* Of all characters, however many are right. */
static bool is_equal(const struct upper_token *token, const char *text)
{
    struct upper_token other = {{0}};
    size_t length = strnlen(text, sizeof(other.text));
    unsigned char differ = length == sizeof(other.text);

    memcpy(other.text, text, length < sizeof(other.text) ? length : sizeof(other.text) - 1);
    for (size_t i = 0; i < sizeof(other.text); i++)
        differ |= (unsigned char)(other.text[i] ^ token->text[i]);
    return differ == 0;
}

char *upper_token_answer(const struct upper_token *token, const char *line, size_t octets, bool *shown)
{
    json_t *command = json_loadb(line, octets, JSON_REJECT_DUPLICATES, NULL), *reply;
    const char *verb = json_string_value(json_object_get(command, "verb"));
    const char *text = json_string_value(json_object_get(command, "token"));
    char *answer;

    *shown = verb != NULL && text != NULL && strcmp(verb, "token") == 0 && is_equal(token, text);
    reply = *shown ? json_pack("{s:b}", "ok", 1)
                   : json_pack("{s:b, s:s}", "ok", 0, "error",
                               text == NULL ? "a token was expected: {\"verb\":\"token\",\"token\":\"...\"}"
                                            : "this is not the token");
    if (reply != NULL && json_object_get(command, "tag") != NULL)
        (void)json_object_set(reply, "tag", json_object_get(command, "tag"));
    answer = reply != NULL ? json_dumps(reply, JSON_COMPACT) : NULL;
    json_decref(command);
    json_decref(reply);
    return answer;
}
