-- run 0
check {
  id = "A-1",
  purpose = "p",
  run = function()
    return string.rep("", 1 << 62)
  end,
}
