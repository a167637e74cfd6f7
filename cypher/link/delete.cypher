// Takes edges away.
// params: ns: string, links: list<map>
// returns: source: string, target: string, relation: string
// needs: recallable_id, entity_id
UNWIND $links AS link
MATCH (a:Recallable|Entity {ns: $ns, id: link.source})-[r:$(link.type)]->(b:Recallable|Entity {ns: $ns, id: link.target})
DELETE r
RETURN link.source AS source, link.target AS target, link.relation AS relation
