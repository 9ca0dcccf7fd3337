-- run 1 1 FAIL
-- SPDX-License-Identifier: BSD-2-Clause
-- A failure is a failure, however much its script says: results.jsonl stays readable.
check { id = "A-1", purpose = "p", run = function(t) t:fail(("x"):rep(1 << 26)) end }
