-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 8.2.2 item 4, RFC 5041 8.4.2, RFC 5044 9.4, RFC 7146: an SA goes, and the stream stays.

local IDLE_SECONDS = 3

local function after_delete(t, version, what)
  local agreement = t:offer { version = version }
  if not agreement.up then
    rig.ipsec_base()
    t:skip("the device does not agree to " .. agreement.text .. ", whose delete this is")
  end
  local c = t:protected_stream()
  local answer = rig.ipsec { verb = "delete" }
  if not answer.log:find("sending DELETE for ESP", 1, true) then
    t:inconclusive("the tester's IKE did not send the delete")
  end
  rig.wait(IDLE_SECONDS)
  t:renew_sa(what)
  return c
end

check {
  id = "MPA-9.4-03",
  also = { "RDMAP-8.2.2-07", "DDP-8.4.2-07" },
  purpose = "an IKEv1 Phase 2 delete for the SA of an idle stream does not end the stream: it goes on inside a new SA",
  lasts = 8,
  run = function(t)
    local what = "an IKEv1 Phase 2 delete"
    t:expect_stream_lives(after_delete(t, 1, what), what)
  end,
}

check {
  id = "RDMAP-8.2.2-08",
  purpose = "an IKEv2 delete for the SA of an idle stream does not end the stream",
  lasts = 8,
  run = function(t)
    local what = "an IKEv2 delete"
    t:expect_stream_lives(after_delete(t, 2, what), what)
  end,
}

check {
  id = "MPA-9.4-02",
  purpose = "an SA that the tester deletes because it is idle is replaced when the stream is used again",
  lasts = 12,
  run = function(t)
    t:need_ipsec()
    local agreement = t:offer { version = 1, idle = IDLE_SECONDS }
    if not agreement.up then agreement = t:offer { version = 2, idle = IDLE_SECONDS } end
    if not agreement.up then t:inconclusive("no agreement: " .. agreement:outcome()) end
    local c = t:protected_stream()
    if not t:await_no_sa(IDLE_SECONDS + t.reaction + 5) then
      t:inconclusive("the idle SA was not deleted: something else uses it")
    end
    t:renew_sa("the delete of an idle SA")
    t:expect_stream_lives(c, "the delete of an idle SA")
  end,
}
