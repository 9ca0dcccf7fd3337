-- run 4 waits for ever
check {
  id = "A-1",
  purpose = "p",
  run = function()
    while true do rig.wait(80000) end
  end,
}
