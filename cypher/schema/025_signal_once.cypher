// The same signal for the same serve and target counts once; a signal that names no serve has no `once`.
// params: -
// returns: -
CREATE CONSTRAINT signal_once IF NOT EXISTS FOR (n:Signal) REQUIRE (n.ns, n.once) IS UNIQUE
