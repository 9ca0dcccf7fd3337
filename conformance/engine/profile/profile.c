/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/profile.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/device/device_command.h"
#include "conformance/engine/profile/json_members.h"
#include "conformance/engine/profile/profile_place.h"
#include "conformance/engine/profile/rig_llp.h"
#include "reports/results/member.h"

enum { WAIT_SECONDS_MAX = 600, SEND_BUFFER_LEAST = 65536, SEND_BUFFER_MOST = 12 << 20 };

/* What is below DDP, and what follows of that for the capabilities; those that the profile names itself come later. */
static int llp_of(struct profile *profile, const char *path, struct pics *pics, struct iwarp_sentence *error)
{
    const char *text = member_text(profile->json, "llp");
    bool encapsulated = json_object_get(profile->json, "udp_port") != NULL, sctp;

    if (!rig_llp_parse(text, &profile->sctp))
        return iwarp_sentence_set(error, "%s: \"llp\" is \"%.60s\", \"tcp\", \"sctp\" or \"sctp-draft02\" was expected",
                                  path, text);
    sctp = profile->sctp != IWARP_SCTP_UNDECIDED;
    if (encapsulated && !sctp)
        return iwarp_sentence_set(error, "%s: \"udp_port\" is for SCTP in UDP, and \"llp\" is not \"sctp\"", path);
    if (encapsulated && profile_port(path, profile->json, "udp_port", &profile->udp_port, error) != 0)
        return -1;
    return sctp ? pics_set_sctp(pics, profile->sctp == IWARP_SCTP_RFC5043, profile->sctp == IWARP_SCTP_DRAFT02, false,
                                error)
                : 0;
}

/* What stands there, for a sentence: a text or a number itself, else its kind. */
static const char *shown(const json_t *member, char text[64])
{
    if (json_is_string(member))
        (void)snprintf(text, 64, "\"%.40s\"", json_string_value(member));
    else if (json_is_integer(member))
        (void)snprintf(text, 64, "%" JSON_INTEGER_FORMAT, json_integer_value(member));
    else
        (void)snprintf(text, 64, "%s", json_kind_name(member));
    return text;
}

/* An answer has to be of the item's kind: a number where a number is asked for, else yes or no, or true or false. */
static int capability_of(struct pics *pics, const char *name, const json_t *member, const char *path,
                         struct iwarp_sentence *error)
{
    const struct pics_item *item = pics_find(pics, name);
    const char *text = json_string_value(member);
    bool number = item != NULL && pics_is_number(item), answered;
    struct iwarp_sentence why;
    char value[64];

    if (number)
        answered =
            json_is_integer(member) && json_integer_value(member) >= 0 && json_integer_value(member) <= PICS_NUMBER_MAX;
    else
        answered = json_is_boolean(member) || (text != NULL && (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0));
    if (item != NULL && !answered && number)
        return iwarp_sentence_set(error, "%s: capabilities: \"%s\" is %s, a number from 0 to %d was expected", path,
                                  name, shown(member, value), PICS_NUMBER_MAX);
    if (item != NULL && !answered)
        return iwarp_sentence_set(error, "%s: capabilities: \"%s\" is %s, \"yes\" or \"no\" was expected", path, name,
                                  shown(member, value));
    if (json_is_boolean(member))
        (void)snprintf(value, sizeof(value), "%s", json_is_true(member) ? "yes" : "no");
    else if (text != NULL)
        (void)snprintf(value, sizeof(value), "%.30s", text);
    else
        (void)shown(member, value);
    return pics_set(pics, name, value, &why) == 0
               ? 0
               : iwarp_sentence_set(error, "%s: capabilities: %.300s", path, why.text);
}

static int capabilities_of(const struct profile *profile, const char *path, struct pics *pics,
                           struct iwarp_sentence *error)
{
    json_t *capabilities = json_object_get(profile->json, "capabilities");
    const char *name;
    json_t *member;

    json_object_foreach(capabilities, name, member)
    {
        if (capability_of(pics, name, member, path, error) != 0)
            return -1;
    }
    return 0;
}

/* What a hazard's requirement speaks of: an id, or a pattern over ids. */
static bool selects_any(const struct catalogue *catalogue, const char *pattern)
{
    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        if (fnmatch(pattern, catalogue_at(catalogue, i)->id, 0) == 0)
            return true;
    return false;
}

