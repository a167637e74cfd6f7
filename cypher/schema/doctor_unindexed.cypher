// Nodes that recall can't find by meaning: they, or one of their passages, have no vector in the slot of this suffix.
// params: suffix: string, limit: integer
// returns: ns: string, id: string
MATCH (n:Recallable) WHERE NOT n:Deleted AND CASE
  WHEN EXISTS { (n)-[:HAS_PASSAGE]->() } THEN EXISTS { (n)-[:HAS_PASSAGE]->(p) WHERE p['embedding' + $suffix] IS NULL }
  ELSE n['embedding' + $suffix] IS NULL END
RETURN n.ns AS ns, n.id AS id ORDER BY ns, id LIMIT $limit
