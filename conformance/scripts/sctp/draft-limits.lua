-- SPDX-License-Identifier: BSD-2-Clause
--
-- draft-stewart-rddp-sctp-02, sections 6 and 7.3: the wrap of DDP-SSNs, how many segments may be on their way, and how
-- soon they leave.

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
  id = "SCTP-6-04",
  purpose = "the device's DDP-SSNs rise by one from segment to segment, and go on with 0 after 65535",
  requires = "upper_tester",
  lasts = 10,
  run = function(t) t:expect_wrap() end,
}

check {
  id = "SCTP-6-10",
  also = { "SCTP-6-11" }, -- Writes need no credits of a ULP: what limits them is the layer itself
  purpose = "no more than 32767 segments of a stream are on their way without a SACK, and sending goes on with it",
  requires = "upper_tester",
  run = function(t) t:expect_limit() end,
}

check {
  id = "SCTP-7.3-01",
  role = "both",
  purpose = "a single Send does not wait for others that could share its packet",
  requires = "upper_tester",
  run = function(t) t:expect_prompt_sends() end,
}