static int hazards_check(const struct profile *profile, const char *path, const struct catalogue *catalogue,
                         struct iwarp_sentence *error)
{
    static const struct json_member members[] = {
        {"requirement", MEMBER_TEXT, true, "the id of a requirement, or a pattern over ids,"},
        {"role", MEMBER_TEXT, false, "\"initiator\" or \"responder\""},
        {"note", MEMBER_TEXT, true, "what happens to the device"},
    };
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(profile->json, "hazards"), i, entry)
    {
        char place[32], at[256];
        const char *id, *role;

        (void)snprintf(place, sizeof(place), "hazards[%zu]", i);
        if (json_members_check(entry, members, sizeof(members) / sizeof(members[0]), path, place, error) != 0)
            return -1;
        (void)snprintf(at, sizeof(at), "%.150s: %s", path, place);
        id = json_string_value(json_object_get(entry, "requirement"));
        if (!selects_any(catalogue, id))
            return requirement_unknown(catalogue, id, at, error);
        role = json_string_value(json_object_get(entry, "role"));
        if (role != NULL && json_one_of(role, "role", device_roles, DEVICE_ROLES, at, error) != 0)
            return -1;
    }
    return 0;
}

static const struct json_member members[] = {
    {"name", MEMBER_TEXT, false, "a name"},
    {"replay", MEMBER_TEXT, false, "the value of --dut, and options after it, in commands that repeat a check"},
    {"address", MEMBER_TEXT, true, "the device's IPv4 or IPv6 address"},
    {"port", MEMBER_NUMBER, true, "a port from 1 to 65535"},
    {"llp", MEMBER_TEXT, false, "\"tcp\", \"sctp\" or \"sctp-draft02\""},
    {"udp_port", MEMBER_NUMBER, false, "a port from 1 to 65535"},
    {"interface", MEMBER_TEXT, true, "the tester's network interface"},
    {"own_address", MEMBER_TEXT, true, "an IPv4 or IPv6 address that no machine uses"},
    {"gateway", MEMBER_TEXT, false, "the IPv4 or IPv6 address of the router before the device"},
    {"own_mac", MEMBER_TEXT | MEMBER_NULL, false, "a MAC address"},
    {"control", MEMBER_TEXT | MEMBER_NULL, false, "the upper tester's \"address:port\""},
    {"control_token_file", MEMBER_TEXT, false, "a file with the token that the upper tester demands"},
    {"beside", MEMBER_LIST, false, "a list of places for checks side by side"},
    {"wait_for_device", MEMBER_NUMBER, false, "seconds that a lost device may take to accept connections again"},
    {"reaction_seconds", MEMBER_NUMBER, false, "seconds that the device may take to react"},
    {"send_buffer", MEMBER_NUMBER, false,
     "octets that the device's TCP or SCTP takes while the tester's window is shut"},
    {"restart_command", MEMBER_LIST | MEMBER_NULL, false,
     "a list of texts: the program that starts the device, and its arguments"},
    {"connect_command", MEMBER_LIST | MEMBER_NULL, false,
     "a list of texts: the program that starts an initiator, and its arguments"},
    {"request_private_data", MEMBER_TEXT, false,
     "the Private Data that the device wants in a Request, in hexadecimal digits"},
    {"reply_private_data", MEMBER_TEXT, false,
     "the Private Data that the device wants in a Reply, in hexadecimal digits"},
    {"ipsec", MEMBER_OBJECT, false, "an object that says how the tester's IPsec reaches the device"},
    {"good_exchange", MEMBER_TEXT, false, "the good exchange that checks rest on"},
    {"capabilities", MEMBER_OBJECT, false, "an object with answers to PICS items"},
    {"questions", MEMBER_OBJECT, false,
     "an object with the questions behind the capabilities"}, /* of `pics --format profile`, for who fills it in */
    {"known_deviations", MEMBER_LIST, false, "a list of known deviations"},
    {"hazards", MEMBER_LIST, false, "a list of hazards"},
    {"vendor", MEMBER_TEXT, false, "who makes the device"},
    {"product", MEMBER_TEXT, false, "what its maker calls it"},
    {"firmware", MEMBER_TEXT, false, "the version of its firmware"},
    {"driver", MEMBER_TEXT, false, "the driver and its version"},
    {"serial", MEMBER_TEXT, false, "the number of this one"},
};

