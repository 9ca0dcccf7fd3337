# SPDX-License-Identifier: BSD-2-Clause
#
# A cable inside a network namespace, for end-to-end scripts whose device is a program on the kernel's TCP; to be sourced in there.
#
#   cable DEVICE TESTER ADDRESS/PREFIX   a veth pair: DEVICE has the address, TESTER is bare, both and lo are up. The kernel cuts
#                                        its segments and makes its checksums itself, as on a wire
#   plain_segments DEVICE                that last part alone
plain_segments() {
	# ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO by SIOCETHTOOL: ethtool need not be there
	perl -e 'use Socket; socket(my $s, AF_INET, SOCK_DGRAM, 0) or die "$!\n";
		for my $command (0x17, 0x1f, 0x24) {
			my $value = pack("LL", $command, 0);
			my $request = pack("a16 P x16", $ARGV[0], $value);
			ioctl($s, 0x8946, $request) or die sprintf("offload %#x of %s: %s\n", $command, $ARGV[0], $!);
		}' "$1"
}

cable() {
	ip link add "$1" type veth peer name "$2" || return 1
	plain_segments "$1" || return 1
	ip addr add "$3" dev "$1" && ip link set lo up && ip link set "$1" up && ip link set "$2" up
}
