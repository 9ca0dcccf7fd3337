# SPDX-License-Identifier: BSD-2-Clause
#
# Commands of the upper tester (docs/upper-tester.md) that must be refused, one a line: every member of every verb with
# values of every wrong type or out of range, every needed member missing, a member that the verb does not know.
# Named arguments: stream, stag, port (of a listener); association: the verbs of an association over SCTP, and no others. The tag of each says what is wrong with it.

def number($most): [null, true, {}, [], "", "x", "0x", "-1", "1 ", " 1", "1e3", "0x1G", 1.5, 1e300, "18446744073709551616"]
	+ (if $most == null then [] else [-1, $most + 1, "\($most + 1)"] end);
def switch: [null, 0, 1, "true", [], {}];
def hex: [null, 7, true, [], {}, "0", "zz", "0g", "0x00", "é", " 00"];
def gather: [[7], [null], ["00", 7], ["0", "0"], [["00"]], ["zz"]];
def word: [null, 7, true, [], {}, "", "x", "AUTO"];
def list: [null, 7, "send", {}, [7], ["x"], [null], [[]], [""]];

def options: {
	rev: (number(2) + [0]), enhanced: switch, markers: switch, crc: switch, ird: number(16383), ord: number(16383), p2p: switch,
	rtr: (list + [[], ["send", "send"]]), private_data: (hex + ["00" * 513]), accept: word, extensions: word, pd: number(4294967295),
	receives: number(65536), receive_octets: number(16777216), repost: switch, echo: switch, hold_open: switch, emss: number(65535),
	streaming: (hex + ["00" * 65]), streaming_octets: number(64), private_data_room: number(512), mpa_role: word, modify_fails: switch, rev0: switch, smbd: switch, trace: switch,
	completions: number(65536), startup_ms: number(86400000), linger_ms: number(86400000), teardown_ms: number(86400000)
};

def verbs: {
	capabilities: {},
	listen: (options + {port: number(65535)}),
	unlisten: {port: number(65535)},
	connect: (options + {address: [null, 7, true, [], {}, "", "localhost", "192.0.2", "192.0.2.1.1", "::1::", "192.0.2.1 "], port: number(65535)}),
	accept: {stream: number(4294967295), private_data: hex, ird: number(16383), ord: number(16383)},
	reject: {stream: number(4294967295), private_data: hex},
	reg_mr: {length: number(67108864), local_write: switch, base: number(null), access: list, pd: number(4294967295), stream: number(4294967295),
		stag: number(4294967295), fill: number(255), data: hex},
	dereg: {stag: number(4294967295)},
	invalidate: {stag: number(4294967295)},
	bounds: {stag: number(4294967295), length: number(4096)},
	mem_read: {stag: number(4294967295), offset: number(4096), length: number(4096)},
	mem_write: {stag: number(4294967295), offset: number(4096), data: (hex + ["00" * 4097])},
	post_recv: {stream: number(4294967295), length: number(16777216), count: number(65536), id: number(9223372036854775807)},
	send: {stream: number(4294967295), data: (hex + gather), length: number(16777216), solicited: switch, invalidate: number(4294967295),
		opcode: (number(15) + [1, 2, 7, 8, 15]),
		id: number(9223372036854775807)},
	write: {stream: number(4294967295), stag: number(4294967295), to: number(null), data: (hex + gather), length: number(16777216),
		id: number(9223372036854775807)},
	read: {stream: number(4294967295), source_stag: number(4294967295), source_to: number(null), sink_stag: number(4294967295),
		sink_to: number(null), length: number(4294967295), id: number(9223372036854775807)},
	atomic: {stream: number(4294967295), operation: word, stag: number(4294967295), to: number(null), data: number(null),
		mask: number(null), compare: number(null), compare_mask: number(null), id: number(9223372036854775807)},
	immediate: {stream: number(4294967295), data: (hex + ["", "00" * 7, "00" * 9]), solicited: switch, id: number(9223372036854775807)},
	terminate: {stream: number(4294967295), layer: number(15), etype: number(15), code: number(255)},
	disconnect: {stream: number(4294967295)},
	abort: {stream: number(4294967295)},
	poll: {},
	status: {stream: number(4294967295)},
	mpa: {stream: number(4294967295)},
	set_emss: {stream: number(4294967295), emss: number(65535)},
	post_ulpdu: {stream: number(4294967295), length: number(65535), stag: number(4294967295)},
	regions: {},
	fault: {},
	ddp: {stream: number(4294967295)},
	msn: {stream: number(4294967295), send: number(4294967295), receive: number(4294967295)},
	mulpdu: {stream: number(4294967295), mulpdu: (number(65471) + [127])},
	set_pd: {stream: number(4294967295), pd: number(4294967295)},
	placements: {stream: number(4294967295)},
	hold: {stream: number(4294967295), hold: switch},
	catastrophe: {stream: number(4294967295), kind: word},
	inject: {stream: number(4294967295), data: hex},
	number: {stag: number(4294967295), offset: (number(4088) + [4089]), value: number(null)},
	reset: {}
};

def association_verbs: {
	association: {association: number(4294967295)},
	set_mtu: {association: number(4294967295), mtu: (number(9000) + [0, 511])},
	shutdown: {association: number(4294967295)},
	abort_association: {association: number(4294967295)}
};

# What each verb cannot do without. Nothing of it is ever obeyed: one more member is always wrong.
def needed: {
	unlisten: {port: $port}, connect: {address: "192.0.2.1", port: 1}, accept: {stream: $stream}, reject: {stream: $stream},
	reg_mr: {length: 8}, dereg: {stag: $stag}, invalidate: {stag: $stag}, mem_read: {stag: $stag},
	mem_write: {stag: $stag, data: "00"}, post_recv: {stream: $stream}, send: {stream: $stream}, write: {stream: $stream, stag: $stag},
	read: {stream: $stream, source_stag: $stag}, atomic: {stream: $stream, operation: "fetch_add", stag: $stag},
	immediate: {stream: $stream, data: "0001020304050607"}, terminate: {stream: $stream}, disconnect: {stream: $stream},
	abort: {stream: $stream}, status: {stream: $stream},
	mpa: {stream: $stream}, set_emss: {stream: $stream, emss: 1460}, post_ulpdu: {stream: $stream, length: 14},
	bounds: {stag: $stag, length: 8}, ddp: {stream: $stream}, msn: {stream: $stream, send: 1, receive: 1},
	mulpdu: {stream: $stream, mulpdu: 1000}, set_pd: {stream: $stream, pd: 1}, placements: {stream: $stream}, hold: {stream: $stream},
	catastrophe: {stream: $stream, kind: "ddp"}, inject: {stream: $stream, data: "00"}, number: {stag: $stag}
};

$ARGS.named.association as $association |
(if $association == null then verbs else association_verbs end) | to_entries[] | .key as $verb | .value as $members |
(if $association == null then needed[$verb] // {} else {association: $association} + (if $verb == "set_mtu" then {mtu: 1400} else {} end) end) as $least |
(
	($members | to_entries[] | .key as $name | .value | unique[] | . as $value |
		$least + {verb: $verb, ($name): $value, tag: [$verb, $name, $value]}),
	($least | keys[] | . as $name | $least + {verb: $verb, tag: [$verb, $name, "absent"]} | delpaths([[$name]])),
	($least + {verb: $verb, ("no_" + $verb): 1, tag: [$verb, "no_" + $verb, "not a member"]}),
	($least + {verb: $verb, Stream: 1, tag: [$verb, "Stream", "not a member"]})
)
