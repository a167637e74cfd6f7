// Draws edges between nodes that are known to live here; drawing one again changes its weight and properties.
// params: ns: string, links: list<map>
// returns: source: string, target: string, relation: string, created: boolean
// needs: recallable_id, entity_id
UNWIND $links AS link
MATCH (a:Recallable|Entity {ns: $ns, id: link.source}) WHERE NOT a:Deleted
MATCH (b:Recallable|Entity {ns: $ns, id: link.target}) WHERE NOT b:Deleted
MERGE (a)-[r:$(link.type)]->(b)
ON CREATE SET r.created_at = datetime(), r.fresh = true
SET r.ns = $ns, r.weight = coalesce(link.weight, r.weight, 1.0),
    r.properties_json = coalesce(link.properties_json, r.properties_json), r.updated_at = datetime()
WITH a, b, r, link, coalesce(r.fresh, false) AS created
REMOVE r.fresh
RETURN a.id AS source, b.id AS target, link.relation AS relation, created
