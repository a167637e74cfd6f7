// What refutes what while both are current: nobody has said yet which of the two holds. The latest drawn first.
// `supporters` and `refuters` are current nodes that say so of the refuted one.
// params: ns: string, limit: integer
// returns: id: string, title: string, refutes_id: string, refutes_title: string, supporters: integer, refuters: integer,
//   drawn_at: datetime
// needs: recallable_id, entity_id
:param ns => 'default';
:param limit => 20;
CALL () {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND n:Current AND EXISTS { (n)-[:REFUTES]->() }
  RETURN n
  UNION ALL
  MATCH (n:Entity)
  USING INDEX SEEK n:Entity(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND NOT n:Deleted AND EXISTS { (n)-[:REFUTES]->() }
  RETURN n
}
MATCH (n)-[edge:REFUTES]->(refuted:Current|Entity)
WHERE refuted.ns = $ns AND NOT refuted:Deleted
RETURN n.id AS id, n.title AS title, refuted.id AS refutes_id, refuted.title AS refutes_title,
       COUNT { (refuted)<-[:SUPPORTS]-(by:Current|Entity) WHERE NOT by:Deleted } AS supporters,
       COUNT { (refuted)<-[:REFUTES]-(by:Current|Entity) WHERE NOT by:Deleted } AS refuters, edge.created_at AS drawn_at
ORDER BY drawn_at DESC, id, refutes_id LIMIT $limit
