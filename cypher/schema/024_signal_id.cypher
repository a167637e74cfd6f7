// What a caller made of a note; ids sort by time.
// params: -
// returns: -
CREATE CONSTRAINT signal_id IF NOT EXISTS FOR (n:Signal) REQUIRE (n.ns, n.id) IS UNIQUE
