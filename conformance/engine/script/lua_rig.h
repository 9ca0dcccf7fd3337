/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rig as Lua sees it: the table `rig` with time, the upper tester, and what the bindings of lower layers add to it.
 * Calls that wait run the rig until the awaited event has come or the time is up; times are seconds.
 *
 * For every check (lua_rig.c):
 *   rig.wait(seconds)  rig.now()  rig.limits()   reaction, quiet, round trip
 *   rig.addresses()                 own address, device's address, device's port
 *   rig.command(table)              one verb of the upper tester: its answer; raises INCONCLUSIVE when none comes
 *   rig.note(text)                  a comment in evidence and ladder
 *   rig.looked()  rig.look_at(place, kind)  what was read last, which a verdict is about; the same again later
 *
 * TCP (lua_tcp.c, and lua_tcp_connection.c for the methods of a connection):
 *   rig.connect(options)            a connection, or nil and why; options: port, mss, iss, window, source_port, and
 *                                   first: octets in the segment that carries the ACK of the SYN-ACK
 *   rig.listen(port, options)       the lower tester takes connections there; options: mss, iss, and
 *                                   withheld: nothing is acknowledged, from the first octet on
 *   rig.accept(port, seconds)       a connection, or nil
 *   rig.has_connect_command()  rig.start_initiator(port)    the profile's connect_command, for initiators without upper tester
 *
 *   connection:send(octets)  :segments(octets, lengths, order)  :raw(spec)  :fin(octets)  :reset()  :window(n)
 *   connection:ack(policy)   "each", "withheld", "now"
 *   connection:read(least, seconds) octets in order so far (not consumed), and "open", "fin", "reset", "timeout"
 *   connection:consume(n)  :skip(octets)  :status()  :unacknowledged()  :close()
 *   connection:mark_reported()      the verdict is about what the upper tester reported of this connection
 */
#ifndef CONFORMANCE_ENGINE_LUA_RIG_H
#define CONFORMANCE_ENGINE_LUA_RIG_H

#include <lua.h>

#include "conformance/engine/evidence/recorder.h"
#include "conformance/engine/rig/rig.h"

/* What the functions work on; one for each script host. */
struct lua_rig {
    struct rig *rig;
    struct recorder *recorder; /* or NULL */
    struct lua_held *held;     /* what the check has opened, the latest first */
    uint64_t cleared;          /* how often they were all ended: what Lua still holds is of no use then */
    bool link_failed;
    bool used; /* the check has asked the device, or its upper tester, for something; script_run() clears it */
    struct last_seen looked_at; /* what the check read last */
    uint64_t began_ns;          /* of the check, on the link's clock */
    uint64_t held_made, octets_sent, notes;
};

/* Leaves the table on the stack. `self` outlives the state. May raise errors. */
int lua_rig_open(lua_State *lua, struct lua_rig *self);

/* A check begins on this rig; or is over, with NULL. No connection is open. */
void lua_rig_begin(struct lua_rig *self, struct rig *rig, struct recorder *recorder);

/* Ends everything that a check has left open; scripts that still hold it get an error from it. */
void lua_rig_clear(struct lua_rig *self);

#endif
