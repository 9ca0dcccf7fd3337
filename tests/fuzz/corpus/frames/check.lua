check { id = "A", purpose = "b", run = function(t) t:open():probe() end }
