# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # faults: a variable of those who source it
#
# head_of NAME FIELD [DEFAULT]: what the head of $faults/NAME.patch says of itself, in its line "FIELD: ...". For seeded.sh and seeded-host.sh.
head_of() {
	local value
	value=$(sed -n "/^---/q; s/^$2: //p" "$faults/$1.patch")
	echo "${value:-${3:-}}"
}
