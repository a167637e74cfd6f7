// Edges that cross namespaces or lead back to their own node; no verb draws them.
// params: limit: integer
// returns: ns: string, id: string
MATCH (a)-[r]->(b)
WHERE a.ns IS NOT NULL AND b.ns IS NOT NULL AND (a.ns <> b.ns OR a = b)
RETURN a.ns AS ns, a.id AS id ORDER BY ns, id LIMIT $limit
