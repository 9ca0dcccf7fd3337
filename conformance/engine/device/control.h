/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control connection to a live device's upper tester (docs/upper-tester.md): a line out, a line back.
 *
 * An upper tester may be slow once, and it may be started again: if an answer is lost, only that command fails, and the
 * next command uses a new connection. The upper tester is lost for good when no connection can be made for a while,
 * when several commands in a row were not answered, or when its process has ended. Later commands then fail at once.
 */
#ifndef CONFORMANCE_ENGINE_CONTROL_H
#define CONFORMANCE_ENGINE_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "generator/packet/packet.h"
#include "upper-tester/token.h"
#include "base/sentence.h"

struct control;

/* How long an upper tester may take to answer, in milliseconds, whose device may take so many seconds to react (0: not said). */
int control_answer_ms(unsigned reaction_seconds);

struct control_config {
    struct net_address address;
    uint16_t port;
    const struct upper_token
        *token;     /* shown first on each connection; NULL, or empty: none. Borrowed for its whole life */
    int connect_ms; /* how long the upper tester may take to be there, at first and again: 0 for the usual 10 s */
    int answer_ms; /* how long it may take to answer: 0 for the usual 10 s; and a second more for each MiB of the request */
    /* Has the device's own process ended? Then true, with a sentence. NULL: there is none. */
    bool (*ended)(void *context, struct iwarp_sentence *why);
    /* A connection was not accepted; another attempt follows. NULL: not called. */
    void (*refused)(void *context);
    /* An answer has not come for a fifth of a second; called each time that this passes. NULL: not called. */
    void (*waiting)(void *context);
    void *context;
};

/* Reads "192.0.2.7:7471" or "[fd00::7]:7471". -1 with what was expected. */
int control_place_parse(const char *text, struct net_address *address, uint16_t *port, struct iwarp_sentence *expected);

/* Connects. NULL with a sentence. */
struct control *control_new(const struct control_config *config, struct iwarp_sentence *error);

/* One request line, without its newline; the answer is the caller's to free(). NULL with a sentence: none came. */
char *control_call(struct control *control, const char *request, struct iwarp_sentence *error);

/* What such an answer says: an object, a new reference. Frees `text`. NULL with a sentence: it is none. */
json_t *control_answer(char *text, struct iwarp_sentence *error);

/*
 * How many answers or connections were lost since the beginning. If the number grows during a check, the check was
 * disturbed.
 */
unsigned control_losses(const struct control *control);

/* Why no answer will come any more, or NULL. */
const char *control_gone(const struct control *control);

void control_free(struct control *control);

#endif
