# SPDX-License-Identifier: BSD-2-Clause
#
# Completion of warpcheck and iwarp-peer for bash: what `warpcheck complete` finds. Sourced as it is, or installed as
# share/bash-completion/completions/warpcheck and iwarp-peer.

_warpcheck() {
	local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} program=warpcheck line word words=()
	COMPREPLY=()
	# bash takes "--format=j" for three words; the one after the sign is what is completed.
	for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
		[[ $word == = ]] || words+=("$word")
	done
	[[ $current != = ]] || { current='' && words+=(''); }
	# The program that is being typed, wherever it is; beside iwarp-peer there is warpcheck.
	case $1 in
	*iwarp-peer) [[ $1 != */* ]] || program=${1%iwarp-peer}warpcheck ;;
	*) program=$1 ;;
	esac
	while read -r line; do
		case $line in
		:files) compopt -o filenames 2>/dev/null; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
		:folders) compopt -o filenames 2>/dev/null; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("$program" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _warpcheck warpcheck iwarp-peer
