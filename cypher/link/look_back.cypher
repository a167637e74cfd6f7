// Draws MENTIONS edges to new entities from the notes that name them already, whatever their layer; not more than $limit.
// An entity: id, query (its name as full text).
// params: ns: string, entities: list<map>, limit: integer
// returns: drawn: integer
// needs: entity_id, current_text, superseded_text
UNWIND $entities AS entity
MATCH (e:Entity {ns: $ns, id: entity.id})
CALL (entity) {
  CALL db.index.fulltext.queryNodes('current_text', entity.query, {limit: $limit}) YIELD node
  RETURN node
  UNION ALL
  CALL db.index.fulltext.queryNodes('superseded_text', entity.query, {limit: $limit}) YIELD node
  RETURN node
}
WITH DISTINCT e, CASE WHEN node:Passage THEN head([(note)-[:HAS_PASSAGE]->(node) | note]) ELSE node END AS n LIMIT $limit
WITH e, n WHERE n.ns = $ns AND NOT n:Deleted
MERGE (n)-[r:MENTIONS]->(e)
ON CREATE SET r.ns = $ns, r.by = 'linker', r.created_at = datetime()
RETURN count(r) AS drawn
