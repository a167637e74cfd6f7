// Current notes and entities that nothing leads to and that lead nowhere: the walk never finds them. The latest stored first.
// params: ns: string, limit: integer
// returns: id: string, title: string, label: string, kind: string, recorded_at: datetime
// needs: recallable_id, entity_id
:param ns => 'default';
:param limit => 20;
CALL () {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND n:Current AND NOT EXISTS { (n)-[:!HAS_PASSAGE&!ADMITTED&!DROPPED]-() }
  RETURN n ORDER BY n.id DESC LIMIT $limit
  UNION ALL
  MATCH (n:Entity)
  USING INDEX SEEK n:Entity(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND NOT n:Deleted AND NOT EXISTS { (n)-[:!HAS_PASSAGE&!ADMITTED&!DROPPED]-() }
  RETURN n ORDER BY n.id DESC LIMIT $limit
}
RETURN n.id AS id, n.title AS title, head([label IN labels(n) WHERE NOT label IN ['Recallable', 'Current']]) AS label, n.kind AS kind,
       n.recorded_at AS recorded_at
ORDER BY id DESC LIMIT $limit
