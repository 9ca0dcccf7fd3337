-- SPDX-License-Identifier: BSD-2-Clause
-- A script goes through a table in the order of its keys, in each process: what it sends must not change from run to
-- run.
check {
  id = "library-order",
  purpose = "pairs has an order",
  run = function(t)
    t:connect()
    local fields, order = {}, {}
    for i = 1, 40 do fields[string.format("field %02d", i * 23 % 41)] = true end
    fields[2], fields[1] = true, true
    for key in pairs(fields) do order[#order + 1] = tostring(key) end
    local wanted = { "1", "2" }
    for i = 1, 40 do wanted[#wanted + 1] = string.format("field %02d", i) end
    t:equal("the keys in their order", table.concat(wanted, " "), table.concat(order, " "))
  end,
}
