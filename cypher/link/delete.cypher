// Takes edges away.
// params: ns: string, links: list<map>
// returns: source: string, target: string, relation: string
// needs: recallable_id, entity_id
UNWIND $links AS link
CALL (link) {
  MATCH (a:Recallable {ns: $ns, id: link.source}) RETURN a UNION ALL MATCH (a:Entity {ns: $ns, id: link.source}) RETURN a
}
MATCH (a)-[r:$(link.type)]->(b {ns: $ns, id: link.target})
DELETE r
RETURN link.source AS source, link.target AS target, link.relation AS relation
