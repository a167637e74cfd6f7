// Entities page like recallable nodes.
// params: -
// returns: -
CREATE INDEX entity_page IF NOT EXISTS FOR (n:Entity) ON (n.ns, n.kind, n.id)
