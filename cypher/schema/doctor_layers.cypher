// Nodes whose layer label disagrees with their SUPERSEDES edges (drawn or removed by hand, say), or whose passages do.
// params: limit: integer
// returns: ns: string, id: string
MATCH (n:Recallable) WHERE NOT n:Deleted
WITH n, n.superseded_by IS NOT NULL OR EXISTS { (n)<-[:SUPERSEDES]-(newer) WHERE newer.ns = n.ns AND NOT newer:Deleted } AS gone
WHERE n:Current = gone OR n:Superseded <> gone OR gone <> (n.superseded_at IS NOT NULL)
   OR EXISTS { (n)-[:HAS_PASSAGE]->(p) WHERE p:Superseded <> gone OR p:Current = gone }
RETURN n.ns AS ns, n.id AS id ORDER BY ns, id LIMIT $limit
