// Entities by the turn in which they got their name: what a process that writes has not heard of yet.
// params: -
// returns: -
CREATE INDEX entity_named IF NOT EXISTS FOR (e:Entity) ON (e.ns, e.named)