/* A program and its arguments: no shell reads them, and each is a text by itself. */
static int command_of(const json_t *json, const char *name, const char *path, const char ***command,
                      struct iwarp_sentence *error)
{
    const json_t *list = json_object_get(json, name), *word;
    size_t i, count = json_array_size(list);

    if (list == NULL || json_is_null(list))
        return 0;
    if (count == 0 || count > DEVICE_COMMAND_ARGUMENTS)
        return iwarp_sentence_set(
            error, "%s: \"%s\" has %zu members, a program and its arguments were expected (1 to %d texts)", path, name,
            count, DEVICE_COMMAND_ARGUMENTS);
    *command = calloc(count + 1, sizeof(**command));
    if (*command == NULL)
        return iwarp_sentence_set(error, "out of memory");
    json_array_foreach(list, i, word)
    {
        if (!json_is_string(word) || (i == 0 && json_string_length(word) == 0))
            return iwarp_sentence_set(error, "%s: %s[%zu] is %s, a text was expected: %s", path, name, i,
                                      json_is_string(word) ? "empty" : json_kind_name(word),
                                      i == 0 ? "the program" : "one argument");
        (*command)[i] = json_string_value(word);
    }
    return 0;
}

static int private_of(const struct profile *profile, const char *name, const char *path, struct profile_private *out,
                      struct iwarp_sentence *error)
{
    const char *text = member_text(profile->json, name);
    size_t digits = text != NULL ? strlen(text) : 0;

    out->wanted = text != NULL;
    if (digits % 2 != 0 || digits > 2 * PROFILE_PRIVATE_MOST ||
        strspn(text != NULL ? text : "", "0123456789abcdefABCDEF") != digits)
        return iwarp_sentence_set(
            error, "%s: \"%s\" is \"%.60s\", two hexadecimal digits for each of at most %d octets were expected", path,
            name, text, PROFILE_PRIVATE_MOST);
    for (out->count = 0; 2 * out->count < digits; out->count++) {
        const char pair[3] = {text[2 * out->count], text[2 * out->count + 1], '\0'};

        out->octets[out->count] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return 0;
}

/* A number of the profile that has bounds. Left out: 0. */
struct bounded {
    const char *name, *unit;
    int least, most;
};

static int bounded_of(const struct profile *profile, const struct bounded *wanted, const char *path, unsigned *out,
                      struct iwarp_sentence *error)
{
    const json_t *member = json_object_get(profile->json, wanted->name);
    json_int_t number = json_integer_value(member);

    if (member != NULL && (number < wanted->least || number > wanted->most))
        return iwarp_sentence_set(error, "%s: \"%s\" is %" JSON_INTEGER_FORMAT ", %s from %d to %d were expected", path,
                                  wanted->name, number, wanted->unit, wanted->least, wanted->most);
    *out = (unsigned)number;
    return 0;
}

static int seconds_of(const struct profile *profile, const char *name, const char *path, unsigned *out,
                      struct iwarp_sentence *error)
{
    return bounded_of(profile, &(struct bounded){name, "seconds", 1, WAIT_SECONDS_MAX}, path, out, error);
}

static int keeping_of(struct profile *profile, const char *path, struct iwarp_sentence *error)
{
    static const struct bounded send_buffer = {"send_buffer", "octets", SEND_BUFFER_LEAST, SEND_BUFFER_MOST};

    return seconds_of(profile, "wait_for_device", path, &profile->wait_for_device, error) != 0 ||
                   seconds_of(profile, "reaction_seconds", path, &profile->reaction_seconds, error) != 0 ||
                   bounded_of(profile, &send_buffer, path, &profile->send_buffer, error) != 0 ||
                   private_of(profile, "request_private_data", path, &profile->request_private_data, error) != 0 ||
                   private_of(profile, "reply_private_data", path, &profile->reply_private_data, error) != 0 ||
                   command_of(profile->json, "restart_command", path, &profile->restart_command, error) != 0 ||
                   command_of(profile->json, "connect_command", path, &profile->connect_command, error) != 0
               ? -1
               : 0;
}

static int token_of(struct profile *profile, const char *path, struct iwarp_sentence *error)
{
    const char *file = member_text(profile->json, "control_token_file");
    struct iwarp_sentence why;

    return file == NULL || upper_token_read(&profile->token, file, &why) == 0
               ? 0
               : iwarp_sentence_set(error, "%s: \"control_token_file\": %.400s", path, why.text);
}

static int read_all(struct profile *profile, const char *path, const struct profile_context *context,
                    struct iwarp_sentence *error)
{
    const json_t *json = profile->json;

