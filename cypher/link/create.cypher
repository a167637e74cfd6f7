// Draws edges between nodes that are known to live here; drawing one again changes its weight and properties. From then on
// it is the caller's, though a linker may have drawn it first.
// One label at a time: a union of both would hash each item's map to tell rows apart, at 10 ms a row.
// params: ns: string, links: list<map>
// returns: source: string, target: string, relation: string, weight: float, created: boolean
// needs: recallable_id, entity_id
UNWIND $links AS link
CALL (link) {
  MATCH (a:Recallable {ns: $ns, id: link.source}) RETURN a UNION ALL MATCH (a:Entity {ns: $ns, id: link.source}) RETURN a
}
CALL (link) {
  MATCH (b:Recallable {ns: $ns, id: link.target}) RETURN b UNION ALL MATCH (b:Entity {ns: $ns, id: link.target}) RETURN b
}
WITH link, a, b WHERE NOT a:Deleted AND NOT b:Deleted
MERGE (a)-[r:$(link.type)]->(b)
ON CREATE SET r.created_at = datetime(), r.fresh = true
SET r.ns = $ns, r.weight = coalesce(link.weight, r.weight, 1.0),
    r.properties_json = coalesce(link.properties_json, r.properties_json), r.updated_at = datetime()
WITH a, b, r, link, coalesce(r.fresh, false) AS created
REMOVE r.fresh, r.by
RETURN a.id AS source, b.id AS target, link.relation AS relation, r.weight AS weight, created
