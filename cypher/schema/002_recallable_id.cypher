// Every recallable node is one by namespace and id.
// params: -
// returns: -
CREATE CONSTRAINT recallable_id IF NOT EXISTS FOR (n:Recallable) REQUIRE (n.ns, n.id) IS UNIQUE
