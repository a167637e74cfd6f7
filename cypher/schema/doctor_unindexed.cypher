// Nodes that recall can't find by meaning: they, or one of their passages, have no vector of the model that serves.
// params: suffix: string, model: string, limit: integer
// returns: ns: string, id: string
MATCH (n:Recallable) WHERE NOT n:Deleted AND CASE
  WHEN EXISTS { (n)-[:HAS_PASSAGE]->() } THEN EXISTS { (n)-[:HAS_PASSAGE]->(p)
    WHERE p['embedding' + $suffix] IS NULL OR ($model <> '' AND p['embedding_model' + $suffix] <> $model) }
  ELSE n['embedding' + $suffix] IS NULL OR ($model <> '' AND n['embedding_model' + $suffix] <> $model) END
RETURN n.ns AS ns, n.id AS id ORDER BY ns, id LIMIT $limit
