#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# suites.sh LIST: writes the C table of unit test suites; LIST holds one name a line, NAME for tests/unit/*/test_NAME.c.
set -euo pipefail
names=$(sed '/^$/d; s/-/_/g' "$1")
echo '/* Made by tools/suites.sh; not to be edited. */'
echo '#include "tests/unit/suites.h"'
for n in $names; do echo "Suite *${n}_suite(void);"; done
echo 'const struct unit_suite unit_suites[] = {'
for n in $names; do echo "    {\"$n\", ${n}_suite},"; done
echo '    {NULL, NULL},'
echo '};'
