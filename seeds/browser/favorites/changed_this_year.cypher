// Palimpsest: what changed in the last year of the sample: new documents, and what they wrote over
MATCH (n:Recallable {ns: 'sample', kind: 'document'}) WHERE NOT n:Deleted
WITH max(n.created_at) AS newest
MATCH (n:Current {ns: 'sample', kind: 'document'}) WHERE n.created_at > newest - duration('P1Y')
OPTIONAL MATCH path = (n)-[:SUPERSEDES]->(:Superseded)
RETURN n, path
ORDER BY path IS NULL, n.created_at DESC, n.id LIMIT 60
