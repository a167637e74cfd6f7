// A name means one entity of its kind; the walk looks names up without the kind, so the name comes first.
// params: -
// returns: -
CREATE CONSTRAINT entity_name IF NOT EXISTS FOR (n:Entity) REQUIRE (n.ns, n.name_key, n.kind) IS UNIQUE
