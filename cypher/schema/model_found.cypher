// Which models made the vectors of the first slot, the most usual first: for a database that keeps no Model nodes yet.
// params: -
// returns: model: string, nodes: integer
MATCH (n:Recallable) WHERE NOT n:Deleted
RETURN n.embedding_model AS model, count(*) AS nodes ORDER BY model IS NULL, nodes DESC
