/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CM in the table `rig` (lua_rig.h): exchanges on the rig's CM endpoint (generator/cm/cm_endpoint.h).
 *
 *   rig.cm_open()             a client's exchange with the device: fresh IDs, nothing is sent
 *   rig.cm_accept(seconds)    a server's exchange, of the oldest REQ that came and was not taken; or nil
 *   rig.cm_forget()           REQs that nobody took are rejected
 *   exchange:send(mad, options)  256 octets, as they are. options: attempts, interval (seconds), icrc_flip (bits of the ICRC)
 *   exchange:receive(seconds) the next MAD that came, and whether its ICRC is correct; nil when the time is up
 *   exchange:receive(seconds, true)  nil also when what was sent last has been answered, or is not waited for any more
 *   exchange:status()         state, client, local_id, remote_id, transaction, qpn, psn, ca_guid, waiting, attempts, repeated
 *   exchange:close()          ends the exchange with the device: REJ or DREQ
 */
#ifndef CONFORMANCE_ENGINE_LUA_CM_H
#define CONFORMANCE_ENGINE_LUA_CM_H

#include "conformance/engine/script/lua_rig_internal.h"

#endif
