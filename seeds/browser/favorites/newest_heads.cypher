// Palimpsest: the newest notes that wrote over something, and what
MATCH (head:Current {ns: 'sample'})-[:SUPERSEDES]->(:Superseded)
WITH DISTINCT head
ORDER BY head.created_at DESC, head.id LIMIT 15
MATCH path = (head)-[:SUPERSEDES]->(:Superseded)
RETURN path
