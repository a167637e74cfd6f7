// Palimpsest: the old notes with the most current heirs
MATCH (old:Superseded {ns: 'sample'})<-[:SUPERSEDES]-(head:Current)
WITH old, count(head) AS heirs
ORDER BY heirs DESC, old.id LIMIT 3
MATCH path = (old)<-[:SUPERSEDES]-(:Current)
RETURN path
