/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen/gen.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generator/packet/packet.h"

enum { OUTPUT_MAX = 1 << 20 };

static struct gen *gen;
static struct iwarp_sentence error;
static char folder[sizeof("/tmp/warpcheck-gen-XXXXXX")];
static char path[64];
static uint8_t output[OUTPUT_MAX];
static size_t output_octets;

static void setup(void)
{
    gen = gen_new(1, &error);
    ck_assert_msg(gen != NULL, "%s", error.text);
    memcpy(folder, "/tmp/warpcheck-gen-XXXXXX", sizeof(folder)); /* mkdtemp() writes into it */
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/out", folder);
}

static void teardown(void)
{
    gen_free(gen);
    if (strncmp(path, folder, strlen(folder)) == 0)
        (void)unlink(path);
    (void)rmdir(folder);
}

static void read_output(void)
{
    FILE *file = fopen(path, "rb");

    output_octets = 0;
    if (file == NULL)
        return;
    output_octets = fread(output, 1, sizeof(output), file);
    fclose(file);
}

static enum exit_status run_as(const char *text, enum gen_format format)
{
    struct gen_writer_config config = {.to = place_at(path), .format = format};
    uint64_t written;
    enum exit_status status =
        gen_run_script(gen, "dir/some.lua", text, strlen(text), &config, format >= GEN_HEX, &written, &error);

    read_output();
    return status;
}

static enum exit_status run(const char *text)
{
    return run_as(text, GEN_RAW);
}

/* One packet, as it is in the output. */
static struct packet only_packet(const char *text)
{
    struct packet packet;
    const char *reason = "";

    ck_assert_msg(run(text) == EXIT_DONE, "%s", error.text);
    ck_assert_msg(packet_parse(&packet, output, output_octets, &reason) == 0, "%s", reason);
    return packet;
}

START_TEST(fields_are_what_was_said)
{
    struct packet p =
        only_packet("local f = flow { initiator = { port = 7, iss = 0xFFFFFFFF }, responder = { port = 8, iss = 99 } }"
                    "f.initiator:put('abc') f.initiator:packet { to = 3, window = 5, flags = 'FIN PSH', hop_limit = 9, "
                    "urgent = 2 }");

    ck_assert_int_eq(p.kind, PACKET_TCP);
    ck_assert(p.ip_checksum_ok && p.tcp_checksum_ok);
    ck_assert_uint_eq(p.source_port, 7);
    ck_assert_uint_eq(p.destination_port, 8);
    ck_assert_uint_eq(p.sequence, 0); /* ISS + 1 wraps */
    ck_assert_uint_eq(p.acknowledgment, 0);
    ck_assert_uint_eq(p.flags, TCP_FLAG_FIN | TCP_FLAG_PSH);
    ck_assert_uint_eq(p.window, 5);
    ck_assert_uint_eq(p.hop_limit, 9);
    ck_assert_uint_eq(p.urgent, 2);
    ck_assert_mem_eq(p.payload, "abc", 3);
}
END_TEST

START_TEST(checksums_may_be_wrong)
{
    struct packet p = only_packet("flow {}.initiator:syn { spoil_checksum = true }");

    ck_assert(p.ip_checksum_ok && !p.tcp_checksum_ok);
    p = only_packet("flow {}.initiator:syn { ip_checksum = 1 }");
    ck_assert(!p.ip_checksum_ok && p.tcp_checksum_ok);
}
END_TEST

START_TEST(ipv6_and_vlan)
{
    struct packet p = only_packet("flow { ipv6 = true, vlan = { { id = 5, priority = 3 }, 6 } }.responder:syn()");

    ck_assert_uint_eq(p.source.family, 6);
    ck_assert(p.tcp_checksum_ok);
    ck_assert_uint_eq(p.flags, TCP_FLAG_SYN | TCP_FLAG_ACK);
    ck_assert_uint_eq(p.mss, 1440);
    ck_assert_mem_eq(output + 12, "\x81\x00\x60\x05\x81\x00\x00\x06\x86\xdd", 10);
}
END_TEST

