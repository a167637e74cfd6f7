// Palimpsest: what was current on a day: written until then, and not yet written over
WITH datetime('2005-01-01T00:00:00Z') AS then
MATCH (n:Recallable {ns: 'sample', kind: 'document'})
WHERE NOT n:Deleted AND n.created_at <= then AND (n.superseded_at IS NULL OR n.superseded_at > then)
OPTIONAL MATCH path = (n)-[:SUPERSEDES]->(:Recallable)
RETURN n, path
ORDER BY n.created_at DESC, n.id LIMIT 40
