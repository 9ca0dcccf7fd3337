#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# submit-devices.sh LIST OUT: judges each device of a list (README.md) in a Slurm job of its own, and shows them side by side when all
# have ended, whatever was found. Prints the ids of the jobs.
set -eu
usage() {
	echo "submit-devices.sh: $1; usage: submit-devices.sh LIST OUT" >&2
	exit 2
}
[ $# -eq 2 ] || usage "a list and an output folder were expected"
list=$1 out=$2
[ -r "$list" ] || usage "$list cannot be read"
here=$(cd "$(dirname "$0")" && pwd)
tab=$(printf '\t')

# Every line is looked at before the first job begins.
number=0 devices=' '
while IFS=$tab read -r name profile node options || [ -n "${name:-}" ]; do
	number=$((number + 1))
	case $name in '' | '#'*) continue ;; .* | *[!A-Za-z0-9._-]*) usage "$list:$number: \"$name\" is no name of a folder" ;; esac
	[ -n "$node" ] || usage "$list:$number: name, profile, node and options were expected, separated by tabs"
	[ "$profile" = - ] || [ -r "$profile" ] || usage "$list:$number: the profile $profile cannot be read"
	case $devices in *" $name "*) usage "$list:$number: \"$name\" stands there twice" ;; esac
	devices="$devices$name "
done <"$list"
[ "$devices" != ' ' ] || usage "$list: no device"
mkdir -p "$out"
out=$(realpath "$out")

after=
while IFS=$tab read -r name profile node options || [ -n "${name:-}" ]; do
	case $name in '' | '#'*) continue ;; esac
	[ "$profile" = - ] || profile=$(realpath "$profile")
	set --
	[ "$node" = - ] || set -- --nodelist="$node"
	# shellcheck disable=SC2086 # options, separated by spaces
	job=$(sbatch --parsable --output="$out/$name.txt" "$@" "$here/device.sbatch" "$name" "$profile" "$out" $options </dev/null)
	echo "device ${job%%;*} $name"
	after=$after:${job%%;*}
done <"$list"
# afterany: a device that does not conform is a result, and no failure of the job.
# shellcheck disable=SC2086 # names without spaces
matrix=$(sbatch --parsable --dependency="afterany$after" --output="$out/matrix.txt" "$here/matrix.sbatch" "$out" $devices)
echo "matrix ${matrix%%;*}"
