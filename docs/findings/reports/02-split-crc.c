/*
 * MPA-6-06 as responder, frame 29 of evidence/MPA-6-06-responder.pcapng: a reproducer, by warpcheck 0.1.0
 * purpose   an FPDU goes up when it is complete: not without the last octet of its CRC field
 * expected  RDMA Read Response STag 0x7
 * actual    Terminate LLP (MPA) / MPA Error / MPA CRC Error (0x2002)
 * cc -o repro repro.c; ./repro ADDRESS PORT CONTROL-ADDRESS CONTROL-PORT [TOKEN]; exits with 1: the fault is there, 0: not, 2: not tried
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char out[70000], any[70000], in[70000];
static size_t outs, ins;
static int sock[1], started[1];
static char reply[300000];
static FILE *control;
static char made[150000];
#define TEXT(...) (snprintf(made, sizeof(made), __VA_ARGS__), made)

static int end_with(int status, const char *why)
{
    printf("%s: %s\n", status == 1 ? "FAIL" : status == 0 ? "ok" : "cannot be tried", why);
    exit(status);
}

static void octets(const char *hex) /* to be sent or expected; ".." is any octet */
{
    for (unsigned value = 0; *hex != '\0'; hex += 2) {
        any[outs] = *hex == '.';
        out[outs++] = sscanf(hex, "%2x", &value) == 1 ? (unsigned char)value : 0;
    }
}

static void fpdu(const char *ulpdu) /* length, ULPDU, pad, CRC32C */
{
    size_t at = outs, length = strlen(ulpdu) / 2;
    uint32_t crc = 0xffffffff;

    outs += 2;
    octets(ulpdu);
    out[at] = (unsigned char)(length >> 8);
    out[at + 1] = (unsigned char)length;
    octets(&"000000"[2 * ((length + 1) % 4)]);
    for (; at < outs; at++)
        for (int bit = (crc ^= out[at], 0); bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    for (int i = 0; i < 4; i++)
        out[outs++] = (unsigned char)(~crc >> 8 * i);
}

static void show(const char *what, int c, const unsigned char *at, size_t count)
{
    printf("%d %s ", c, what);
    for (size_t i = 0; i < count; i++)
        printf("%02x", at[i]);
    puts("");
}

static void push(int c, unsigned ms, const char *hex) /* sends this, and what was added before, after a while */
{
    usleep(ms * 1000);
    octets(hex);
    show("sent", c, out, outs);
    (void)send(sock[c], out, outs, MSG_NOSIGNAL);
    outs = 0;
}

static void come(int c, const char *want, int otherwise) /* the device's next frame: octets, "FIN", "RST", "nothing" */
{
    size_t need = started[c] ? 2 : 20, whole = 0, same = 0;
    ssize_t got = 1;

    for (ins = 0; ins < need && (got = recv(sock[c], in + ins, need - ins, 0)) > 0;)
        if ((ins += (size_t)got) == need && !whole++) /* now the length of the FPDU, or of the Private Data, is known */
            need = started[c]++ ? ((in[0] * 256U + in[1] + 5) & ~3U) + 4 : 20U + in[18] * 256U + in[19];
    const char *how = ins > 0 ? "came" : got == 0 ? "FIN" : errno == EAGAIN ? "nothing" : "RST";
    show(how, c, in, ins);
    octets(strchr("FRn", *want) != NULL ? "" : want);
    while (same < outs && same < ins && (any[same] || in[same] == out[same]))
        same++;
    if (same < outs || (outs == 0 && strcmp(how, want) != 0))
        end_with(otherwise, "this is not what came when the check failed");
    outs = 0;
}

static int open_at(const char *address, const char *port, int own) /* connects, or listens */
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *to;
    struct timeval limit = {.tv_sec = 3};
    int s = getaddrinfo(address, port, &hints, &to) == 0 ? socket(to->ai_family, SOCK_STREAM, 0) : -1, on = 1, mss = 1472;

    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(s, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss));
    if (s < 0 || (own ? bind(s, to->ai_addr, to->ai_addrlen) || listen(s, 9) : connect(s, to->ai_addr, to->ai_addrlen)))
        end_with(2, own ? "cannot listen there" : "no connection");
    return s;
}

static void ask(const char *command) /* the device's upper tester (docs/upper-tester.md); its answer is in reply[] */
{
    for (int tries = 0; tries == 0 || (!strstr(reply, "\"ok\":true") && !strstr(reply, "\"ok\": true")); tries++)
        if (control == NULL || usleep(tries > 0 ? 100000 : 0) != 0 || dprintf(fileno(control), "%s\n", command) < 0 ||
            tries == 50 || fgets(reply, sizeof(reply), control) == NULL)
            end_with(2, "there is no upper tester, or it refuses a command");
}

static unsigned long value(const char *key, const char *from) /* a number in an answer */
{
    const char *at = from != NULL ? strstr(from, key) : NULL;

    return at ? strtoul(at + strcspn(at, "0123456789"), NULL, 0) : (unsigned long)end_with(2, "the answer lacks a number");
}

int main(int argc, char **argv)
{
    const char *address = argc > 1 ? argv[1] : "10.78.0.2", *port = argc > 2 ? argv[2] : "9903";
    unsigned long S0, T0; /* that the device chooses: streams, STags, addresses */

    control = argc > 4 ? fdopen(open_at(argv[3], argv[4], 0), "r") : NULL;
    (void)(argc > 5 && dprintf(fileno(control), "{\"verb\":\"token\",\"token\":\"%s\"}\n", argv[5]) && fgets(reply, 99, control));
    ask("{\"access\":[\"local_read\",\"remote_read\"],\"base\":\"0x110000043\",\"data\":\"66656e6365206f66\",\"fill\":165,\"length\":64,\"verb\":\"r"
        "eg_mr\"}");
    S0 = value("\"stag\"", reply), T0 = value("\"base\"", reply);
    if (control != NULL) {
        static char at[16];
        ask("{\"verb\":\"listen\"}");
        (void)snprintf(at, sizeof(at), "%u", (unsigned)value("\"port\"", reply));
        port = at;
    }
    sock[0] = open_at(address, port, 0); /* TCP SYN */
    push(0, 0, "4d504120494420526571204672616d6540010000"); /* MPA Request rev1 C, 0 octets private data */
    come(0, "4d504120494420526570204672616d6540", 2); /* MPA Reply rev1 C, 0 octets private data */
    fpdu(TEXT("41410000000000000001000000010000000050524f42000000000000000000000008%08lx%016lx", S0, T0));
    push(0, 110, ""); /* RDMA Read Request qn 1 msn 1 mo 0 L sink 0x50524f42+0x0 size... */
    come(0, "......42", 0); /* RDMA Read Response stag 0x50524f42 to 0x0 L len 8 */
    push(0, 0, "002e4141000000000000000100000002000000000000000700000000000000000000000000000000000000000000000050c918");
    push(0, 1876, "19"); /* RDMA Read Request qn 1 msn 2 mo 0 L sink 0x00000007+0x0 size... */
    come(0, "....4147000000000000000200000001000000000202", 0); /* Terminate qn 2 msn 1 mo 0 L LLP (MPA) / MPA Error / MPA CRC ... */
    return end_with(1, "as it was when the check failed");
}
