#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# packaging/ci: what the templates call, as GitHub Actions, GitLab and Jenkins would call it: exit status, annotations, summary and the
# files that the templates name.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

export WARPCHECK CORPUS=$WORK/captures OUT=$WORK/warpcheck-out
mkdir -p "$CORPUS"
cp pcaps/generated/bad-crc.pcap "$CORPUS/"
github() { env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$WORK/summary.md" "$@"; }
export -f github

lines=any expect 1 "GitLab, a capture with a fault" packaging/ci/audit.sh
for file in $(grep -o 'warpcheck-out/[a-z.]*' packaging/ci/gitlab.yml packaging/ci/github.yml packaging/ci/Jenkinsfile packaging/ci/Jenkinsfile.audit -h | sort -u); do
	[ "$file" = warpcheck-out/ ] || holds "$file is there" test -s "$WORK/$file"
done
holds "no annotations outside GitHub" bash -c "! grep -q '^::' '$WORK/stdout'"
lines=any expect 1 "GitHub, the same" env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$WORK/summary.md" packaging/ci/audit.sh
holds "the finding is an annotation of the capture" grep -q '^::error file=.*/bad-crc.pcap,title=MPA-4.4-14 as initiator::FAIL in frame 7: expected ' "$WORK/stdout"
holds "each line of commands is one" bash -c "! grep '^::' '$WORK/stdout' | grep -vE '^::(error|warning|notice) [a-z]+=[^:]*::'"
holds "the step has a summary" grep -q 'MPA-4.4-14' "$WORK/summary.md"

lines=any expect 0 "expectations" "$WARPCHECK" audit "$CORPUS" --quiet --write-expect "$CORPUS/expected.tsv"
lines=any expect 0 "GitHub, all of it expected" env GITHUB_ACTIONS=true packaging/ci/audit.sh
holds "and no annotation but the outcome" test "$(grep -c '^::' "$WORK/stdout")" -eq 1
says '^::notice title=warpcheck::.* is as expected: .*; findings: [0-9]+ expected, 0 new$'
cp pcaps/generated/atomics.pcap "$CORPUS/100% new.pcap"
lines=any expect 1 "GitHub, a new capture" env GITHUB_ACTIONS=true packaging/ci/audit.sh
says '^::error title=warpcheck::[^(]* \([0-9]+ captures\) is not as expected: ' # of the folder, not of its first file
says '^::error file=.*100%25 new.pcap,title=ATOM-.*::FAIL in frame '
complains 'new: .*/100% new.pcap: ATOM-'
complains '^      actual  '
cp pcaps/generated/many-in-one.pcap "$CORPUS/bad-crc.pcap"
lines=any expect 1 "GitHub, a capture that was mended" env GITHUB_ACTIONS=true packaging/ci/audit.sh
complains 'missing: bad-crc.pcap: MPA-4.4-14 as initiator: FAIL was expected \(line [0-9]+\) and is gone: the capture is another one than it was$'
rm "$CORPUS/bad-crc.pcap"
lines=any expect 1 "GitHub, a capture that is gone" env GITHUB_ACTIONS=true packaging/ci/audit.sh
says '^::error file=.*expected.tsv,line=[0-9]+,title=missing MPA-4.4-14::bad-crc.pcap: FAIL was expected'
lines=any expect 2 "no captures" env CORPUS="$WORK/nowhere" packaging/ci/audit.sh

# The device is iwarp-peer in namespaces of the run's own.
unset OUT
cat >"$WORK/device.json" <<'JSON'
{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, "control": "127.0.0.1:7471" }
JSON
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
"$IWARP_PEER" --control 7471 ${DEFECT:+--defect "$DEFECT"} >"$WORK/peer.out" 2>&1 &
peer=$!
prints "$peer" "$WORK/peer.out" READY || exit 99
packaging/ci/device.sh
status=$?
{
	kill -KILL $peer
	wait $peer
} 2>/dev/null
exit $status
INSIDE
export WORK IWARP_PEER PROFILE=$WORK/device.json SELECT='DDP-7.2-0* MPA-4.4-13'
lines=any expect 0 "Jenkins, the first run" env OUT="$WORK/first" unshare -rn bash "$WORK/inside.sh"
lines=any expect 1 "a firmware with a fault" env OUT="$WORK/second" PREVIOUS="$WORK/first" DEFECT=ddp-qn-wrong-code unshare -rn bash "$WORK/inside.sh"
holds "what is new is told" grep -q '^new  *DDP-7.2-01' "$WORK/stdout"
lines=any expect 0 "the good one again" env OUT="$WORK/third" PREVIOUS="$WORK/first/results.jsonl" unshare -rn bash "$WORK/inside.sh"
holds "the templates call what is there" test "$(grep -ho 'packaging/ci/[a-z]*\.sh' packaging/ci/github.yml packaging/ci/gitlab.yml packaging/ci/Jenkinsfile | sort -u | xargs ls | wc -l)" -eq 2
holds "each template names a version" grep -q 'WARPCHECK_REF: v[0-9]' packaging/ci/github.yml packaging/ci/gitlab.yml
holds "no template installs what building does not need" bash -c "! grep -n 'make.* deps' packaging/ci/*"
# make compares times: what is restored beside a new checkout is older than its sources, and is made again.
holds "what is cached has its sources" test "$(sed -nE '/actions\/cache@/,/key:/s/^ *path: //p' packaging/ci/github.yml)" = warpcheck
holds "and is not checked out again" grep -q "if: steps.kept.outputs.cache-hit != 'true'" <(grep -B3 'repository: .*WARPCHECK_REPOSITORY' packaging/ci/github.yml)
holds "no tab in YAML" bash -c "! grep -nP '\t' packaging/ci/*.yml"
finish
