// Palimpsest: the neighbourhood of a note, two steps wide
MATCH (n:Recallable {ns: 'sample', kind: 'document', key: 'rfc7230'})
MATCH path = (n)-[:!HAS_PASSAGE]-(near {ns: 'sample'})
OPTIONAL MATCH further = (near)-[:!HAS_PASSAGE]-(:Current {ns: 'sample'})
RETURN path, further
LIMIT 100
