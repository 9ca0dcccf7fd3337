#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# submit-audit.sh CORPUS OUT [PARTS]: audits a folder of captures as an array of PARTS (4) Slurm jobs, and merges their results when
# all have ended, whatever they found. Prints the ids of the array and of the merge.
set -eu
usage() {
	echo "submit-audit.sh: $1; usage: submit-audit.sh CORPUS OUT [PARTS]" >&2
	exit 2
}
case $# in 2 | 3) ;; *) usage "a corpus and an output folder were expected" ;; esac
corpus=$1 out=$2 parts=${3:-4}
[ -r "$corpus" ] || usage "$corpus cannot be read"
case $parts in '' | *[!0-9]* | 0*) usage "\"$parts\" is no number of parts" ;; esac
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
corpus=$(realpath "$corpus") out=$(realpath "$out")

audit=$(sbatch --parsable --array="1-$parts" --output="$out/part-%a.txt" "$here/audit.sbatch" "$corpus" "$out")
# afterany: a part with captures that do not conform is a result, and no failure of the job.
merge=$(sbatch --parsable --dependency="afterany:${audit%%;*}" --output="$out/report.txt" "$here/merge.sbatch" "$out" "$parts")
echo "audit ${audit%%;*}"
echo "merge ${merge%%;*}"
