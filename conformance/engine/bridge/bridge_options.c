/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_options.h"

#include <string.h>

#include "base/exit_status.h"
#include "conformance/engine/device/control.h"
#include "conformance/engine/option/selected_options.h"
#include "conformance/flow/event/flow.h"
#include "reference-stack/program/amount.h"

#define MIB UINT64_C(1048576)

enum { BUFFER_MIB = 64, BUFFER_MIB_MOST = 2047, HOLD_SECONDS = 30, HOLD_SECONDS_MOST = 3600 };

static int parse_suite(void *user, const char *value, struct iwarp_sentence *error)
{
    static const struct bridge_suite suites[] = {{"impairments", BRIDGE_TCP, false},
                                                 {"impairments-sctp", BRIDGE_SCTP, false},
                                                 {"fields", BRIDGE_TCP, true},
                                                 {"fields-sctp", BRIDGE_SCTP, true}};

    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        if (strcmp(suites[i].name, value) == 0) {
            ((struct bridge_options *)user)->suite = &suites[i];
            return 0;
        }
    return iwarp_sentence_set(
        error, "--suite \"%.60s\": impairments, impairments-sctp, fields or fields-sctp was expected", value);
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return option_jsonl(value, &((struct bridge_options *)user)->format.jsonl, error);
}

