// A profile belongs to a namespace, and so does its id.
// params: -
// returns: -
CREATE CONSTRAINT profile_id IF NOT EXISTS FOR (n:Profile) REQUIRE (n.ns, n.id) IS UNIQUE
