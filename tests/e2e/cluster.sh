#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# packaging/slurm on a cluster of one node, in a network namespace of its own: a corpus shared out and merged although parts of it
# do not conform, a part that is lost, devices side by side, and lists that cannot be. Without Slurm: a SKIP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
for program in slurmctld slurmd sbatch; do
	command -v "$program" >"$WORK/program" || { echo "no $program: tools/deps.sh cluster"; exit 77; }
done
if [ "${1:-}" != inside ]; then
	unshare -npf true 2>"$WORK/unshare" || { echo "no namespaces here, Slurm wants root: $(cat "$WORK/unshare")"; exit 77; }
	# The daemons are gone with the namespace of processes.
	exec unshare -npf --mount-proc --kill-child bash tests/e2e/cluster.sh inside
fi

ip link set lo up
ip address add 10.99.0.1/32 dev lo # with loopback alone, Slurm resolves no address
host=$(hostname)
export SLURM_CONF=$WORK/slurm.conf
mkdir -p "$WORK/state" "$WORK/spool"
# MessageTimeout, BatchStartTimeout: a busy machine answers late. MinJobAge: a job that is over can still be asked for.
cat >"$SLURM_CONF" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
SlurmctldLogFile=$WORK/slurmctld.log
SlurmdLogFile=$WORK/slurmd.log
MessageTimeout=100
BatchStartTimeout=240
MinJobAge=3600
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=0
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=short Nodes=one Default=YES MaxTime=INFINITE State=UP
END
slurmctld -D >"$WORK/ctld.out" 2>&1 &
controller=$!
slurmd -D -N one >"$WORK/slurmd.out" 2>&1 &
ready() { [ "$(sinfo -h -o %T 2>"$WORK/sinfo")" = idle ]; }
if ! eventually "$controller" ready; then
	echo "Slurm does not begin here: $(tail -n 1 "$WORK/ctld.out") $(tail -n 1 "$WORK/slurmd.out")"
	exit 77
fi
over() { [ -z "$(squeue -h -j "$1" 2>"$WORK/squeue")" ]; }
# Slurm says "1:0" for exit status 1 without a signal.
state() { scontrol show job "$1" 2>"$WORK/scontrol" | grep -oE 'ExitCode=[0-9]+' | sed -n 1p; } # of the first of an array

export WARPCHECK
corpus=$WORK/corpus
mkdir "$corpus"
for name in bad-crc long-messages every-opcode markers-alone marker-wrong; do cp "pcaps/generated/$name.pcap" "$corpus/"; done

expect 0 "a corpus in three parts" packaging/slurm/submit-audit.sh "$corpus" "$WORK/out" 3
audit=$(sed -n 's/^audit //p' "$WORK/stdout") merge=$(sed -n 's/^merge //p' "$WORK/stdout")
holds "the merge comes to its end" eventually "$controller" over "$merge"
holds "after parts of which one does not conform" grep -q 'ExitCode=1:0' < <(scontrol show job "$audit")
holds "and ends as the whole" test "$(state "$merge")" = ExitCode=1
expect 1 "an audit in one piece" "$WARPCHECK" audit "$corpus" -o "$WORK/whole"
results() { jq -cS 'select(.type == "result") | [.id, .role, .verdict, .file, .count]' "$1/results.jsonl" | LC_ALL=C sort; }
holds "has the same results" diff <(results "$WORK/whole") <(results "$WORK/out/report")
holds "and there is a page" test -s "$WORK/out/report/index.html"

rm -r "$WORK/out/part-2" "$WORK/out/report"
expect 0 "the merge without a part" sbatch --parsable --output="$WORK/merge.txt" packaging/slurm/merge.sbatch "$WORK/out" 3
merge=$(cat "$WORK/stdout")
holds "comes to its end" eventually "$controller" over "$merge"
holds "and says that it is missing" test "$(state "$merge")" = ExitCode=4

printf '# what is judged\n%s\n%s\n' $'good\t-\t-\t--simulate DDP-7.2*' $'bad\t-\tone\t--simulate DDP-7.2* --defect ddp-qn-wrong-code' >"$WORK/devices.tsv"
expect 0 "two devices" packaging/slurm/submit-devices.sh "$WORK/devices.tsv" "$WORK/devices"
matrix=$(sed -n 's/^matrix //p' "$WORK/stdout") bad=$(sed -n 's/^device \([0-9]*\) bad$/\1/p' "$WORK/stdout")
holds "the matrix comes to its end" eventually "$controller" over "$matrix"
holds "after a device that does not conform" test "$(state "$bad")" = ExitCode=1
holds "and shows both" test "$(grep -oE '<th>(good|bad)</th>' "$WORK/devices/matrix.html" | sort -u | wc -l)" -eq 2

expect 2 "no corpus" packaging/slurm/submit-audit.sh "$WORK/absent" "$WORK/x"
complains 'absent cannot be read'
expect 2 "no number" packaging/slurm/submit-audit.sh "$corpus" "$WORK/x" 0
printf 'a b\t-\t-\t\n' >"$WORK/devices.tsv"
expect 2 "a name that is none" packaging/slurm/submit-devices.sh "$WORK/devices.tsv" "$WORK/x"
complains 'devices.tsv:1: "a b" is no name of a folder'
printf 'a\tabsent.json\t-\t\n' >"$WORK/devices.tsv"
expect 2 "a profile that is not there" packaging/slurm/submit-devices.sh "$WORK/devices.tsv" "$WORK/x"
printf 'a\t-\t-\t\na\t-\t-\t\n' >"$WORK/devices.tsv"
expect 2 "a device twice" packaging/slurm/submit-devices.sh "$WORK/devices.tsv" "$WORK/x"
complains 'stands there twice'
holds "and no job began" test ! -e "$WORK/x"
finish
