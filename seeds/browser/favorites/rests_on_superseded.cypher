// Palimpsest: current notes that still depend on, or amend, something superseded
MATCH path = (n:Current {ns: 'sample'})-[:DEPENDS_ON|ANNOTATES]->(old:Superseded)<-[:SUPERSEDES]-(:Current)
RETURN path
ORDER BY n.created_at DESC, n.id, old.id LIMIT 40
