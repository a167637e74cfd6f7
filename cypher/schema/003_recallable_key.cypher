// A key names one node of its kind; a node that is deleted, or superseded under the same key, has given it away.
// params: -
// returns: -
CREATE CONSTRAINT recallable_key IF NOT EXISTS FOR (n:Recallable) REQUIRE (n.ns, n.kind, n.key) IS UNIQUE
