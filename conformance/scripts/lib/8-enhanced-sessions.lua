-- SPDX-License-Identifier: BSD-2-Clause
--
-- Sessions over SCTP that are set up with the IRD/ORD word (RFC 6581 7).

ENHANCED = { Initiate = "Enhanced Initiate", Accept = "Enhanced Accept", Reject = "Enhanced Reject" }

-- The word, with IRD and ORD of 4 unless given.
function enhanced_word(fields)
  local all = { IRD = 4, ORD = 4 }
  for name, value in pairs(fields or {}) do all[name] = value end
  return wire.pack("mpa_enhanced", all)
end

-- An association in which an enhanced session is asked for. options: dut (of the verb listen or connect), sid; where
-- the tester asks, also fields (of the word), data, and last: on the last SID. As initiator the device asks, and its
-- Enhanced Initiate comes second.
function Test:enhanced_asked(options)
  options = options or {}
  local dut, sid = copy_fields(options.dut), options.sid or 0
  if self.role == "initiator" then
    dut.enhanced, dut.sid = true, options.sid
    local a = self:associate { dut = dut }
    local got = a:expect_control(options.sid, ENHANCED.Initiate, "the device asks for an enhanced session")
    a.sid = got.sid
    return a, got
  end
  local port = options.dut and self:listen(dut)
  local a = self:associate { tester = { port = port } }
  if options.last then sid = a:streams() - 1 end
  a.port, a.sid = port, sid
  a:control(sid, ENHANCED.Initiate, { data = enhanced_word(options.fields) .. (options.data or "") })
  return a
end

-- An enhanced session, whoever asks for it. Returns the association, its SID, and the device's Initiate or Accept.
function Test:enhanced_opened(options)
  options = options or {}
  local a, got = self:enhanced_asked(options)
  if self.role == "initiator" then
    a:control(a.sid, ENHANCED.Accept, { data = enhanced_word(options.fields) })
  else
    got = a:expect_control(a.sid, ENHANCED.Accept, "an Enhanced Initiate is accepted by an Enhanced Accept")
  end
  return a, a.sid, got
end