/*
 * A frame that is returned is what the checks' constructors make, in an FPDU with its CRC; the second has the next MSN.
 */
START_TEST(frames_are_returned)
{
    static const char text[] = "return rdmap.send { data = 'x' }, { mpa.request {}, 'octets' }, rdmap.send {}";

    ck_assert_msg(run_as(text, GEN_HEX) == EXIT_DONE, "%s", error.text);
    output[output_octets] = '\0';
    ck_assert_str_eq((char *)output, "00134143000000000000000000000001000000007800000019fa318c\n"
                                     "4d504120494420526571204672616d6540010000\n"
                                     "6f6374657473\n"
                                     "0012414300000000000000000000000200000000accbdb8c\n");
}
END_TEST

START_TEST(comments_cannot_end_those_of_c)
{
    ck_assert_int_eq(run_as("packet('x', { comment = 'a */ b /* c\\n' })", GEN_C), EXIT_DONE);
    output[output_octets] = '\0';
    ck_assert_str_eq((char *)output,
                     "/* a *  b /  c ; 1 octets */\nstatic const unsigned char frame_1[] = {\n    0x78,\n};\n");
}
END_TEST

/* Scripts that are refused, and what the sentence has to say. */
static const struct {
    const char *text;
    const char *part;
} refused[] = {
    {"flow {", "dir/some.lua:1: "},
    {"\n\nno_such_thing()", "dir/some.lua:3: "},
    {"flow { colour = 1 }", "dir/some.lua:1: flow has no member called 'colour'"},
    {"local f = flow {}\nf.initiator:send(rdmap.send { Colour = 1 })",
     "dir/some.lua:2: Send has no field called 'Colour'"},
    {"flow {}.initiator:send(7)", "a frame was expected"},
    {"flow {}.initiator:packet { flags = 'SYM' }", "FIN SYN RST"},
    {"flow {}.initiator:packet { window = 65536 }", "net.tcp.window: a number from 0 to 65535 was expected, not 65536"},
    {"flow { initiator = { address = 'fd77::1' } }.initiator:syn()", "two addresses of one family"},
    {"flow { initiator = { mac = '1:2' } }.initiator:syn()", "a MAC address"},
    {"flow {}.initiator:packet { from = 3, to = 5 }", "octets 3 to 5 of a stream that has 0"},
    {"flow {}.initiator:send_segments({ 'a' }, { 2 })", "no segment 2"},
    {"return segments(rdmap.send, {}, 'x', 0)", "a size of 1 octet or more"},
    {"association {}.initiator:send(rdmap.send {}, { fragment = 0 })", "1 octet or more"},
    {"return 7", "dir/some.lua: the script returned a number"},
    {"packet('x') capture { snap = 5 }", "before its first packet"},
    {"capture { snap = -1 }", "snap"},
    {"capture { link = 'nonsense' }", "libpcap knows"},
    {"capture { colour = 1 }", "capture has no member"},
    {"capture { name = '../x', run = function() end }", "a name out of letters"},
    {"for i = 1, 2 do capture { name = 'x', run = function() end } end", "there already (dir/some.lua:1)"},
    {"corpus { folder = '/etc' }", "a folder out of letters"},
    {"finding('A', 'PASS')", "dir/some.lua:1: "},
    {"while true do end", "does not end"},
    {"while true do pcall(function() while true do end end) end", "does not end"},
    {"local s = string.rep('x', 1 << 29)", "not enough memory"},
    {"local b = net.buffer() while true do b:append(string.rep('x', 1000000)) end", "not enough memory"},
    {"local t = {} for i = 1, 9 do t[i] = stacks {} end", "more than 8 pairs"},
    {"stacks { initiator = { defects = { 'no-such' } } }", "no defect 'no-such'"},
    {"stacks { loss = 2 }", "stacks.loss"},
    {"stacks {}.initiator:verb('sing')", "refuses sing"},
    {"local s = stacks {} s:close() s:run(1)", "closed"},
    {"association {}.initiator:control('Sing')", "no session control message"},
    {"packet(net.cm_packet('x', {}))", "a MAD has 256 octets, got 1"},
    {"packet(net.cm_packet(net.cm_request {}, { carrier = 'pigeon' }))", "roce_v2"},
    {"packet(patched('abc', 2, 'xy'))", "octets 2 to 4 of 3"},
    {"io.open('/etc/passwd')", "dir/some.lua:1: "},
    {"os.time()", "dir/some.lua:1: "},
    {"getmetatable(net.buffer()).__gc()", "dir/some.lua:1: "},
    {"\033Lua", "dir/some.lua"},
};

