/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_layer.h"

#include "wire/mpa.h"

enum { STARTUP_MILLISECONDS = 1000 /* less than a check waits for a reaction */ };

static void open_tcp(struct session *session, struct session_draw *draw)
{
    /* MULPDU is never below 128 (RFC 5044 3): it meets that where the EMSS is a little above. */
    const int64_t sizes[] = {128 + (int64_t)session_below(draw, 32), 536, 700, 1000, 1220};

    if (session_once_in(draw, 4))
        session_add_flag(&session->own, "M", true);
    if (session_once_in(draw, 6))
        session_add_flag(&session->own, "C", false);
    if (session_once_in(draw, 4))
        session_add_flag(&session->device, "markers", true);
    if (session_once_in(draw, 5))
        session_add_flag(&session->device, "crc", false);
    session_open_depths(session, draw);
    if (!session->initiator && session_once_in(draw, 2))
        session_open_word(session, draw);
    if (session->initiator && session_once_in(draw, 2)) {
        session_add(&session->device, "rev", 2);
        if (session_once_in(draw, 3))
            session_add_flag(&session->device, "p2p", true);
    }
    if (session_once_in(draw, 4))
        session_add(&session->open, "mss", sizes[session_below(draw, sizeof(sizes) / sizeof(sizes[0]))]);
    if (session_once_in(draw, 6))
        session_add(&session->open, "cut", 15 + (int64_t)session_below(draw, 60));
}

/* Another connection, with Markers and CRCs of its own. */
static void open_another_tcp(const struct session *session, struct session_draw *draw, struct session_members *step)
{
    if (session_once_in(draw, 3))
        session_add_flag(step, "M", session_once_in(draw, 2));
    if (session_once_in(draw, 3))
        session_add_flag(step, "markers", session_once_in(draw, 2));
    if (session_once_in(draw, 4))
        session_add_flag(step, "C", session_once_in(draw, 2));
    if (session_once_in(draw, 4))
        session_add_flag(step, "crc", session_once_in(draw, 2));
    if (session->word.count != 0 && session_once_in(draw, 2))
        session_draw_depths(draw, step);
}

static void send_tcp(struct session_draw *draw, struct session_members *step, int64_t least)
{
    if (!session_once_in(draw, 5))
        return;
    session_add(step, "cut", 2 * least + 60 + (int64_t)session_below(draw, 900));
    if (session_once_in(draw, 3))
        session_add_flag(step, "backwards", true);
}

static void wrong_fpdu(struct session_draw *draw, struct session_members *fpdu)
{
    switch (session_below(draw, 8)) {
    case 0:
    case 1:
    case 2: session_add(fpdu, "crc_flip", 1 + (int64_t)session_below(draw, UINT32_MAX)); break;
    case 3:
        session_add(fpdu, "longer",
                    session_once_in(draw, 2) ? 1 + (int64_t)session_below(draw, 600)
                                             : -1 - (int64_t)session_below(draw, 40));
        break;
    case 4:
        if (session_once_in(draw, 2))
            session_add(fpdu, "pad_octets", (int64_t)session_below(draw, 5));
        else
            session_add(fpdu, "pad_value", 1 + (int64_t)session_below(draw, UINT8_MAX));
        break;
    case 5: session_add_flag(fpdu, "crc_swapped", true); break;
    case 6:
        session_add(fpdu, "marker_index", 0);
        session_add(fpdu, "marker_flip", 1 + (int64_t)session_below(draw, 0xFFFF));
        break;
    default:
        session_add(fpdu, "marker_index", 0);
        session_add(fpdu, "marker_reserved", 1 + (int64_t)session_below(draw, 0xFFFF));
        break;
    }
}

/* A word that is not there, or not whole, where S and Rev say that there is one; or Rev 2 without S. */
static void wrong_word(struct session *session, struct session_draw *draw)
{
    session->word.count = 0;
    session_drop(&session->open, "private");
    session_add(&session->own, "Rev", 2);
    if (!session_once_in(draw, 3))
        session_add_flag(&session->own, "S", true);
    if (session_once_in(draw, 2))
        session_add(&session->open, "private", 1 + (int64_t)session_below(draw, 3));
}

static void wrong_revision(struct session_draw *draw, struct session_members *wrong)
{
    session_add_word(wrong, "of", mpa_start_layout.id);
    session_add_word(wrong, "field", "Rev");
    session_add(wrong, "at", 0);
    session_add(wrong, "bits", 8);
    session_add(wrong, "flip", INT64_C(1) << session_below(draw, 8));
}

static void wrong_start_frame(struct session *session, struct session_draw *draw)
{
    struct session_members *wrong = &session->wrong_start.what;
    bool word = session->word.count != 0 || session_number(&session->device, "rev", 1) == 2;
    uint64_t whole = mpa_start_layout.octets + (uint64_t)session_number(&session->open, "private", 0);

    switch (session_below(draw, 11)) {
    case 10: /* a FIN cuts it short */
        session_add(wrong, "less", 1 + (int64_t)session_below(draw, whole));
        session_add_flag(wrong, "fin", true);
        break;
    case 0: /* it never comes whole, and the device does not wait for ever */
        session_add(wrong, "keep", (int64_t)session_below(draw, 24));
        session_add(&session->device, "startup_ms", STARTUP_MILLISECONDS);
        break;
    case 1: session_add(wrong, "more", 1 + (int64_t)session_below(draw, 40)); break;
    case 2:
    case 3: session_change_octet(draw, wrong, (unsigned)mpa_start_layout.octets); break; /* most of it is the Key */
    case 4: wrong_word(session, draw); break;
    case 5: wrong_revision(draw, wrong); break;
    case 6:
    case 7:
        if (word) {
            session_change_field(draw, wrong, &mpa_enhanced_layout, (unsigned)mpa_start_layout.octets);
            break;
        }
        /* fall through */
    default: session_change_field(draw, wrong, &mpa_start_layout, 0); break;
    }
}

const struct session_layer session_tcp = {
    .llp = "tcp",
    .frame = "fpdu",
    .open = open_tcp,
    .open_another = open_another_tcp,
    .send = send_tcp,
    .wrong_frame = wrong_fpdu,
    .wrong_start = wrong_start_frame,
};