    if (json_members_check(json, members, sizeof(members) / sizeof(members[0]), path, "", error) != 0)
        return -1;
    profile->name = member_text(json, "name");
    if (profile->name == NULL)
        profile->name = path;
    profile->replay = member_text(json, "replay");
    profile->good_exchange = member_text(json, "good_exchange");
    profile->interface = member_text(json, "interface");
    if (profile_places(profile, path, error) != 0 || token_of(profile, path, error) != 0 ||
        llp_of(profile, path, context->pics, error) != 0 || keeping_of(profile, path, error) != 0 ||
        profile_ipsec_read(&profile->ipsec, json_object_get(json, "ipsec"), path, &profile->address, error) != 0 ||
        profile_defaults(context->pics, profile->place.control.family != 0, error) != 0 ||
        (profile->ipsec.given && pics_set(context->pics, "ipsec", "yes", error) != 0) ||
        capabilities_of(profile, path, context->pics, error) != 0 ||
        hazards_check(profile, path, context->catalogue, error) != 0)
        return -1;
    return deviations_read(&profile->deviations, json_object_get(json, "known_deviations"), context->catalogue,
                           context->today, path, error);
}

int profile_defaults(struct pics *pics, bool control, struct iwarp_sentence *error)
{
    return pics_set(pics, "upper_tester", control ? "yes" : "no", error) != 0 ||
                   pics_set(pics, "instrumented", "no", error) != 0
               ? -1
               : 0;
}

int profile_load(struct profile *profile, const char *path, const struct profile_context *context,
                 struct iwarp_sentence *error)
{
    json_error_t where;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);

    memset(profile, 0, sizeof(*profile));
    if (json == NULL && access(path, R_OK) != 0)
        return iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    if (json == NULL)
        return where.line < 1 ? iwarp_sentence_set(error, "%s: %s", path, where.text)
                              : iwarp_sentence_set(error, "%s:%d: this is not JSON: %s", path, where.line, where.text);
    return profile_read_json(profile, json, path, context, error);
}

int profile_read_json(struct profile *profile, json_t *json, const char *path, const struct profile_context *context,
                      struct iwarp_sentence *error)
{
    memset(profile, 0, sizeof(*profile));
    profile->json = json;
    if (json == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", path);
    if (read_all(profile, path, context, error) == 0)
        return 0;
    profile_free(profile);
    return -1;
}

int profile_commands(const struct profile *profile, int folder, const struct run_identity *identity,
                     struct device_command **commands, struct iwarp_sentence *error)
{
    struct device_command_config config = {.folder = folder, .identity = *identity};

    *commands = NULL;
    config.command[DEVICE_RESTART] = (const char *const *)profile->restart_command;
    config.command[DEVICE_CONNECT] = (const char *const *)profile->connect_command;
    if (profile->restart_command == NULL && profile->connect_command == NULL)
        return 0;
    *commands = device_command_new(&config, error);
    return *commands != NULL ? 0 : -1;
}

void profile_free(struct profile *profile)
{
    deviations_free(&profile->deviations);
    free(profile->restart_command);
    free(profile->connect_command);
    json_decref(profile->json);
    memset(profile, 0, sizeof(*profile));
}

const char *profile_hazard(const struct profile *profile, const char *requirement, const char *role)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(profile->json, "hazards"), i, entry)
    {
        const char *only = member_text(entry, "role");

        if (fnmatch(member_text(entry, "requirement"), requirement, 0) == 0 &&
            (only == NULL || strcmp(only, role) == 0))
            return member_text(entry, "note");
    }
    return NULL;
}

json_t *profile_identity(const struct profile *profile)
{
    static const char *const copied[] = {"vendor", "product", "firmware", "driver", "serial", "capabilities"};
    json_t *identity = profile->json != NULL ? json_object() : NULL;

    for (size_t i = 0; identity != NULL && i < sizeof(copied) / sizeof(copied[0]); i++) {
        json_t *value = json_object_get(profile->json, copied[i]);

        if (value != NULL)
            (void)json_object_set(identity, copied[i], value); /* without memory the program ends with that status */
    }
    if (json_object_size(identity) != 0)
        return identity;
    json_decref(identity);
    return NULL;
}
