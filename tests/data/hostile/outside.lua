-- run 2 outside.lua:2: check: an id
check { id = "../../outside", purpose = "p", run = function() end }
