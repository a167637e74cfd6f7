// Nodes that recall can't find by meaning: neither they nor their passages have a vector.
// params: limit: integer
// returns: ns: string, id: string
MATCH (n:Recallable) WHERE NOT n:Deleted AND n.embedding IS NULL
  AND NOT EXISTS { (n)-[:HAS_PASSAGE]->(p) WHERE p.embedding IS NOT NULL }
RETURN n.ns AS ns, n.id AS id ORDER BY ns, id LIMIT $limit
