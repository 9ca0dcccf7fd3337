/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_generator.h"

#include <string.h>

#include "base/splitmix.h"
#include "conformance/engine/explore/session_generator_internal.h"

enum { OPERATIONS_MOST = 12 };

uint64_t session_below(struct session_draw *draw, uint64_t count)
{
    uint64_t number = splitmix_next(&draw->state);

    return count == 0 ? 0 : number % count;
}

bool session_once_in(struct session_draw *draw, unsigned times)
{
    return session_below(draw, times) == 0;
}

static void make_pause(struct generator *generator)
{
    struct session_step *step = generator_add_step(generator, "pause");

    if (step != NULL)
        session_add(&step->members, "milliseconds", 1 + below(generator, 400));
}

/* ---- streams ------------------------------------------------------------------------------------------------------ */

static void choose_stream(struct generator *generator)
{
    generator->stream = 1 + below(generator, STREAMS_MOST);
    for (int64_t number = 1; !generator->live[generator->stream]; number++)
        generator->stream = number; /* one lives at least */
}

/* Another stream, or one more with the number of one that has ended: what was there before is settled. */
static void make_another(struct generator *generator)
{
    int64_t number = 2 + below(generator, STREAMS_MOST - 1);
    struct session_step *step;

    if (generator->live[number])
        return;
    generator_settle(generator);
    generator->stream = 1;
    step = generator_add_step(generator, "another");
    if (step == NULL)
        return;
    session_add(&step->members, "opens", number);
    session_open_another(generator->session, generator->draw, &step->members);
    choose_stream(generator);
    if (session_is_turned_down(&step->members))
        return;
    generator->live[number] = true;
    generator->stream = number;
    generator_send(generator); /* as at the beginning */
}

static size_t count_live(const struct generator *generator)
{
    size_t count = 0;

    for (size_t i = 1; i <= STREAMS_MOST; i++)
        count += generator->live[i];
    return count;
}

/* In the middle of its work: over SCTP a reset is that of the association. */
static const char *draw_break(struct generator *generator)
{
    if (!once_in(generator, 2))
        return once_in(generator, 2) ? "disconnect" : NULL;
    return generator->session->sctp == IWARP_SCTP_UNDECIDED && once_in(generator, 2) ? "reset" : "error";
}

/* The draft's streams have no end of their own: an error aborts them. */
static void end_stream(struct generator *generator)
{
    const char *how = generator->session->sctp == IWARP_SCTP_DRAFT02 ? "error" : draw_break(generator);
    bool abandons = how != NULL && strcmp(how, "disconnect") != 0 && once_in(generator, 2);
    struct session_step *step;

    if (count_live(generator) == 1)
        return;
    generator_settle(generator);
    if (abandons)
        generator_abandon_reads(generator);
    step = generator_add_step(generator, "end");
    if (step == NULL)
        return;
    if (how != NULL)
        session_add_word(&step->members, "how", how);
    generator->live[generator->stream] = false;
    choose_stream(generator);
    if (abandons) /* what they have left shows */
        generator_device_read(generator);
}

/* The tester closes its half before the device's ULP has posted all: that ULP closes the other half. */
static void end_by_halves(struct generator *generator)
{
    struct session *session = generator->session;

    for (size_t i = 0; i < session->step_count; i++)
        if (strcmp(session->steps[i].name, "another") == 0)
            return;
    if (session->ends != NULL || session->sctp == IWARP_SCTP_DRAFT02 || !once_in(generator, 8))
        return;
    session->ends = "half";
    session_add_flag(&session->device, "hold_open", true);
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

static void make_operation(struct generator *generator)
{
    choose_stream(generator);
    if (once_in(generator, 16))
        generator_settle(generator);
    else if (once_in(generator, 9))
        make_another(generator);
    else if (once_in(generator, 9))
        end_stream(generator);
    else if (once_in(generator, 20))
        make_pause(generator);
    else
        generator_operate(generator);
}

void session_generate(uint64_t seed, uint64_t number, enum iwarp_sctp_profile sctp, struct session *session,
                      struct session_draw *draw)
{
    struct generator generator = {.session = session, .draw = draw, .live = {[1] = true}, .stream = 1};
    int64_t count;

    memset(session, 0, sizeof(*session));
    session->seed = seed;
    session->number = number;
    draw->state = seed * UINT64_C(0x9E3779B97F4A7C15) ^ number * UINT64_C(0xD1B54A32D192ED03);
    session->sctp = sctp;
    session_open(session, draw, &generator.opening);
    count = 1 + below(&generator, 3);
    for (int64_t i = 0; i < count; i++)
        generator_add_region(&generator, &generator.regions[i]);
    /* A responder's FPDUs wait for the first of the initiator (RFC 5044 7.1.2). */
    generator_send(&generator);
    count = below(&generator, OPERATIONS_MOST);
    for (int64_t i = 0; i < count; i++)
        make_operation(&generator);
    end_by_halves(&generator);
}
