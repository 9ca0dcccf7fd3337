-- SPDX-License-Identifier: BSD-2-Clause
--
-- draft-stewart-rddp-sctp-02, section 6: the wrap of DDP-SSNs, and how many segments may be on their way.

defaults { llp = "sctp-draft02" }

check {
  id = "SCTP-6-12",
  purpose = "DDP-SSNs wrap from 65535 to 0, and segments around the wrap are put in order",
  run = function(t)
    local a = t:sctp_open()
    a:advance(a.sid, 65534)
    a:expect_sorted(a.sid, { 3, 2, 4, 1 })
  end,
}

check {
  id = "SCTP-6-10",
  purpose = "no more than 32767 segments of a stream are on their way without a SACK, and sending goes on with it",
  requires = "upper_tester",
  run = function(t) t:expect_limit() end,
}
