/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scripts of a fuzz target may compute a thousandth of what others may: one that counts for ever is stopped soon, by
 * what stops it elsewhere, and does not hold up the others. The linker wraps the call (mk/variant.mk).
 */
#include "conformance/engine/sandbox/lua_sandbox.h"

enum { WORK = 100000 };

int __real_lua_sandbox_open(struct lua_sandbox *sandbox, struct lua_account *account, int64_t work, void *owner,
                            struct iwarp_sentence *error);
int __wrap_lua_sandbox_open(struct lua_sandbox *sandbox, struct lua_account *account, int64_t work, void *owner,
                            struct iwarp_sentence *error);

int __wrap_lua_sandbox_open(struct lua_sandbox *sandbox, struct lua_account *account, int64_t work, void *owner,
                            struct iwarp_sentence *error)
{
    return __real_lua_sandbox_open(sandbox, account, work < WORK ? work : WORK, owner, error);
}
