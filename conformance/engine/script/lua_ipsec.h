/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tester's IPsec in the table `rig` (lua_rig.h):
 *
 *   rig.has_ipsec()     whether the run reaches its device through ESP, and what it began with, in words
 *   rig.ipsec(request)  the answer to a request of conformance/engine/ipsec/ipsec_tester.h; frames move meanwhile
 *   rig.ipsec_base()    what the run began with is in force again; nothing happens where it is, or where there is none
 */
#ifndef CONFORMANCE_ENGINE_LUA_IPSEC_H
#define CONFORMANCE_ENGINE_LUA_IPSEC_H

#include "conformance/engine/script/lua_rig_internal.h"

#endif
