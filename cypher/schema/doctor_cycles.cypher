// Chains that supersede themselves; no verb draws them.
// params: limit: integer
// returns: ns: string, id: string
MATCH (n:Recallable) WHERE NOT n:Deleted AND EXISTS { (n)-[:SUPERSEDES]->() } AND EXISTS { (n)<-[:SUPERSEDES]-() }
  AND EXISTS { (n)-[:SUPERSEDES]->+(n) }
RETURN n.ns AS ns, n.id AS id ORDER BY ns, id LIMIT $limit