START_TEST(bad_gen_script_is_refused)
{
    ck_assert_int_eq(run(refused[_i].text), EXIT_USAGE);
    ck_assert_msg(strstr(error.text, refused[_i].part) != NULL, "'%s' lacks '%s'", error.text, refused[_i].part);
    ck_assert_uint_eq(output_octets, 0); /* what had been written is gone */
}
END_TEST

START_TEST(captures_are_made_on_request)
{
    struct gen_writer_config config = {.to = place_at(path), .format = GEN_RAW};

    ck_assert_int_eq(run("capture { name = 'a', about = 'b', run = function() packet('x') finding('R', 'WARN') end }\n"
                         "capture { name = 'empty', run = function() end }\n"),
                     EXIT_DONE);
    ck_assert_uint_eq(output_octets, 0);
    ck_assert_uint_eq(gen_capture_count(gen), 2);
    ck_assert_str_eq(gen_capture_at(gen, 0)->name, "a");
    ck_assert_str_eq(gen_capture_at(gen, 0)->about, "b");
    ck_assert_int_eq(gen_capture_at(gen, 1)->line, 2);
    ck_assert_ptr_null(gen_capture_at(gen, 2));
    for (int twice = 0; twice < 2; twice++) {
        ck_assert_int_eq(gen_make(gen, 0, &config, &error), EXIT_DONE);
        read_output();
        ck_assert_mem_eq(output, "x", output_octets);
        ck_assert_uint_eq(gen_finding_count(gen), 1);
        ck_assert_str_eq(gen_finding_at(gen, 0)->verdict, "WARN");
        ck_assert_uint_eq(gen_finding_at(gen, 0)->frame, 1);
    }
    ck_assert_int_eq(gen_make(gen, 1, &config, &error), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "dir/some.lua:2: capture empty has no packet"));
}
END_TEST

static uint64_t hash_of(const char *text, uint64_t seed)
{
    struct gen_writer_config config = {.to = place_at(path), .format = GEN_PCAPNG};
    struct gen *other = gen_new(seed, &error);
    uint64_t written, hash = 14695981039346656037u;

    ck_assert_msg(gen_run_script(other, "x.lua", text, strlen(text), &config, false, &written, &error) == EXIT_DONE,
                  "%s", error.text);
    gen_free(other);
    read_output();
    for (size_t i = 0; i < output_octets; i++)
        hash = (hash ^ output[i]) * 1099511628211u;
    return hash;
}

/* Times, random numbers and the order of a table's keys are the same every time; stacks too. */
START_TEST(the_same_seed_the_same_octets)
{
    static const char random[] = "for k in pairs { a = 1, b = 2, c = 3, d = 4 } do packet(k .. math.random(0)) end";
    static const char simulated[] = "local s = stacks { loss = 0.1 } s:connect()\n"
                                    "s.initiator:sent { length = 3000 } s:finish()";

    ck_assert_uint_eq(hash_of(random, 1), hash_of(random, 1));
    ck_assert_uint_ne(hash_of(random, 1), hash_of(random, 2));
    ck_assert_uint_eq(hash_of(simulated, 1), hash_of(simulated, 1));
    ck_assert_uint_ne(hash_of(simulated, 1), hash_of(simulated, 2));
}
END_TEST