#define MEMBER(name) offsetof(struct bridge_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --script FILE      impairs by the Lua script FILE (docs/bridge.md); repeat it for several (64 at most)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(scripts), .count = MEMBER(script_count), .most = BRIDGE_SCRIPTS_MOST},
    {"  --suite SUITE      impairs by each script of the suite, one new stream after another: `impairments` is the project's own,\n"
     "                     `fields` changes each field of the headers; `impairments-sctp` and `fields-sctp` are those over SCTP\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_suite},
    {"  --upper-tester-a ADDRESS:PORT\n"
     "                     makes the traffic itself, by the upper testers of both devices (docs/upper-tester.md): A connects to B\n"
     "                     once for each stream that an impairment names; contents are compared at both ends\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(upper_testers[0])},
    {"  --upper-tester-b ADDRESS:PORT\n"
     "                     the same of the device at B\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(upper_testers[1])},
    {"  --upper-tester-token FILE\n"
     "                     the token that both demand is the first line of FILE\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(token)},
    {"  --address-b ADDRESS  where A reaches B (where B's upper tester is)\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(address_b)},
    {"  --connections N    makes so many connections\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(connections), .least = 1, .most = BRIDGE_TRAFFIC_MOST},
    {"  --seed N           what scripts draw with math.random (1)\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(seed), .least = 0, .most = INT64_MAX},
    {"  --hold TIME        nothing is held back for longer, whatever a script wants (30s)\n",
     OPTION_JUDGES, OPTION_TIME, .member = MEMBER(hold), .least = 1, .most = HOLD_SECONDS_MOST},
    {"  --capture DIR      writes DIR/a.pcapng and DIR/b.pcapng: what each of the two links has, frames of its device inbound,\n"
     "                     those that the bridge sends it outbound\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(capture)},
    {"  -o DIR             writes results.jsonl and the reports there: %s;\n"
     "                     the folder must be empty, and no other command may write there at the same time\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output), .joined = true, .names = report_format_files},
    {"  --force            removes the files that an earlier command wrote to -o DIR\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --buffer SIZE      the kernel's ring of each interface (64M)\n",
     OPTION_SHOWS, OPTION_OCTETS, .member = MEMBER(buffer), .least = MIB, .most = BUFFER_MIB_MOST * MIB, .unit = "64M"},
    {"  --memory SIZE      memory for what is open at once on each side, as 512M (the default) or 4G (audit --reasons)\n",
     OPTION_JUDGES, OPTION_OCTETS, .member = MEMBER(memory), .least = FLOW_MEMORY_MIN, .most = AMOUNT_MEMORY_MOST, .unit = "512M or 4G"},
    {"  --duration TIME    ends after so long\n",
     OPTION_SHOWS, OPTION_TIME, .member = MEMBER(duration), .least = 1, .most = AMOUNT_SECONDS_MOST},
    {"  --count N          ends after N frames\n",
     OPTION_SHOWS, OPTION_NUMBER, .member = MEMBER(frames), .least = 1, .most = UINT64_MAX},
    {"  --allow-gaps       exits with 0 even if a part that is or may be iWARP was not judged; the part is still reported\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(allow_gaps)},
    {"  --format F         text or jsonl: what standard output gets\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --all              also shows PASS and AMBIGUOUS, and each finding whole that has the cause of another one\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(all)},
    {"  --quiet            shows the closing lines alone\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

const struct option_table bridge_option_table = {
    .command = "bridge",
    .head =
        "usage: warpcheck bridge A B [SELECT...] [OPTION...]\n"
        "  Forwards frames between the interfaces A and B, both directions, and judges the device at each of them by "
        "what it\n"
        "  sends. With --script it impairs iWARP over TCP and SCTP on the way, at the level of FPDUs and DDP Segments; "
        "all else "
        "goes as it\n"
        "  came. SIGINT and SIGTERM end it with a summary.\n"
        "  Exit status: as of audit; also 4 when frames were lost on the way, an interface went away, or an "
        "impairment was not\n"
        "  applied.\n",
    .more = selection_usage,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int check_traffic(const struct bridge_options *options, struct iwarp_sentence *error)
{
    struct iwarp_sentence expected;
    struct net_address address;
    uint16_t port;

    if ((options->upper_testers[0] == NULL) != (options->upper_testers[1] == NULL))
        return iwarp_sentence_set(error, "--upper-tester-a and --upper-tester-b belong together");
    for (unsigned side = 0; side < BRIDGE_SIDES && options->upper_testers[side] != NULL; side++)
        if (control_place_parse(options->upper_testers[side], &address, &port, &expected) != 0)
            return iwarp_sentence_set(error, "--upper-tester-%c \"%.60s\": %s", side == 0 ? 'a' : 'b',
                                      options->upper_testers[side], expected.text);
    if (options->upper_testers[0] == NULL &&
        (options->token != NULL || options->address_b != NULL || options->connections != 0))
        return iwarp_sentence_set(error,
                                  "--upper-tester-token, --address-b and --connections are for --upper-tester-a");
    if (options->address_b != NULL && net_address_parse(&address, options->address_b) != 0)
        return iwarp_sentence_set(error, "--address-b \"%.60s\": an IPv4 or IPv6 address was expected",
                                  options->address_b);
    return 0;
}

static int check(const struct bridge_options *options, struct iwarp_sentence *error)
{
    if (options->interface_count < BRIDGE_SIDES)
        return iwarp_sentence_set(error, "two interfaces were expected: warpcheck bridge A B (`ip link` lists them)");
    if (strcmp(options->interfaces[0], options->interfaces[1]) == 0)
        return iwarp_sentence_set(error, "%.40s: this interface is named twice", options->interfaces[0]);
    if (options->force && options->output == NULL)
        return iwarp_sentence_set(error, "--force is for -o DIR");
    if (check_traffic(options, error) != 0)
        return -1;
    if (options->quiet && options->all)
        return iwarp_sentence_set(error, "--quiet excludes --all");
    return 0;
}

int bridge_options_parse(struct bridge_options *options, const struct catalogue *catalogue, int argc, char **argv,
                         struct iwarp_sentence *error)
{
    options->seed = 1;
    options->buffer = BUFFER_MIB * MIB;
    options->hold = HOLD_SECONDS;
    for (int i = 1; i < argc;) {
        int status = 0;

        if (argv[i][0] != '-' && options->interface_count < BRIDGE_SIDES)
            options->interfaces[options->interface_count++] = argv[i++];
        else
            status = selected_options_parse(&bridge_option_table, options, &options->selection, catalogue, argc, argv,
                                            &i, error);
        if (status != 0)
            return status;
    }
    if (check(options, error) != 0)
        return EXIT_USAGE;
    return selected_options_check(&options->selection, catalogue, error);
}
