// Palimpsest: the supersession chain of a note, from any of its members
MATCH (n:Recallable {ns: 'sample', kind: 'document', key: 'rfc7230'})
MATCH path = (n)-[:SUPERSEDES*0..40]->(older:Recallable)
RETURN path
UNION
MATCH (n:Recallable {ns: 'sample', kind: 'document', key: 'rfc7230'})
MATCH path = (newer:Recallable)-[:SUPERSEDES*0..40]->(n)
RETURN path