/* One that is made could register another, and that one the next. */
START_TEST(captures_breed_no_captures)
{
    struct gen_writer_config config = {.to = place_at(path), .format = GEN_RAW};

    ck_assert_int_eq(
        run("capture { name = 'a', run = function() packet('x') capture { name = 'b', run = error } end }\n"
            "capture { name = 'c', run = function() corpus { folder = 'd' } end }"),
        EXIT_DONE);
    ck_assert_int_eq(gen_make(gen, 0, &config, &error), EXIT_USAGE);
    ck_assert_msg(strstr(error.text, "while its script loads") != NULL, "%s", error.text);
    ck_assert_int_eq(gen_make(gen, 1, &config, &error), EXIT_USAGE);
    ck_assert_uint_eq(gen_capture_count(gen), 2);
}
END_TEST

/* The library's own table is no secret; what a script does to it, it does to itself. */
START_TEST(library_may_be_spoilt)
{
    static const char text[] = "local shared = getmetatable(_ENV).__index\n"
                               "shared.gen.begin, shared.gen.make, shared.gen.write = nil\n"
                               "setmetatable(shared.gen, { __index = function() error('spoilt') end })\n"
                               "shared.gen = nil";

    ck_assert_int_eq(run(text), EXIT_DONE);
    ck_assert_msg(run("packet('x')") == EXIT_DONE, "%s", error.text);
    ck_assert_uint_eq(output_octets, 1);
}
END_TEST

START_TEST(argument_reaches_the_script)
{
    ck_assert_int_eq(gen_set_argument(gen, "name", "value"), 0);
    ck_assert_msg(run("packet(arg.name)") == EXIT_DONE, "%s", error.text);
    ck_assert_mem_eq(output, "value", 5);
}
END_TEST

START_TEST(capture_has_a_largest_size)
{
    (void)snprintf(path, sizeof(path), "/dev/null");
    ck_assert_int_eq(run("while true do packet(string.rep('x', 60000)) end"), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "dir/some.lua:1: the capture has grown beyond 1 GiB"));
}
END_TEST

START_TEST(output_that_cannot_be_written)
{
    (void)snprintf(path, sizeof(path), "/dev/full");
    for (enum gen_format format = GEN_PCAPNG; format < GEN_FORMATS; format++) {
        struct gen_writer_config config = {.to = place_at(path), .format = format};
        static const char text[] = "for i = 1, 2000 do packet(string.rep('x', 1000)) end";
        uint64_t written;

        ck_assert_int_eq(gen_run_script(gen, "x.lua", text, strlen(text), &config, true, &written, &error),
                         EXIT_ENVIRONMENT);
        ck_assert_msg(strstr(error.text, "/dev/full") != NULL, "%s", error.text);
    }
}
END_TEST

START_TEST(all_scripts_of_the_corpus_load)
{
    ck_assert_msg(gen_load_corpus(gen, &error) == EXIT_DONE, "%s", error.text);
    ck_assert_uint_gt(gen_capture_count(gen), 70);
}
END_TEST

Suite *gen_suite(void);
Suite *gen_suite(void)
{
    Suite *suite = suite_create("gen");
    TCase *tcase = tcase_create("gen");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, fields_are_what_was_said);
    tcase_add_test(tcase, checksums_may_be_wrong);
    tcase_add_test(tcase, ipv6_and_vlan);
    tcase_add_test(tcase, frames_are_returned);
    tcase_add_test(tcase, comments_cannot_end_those_of_c);
    tcase_add_loop_test(tcase, bad_gen_script_is_refused, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(tcase, captures_are_made_on_request);
    tcase_add_test(tcase, the_same_seed_the_same_octets);
    tcase_add_test(tcase, captures_breed_no_captures);
    tcase_add_test(tcase, library_may_be_spoilt);
    tcase_add_test(tcase, argument_reaches_the_script);
    tcase_add_test(tcase, capture_has_a_largest_size);
    tcase_add_test(tcase, output_that_cannot_be_written);
    tcase_add_test(tcase, all_scripts_of_the_corpus_load);
    suite_add_tcase(suite, tcase);
    return suite;
}
