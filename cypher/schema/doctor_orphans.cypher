// Passages whose note is gone.
// params: limit: integer
// returns: ns: string, id: string
MATCH (p:Passage) WHERE NOT EXISTS { (:Recallable)-[:HAS_PASSAGE]->(p) }
RETURN p.ns AS ns, p.id AS id ORDER BY ns, id LIMIT $limit
