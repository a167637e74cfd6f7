// Palimpsest: what was written over most often, deepest chains first
MATCH path = (head:Current {ns: 'sample'})-[:SUPERSEDES*10..40]->(oldest:Superseded)
WHERE NOT (oldest)-[:SUPERSEDES]->()
RETURN path
ORDER BY length(path) DESC, head.id LIMIT 3
