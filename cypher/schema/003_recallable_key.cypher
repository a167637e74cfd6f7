// A key names one node of its kind; a deleted or superseded node has given its key away.
// params: -
// returns: -
CREATE CONSTRAINT recallable_key IF NOT EXISTS FOR (n:Recallable) REQUIRE (n.ns, n.kind, n.key) IS UNIQUE
