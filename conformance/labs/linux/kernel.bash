# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # here, work, LAB_DEVICE and others: variables of run.sh
#
# Other kernels than Debian's for run.sh, which sources it (docs/lab-kernels.md). warpcheck run has refused what excludes each other.
#
#   --siw-source DIR      siw of that tree, or of that folder, against the headers of the guest's kernel
#   --kernel-tree DIR     the kernel of that tree, and its modules (build-tree.sh)
#   --kernel-config NAME  built from that tree first (build-kernel.sh)
#   --panic-on-warn       the first warning ends the guest
#   --guest ADDRESS       no guest is booted: the one at that address runs already, and so does its agent (guest.sh), on port 7471
#   --guest-token FILE    what that agent has to be shown
#
# LAB_MEMORY: MiB of the guest in place of what its kernel's options want. LAB_REACTION: seconds that it may take to react, in place of kernel_machine's.
kernel_options=() kernel_tree='' siw_source='' kernel_configs=() guest_address='' guest_token=''
siw_fixed=rev=2,enhanced=yes,markers=no,crc=no,p2p=no,rtr=write+read,terminate_swapped=yes # what siw does by itself (warpcheck-agent --fixed)
LAB_APPEND=${LAB_APPEND:-} LAB_NAMED=${LAB_NAMED:-}

# kernel_option WORD...: whether the first word is such an option; it is taken then, with its value (the second word, unless it has a "=").
kernel_option() {
	local name=${1%%=*} value=${2:-}
	[[ $1 != *=* ]] || value=${1#*=}
	case $name in
	--siw-source) siw_source=$value ;;
	--kernel-tree) kernel_tree=$value ;;
	--kernel-config) kernel_configs+=("$value") ;;
	--guest) guest_address=$value ;;
	--guest-token) guest_token=$value ;;
	--panic-on-warn)
		LAB_APPEND+=' panic_on_warn=1' LAB_NAMED+=' --panic-on-warn'
		kernel_options+=(--panic-on-warn)
		return
		;;
	*) return 1 ;;
	esac
}

kernel_folder() { # OPTION DIR
	local folder
	[ -d "$2" ] || complain "$1 $2: no such folder"
	folder=$(realpath "$2")
	[[ $folder =~ ^[A-Za-z0-9_./+@-]+$ ]] || complain "$1 $2: the kernel's make takes no path with blanks, colons and the like"
	echo "$folder"
}

# What the options say is built, and named where a command repeats the run.
kernel_prepare() {
	local config built
	if [ -n "$siw_source" ]; then
		SIW_SOURCE=$(kernel_folder --siw-source "$siw_source")
		export SIW_SOURCE
		kernel_options+=(--siw-source "$SIW_SOURCE")
		LAB_NAMED+=" --siw-source $SIW_SOURCE"
	fi
	[ -n "$kernel_tree" ] || return 0
	kernel_tree=$(kernel_folder --kernel-tree "$kernel_tree")
	LAB_NAMED+=" --kernel-tree $kernel_tree"
	if [ ${#kernel_configs[@]} -gt 0 ]; then
		for config in "${kernel_configs[@]}"; do
			[[ $config =~ ^[A-Za-z0-9_./+@-]+$ ]] || complain "--kernel-config $config: a name or a path without blanks and the like was expected"
			LAB_NAMED+=" --kernel-config $config"
		done
		[ "$LAB_DEVICE" != linux-sctp ] || kernel_configs+=(sctp)
		built=$("$here/build-kernel.sh" "${kernel_configs[@]/#/--kernel-config=}" "$kernel_tree") || complain "the kernel of $kernel_tree could not be built (see above)"
		kernel_tree=${built##*$'\n'}
	fi
	kernel_options+=(--kernel-tree "$kernel_tree")
	export LAB_TREE=$kernel_tree
}

# memory, processors, slow and leaks of the guest, how many checks run side by side, and the seconds that it may take to boot and to react. On 6.12 siw
# has moments of some seconds in which no initiator gets on, and checks side by side would fail for each other. On a loaded machine one with KASAN was
# silent for 25 s.
kernel_machine() {
	memory=768 processors=1 slow=no leaks=no
	if [ -s "$LAB_IMAGE/machine" ]; then
		local word
		for word in $(<"$LAB_IMAGE/machine"); do declare -g "${word%%=*}=${word#*=}"; done
	fi
	: "${BOOT_SECONDS:=$([ "$slow" = no ] && echo 180 || echo 600)}"
	memory=${LAB_MEMORY:-$memory}
	jobs=6
	[ "$LAB_DEVICE" != linux-sctp ] || jobs=8
	[ "$slow" = no ] || jobs=3
	jobs=${LAB_JOBS:=$jobs}
	reaction=2
	[ "$LAB_DEVICE" != linux-siw ] || [ "$LAB_SERIES" = 6.1 ] || reaction=12
	[ "$slow" = no ] || reaction=30
	reaction=${LAB_REACTION:-$reaction}
}

# guest_run OPTIONS...: the run against a guest that runs already, from the machine that reaches it; its status. The tester has an address of its own in the
# guest's network, which no kernel answers for: LAB_OWN, or the guest's with 3 as its last octet (or 4).
guest_run() {
	local route interface own status=0
	route=$(ip -4 route get "$guest_address" 2>/dev/null) || complain "--guest $guest_address: an IPv4 address to which this machine has a route was expected"
	interface=$(sed -n 's/.* dev \([^ ]*\).*/\1/p' <<<"$route")
	[[ $route != *' via '* ]] || complain "--guest $guest_address is behind a router: the tester has to be in the guest's own network"
	[ -s "$guest_token" ] || complain "--guest-token $guest_token: no such file, or an empty one"
	own=${guest_address%.*}.3
	[ "$guest_address" != "$own" ] || own=${guest_address%.*}.4
	sed -e "s/@ADDRESS@/$guest_address/; s/@OWN@/${LAB_OWN:-$own}/; s/@NAME@/$LAB_DEVICE/; s,@DUT@,$LAB_DEVICE --guest $guest_address --guest-token $(realpath "$guest_token")," \
		-e "s/\"@BESIDE@\"//; s/@LLP@/tcp/; s,@TOKEN@,$(realpath "$guest_token"),; s/\"reaction_seconds\": 2,/\"reaction_seconds\": ${LAB_REACTION:-12},/" \
		-e "s/\"interface\": \"[^\"]*\"/\"interface\": \"$interface\"/; s/10\.78\.0\.2:/$guest_address:/" "$here/$LAB_DEVICE.json.in" >"$LAB_WORK/guest.json"
	"$WARPCHECK" run --dut "$LAB_WORK/guest.json" "$@" || status=$?
	exit_with "$status"
}
