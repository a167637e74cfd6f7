// What a recall served; ids sort by time.
// params: -
// returns: -
CREATE CONSTRAINT serve_id IF NOT EXISTS FOR (n:Serve) REQUIRE (n.ns, n.id) IS UNIQUE
