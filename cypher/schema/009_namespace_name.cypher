// A namespace is one node, which also serves as the lock of what must be alone in it.
// params: -
// returns: -
CREATE CONSTRAINT namespace_name IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE
