// Palimpsest: the names that current notes mention most, and ten notes of each
MATCH (e:Entity {ns: 'sample'})<-[m:MENTIONS]-(:Current)
WITH e, count(m) AS times ORDER BY times DESC, e.id LIMIT 5
CALL (e) {
  MATCH path = (e)<-[:MENTIONS]-(n:Current)
  WITH path, n ORDER BY n.created_at DESC, n.id LIMIT 10
  RETURN collect(path) AS notes
}
RETURN e, notes
