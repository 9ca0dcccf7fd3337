/*
 * EMPA-9.1-26 as responder, frame 14 of evidence/EMPA-9.1-26.pcapng: a reproducer, by warpcheck 0.1.0
 * purpose   a Request with ORD 0x3FFF is answered with IRD 0x3FFF, and the other half as ever
 * expected  MPA Reply S 1 R 0 Rev (any that fits) {IRD 16383}
 * actual    MPA Reply S 1 M 0 C 1 R 0 Rev 2 Res 0 PD_Length 4 {A 0 B 0 C 0 D 0 IRD 128 ORD 4} private data 
 * cc -o repro repro.c; ./repro ADDRESS PORT; exits with 1: the fault is there, 0: not, 2: not tried
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

int main(int argc, char **argv)
{
    const char *address = argc > 1 ? argv[1] : "10.78.0.2", *port = argc > 2 ? argv[2] : "9906";

    sock[0] = open_at(address, port, 0); /* TCP SYN */
    push(0, 0, "4d504120494420526571204672616d655002000400043fff"); /* MPA Request rev2 S C ird 4 ord not-negotiated, 4 octets priv... */
    come(0, "4d504120494420526570204672616d655002000400800004", 0); /* MPA Reply rev2 S C ird 128 ord 4, 4 octets private data */
    return end_with(1, "as it was when the check failed");
}
