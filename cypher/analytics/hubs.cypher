// The nodes with the most edges, old layers of notes aside: what much hangs on, or a name that says too little.
// params: ns: string, limit: integer
// returns: id: string, title: string, label: string, kind: string, edges: integer, mentions: integer
// needs: recallable_id, entity_id
:param ns => 'default';
:param limit => 20;
CALL () {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND n:Current
  RETURN n, COUNT { (n)--() } - COUNT { (n)-[:HAS_PASSAGE]->() } - COUNT { (n)<-[:ADMITTED]-() } - COUNT { (n)<-[:DROPPED]-() } AS edges
  ORDER BY edges DESC, n.id LIMIT $limit
  UNION ALL
  MATCH (n:Entity)
  USING INDEX SEEK n:Entity(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND NOT n:Deleted
  RETURN n, COUNT { (n)--() } AS edges
  ORDER BY edges DESC, n.id LIMIT $limit
}
WITH n, edges WHERE edges > 0
RETURN n.id AS id, n.title AS title, head([label IN labels(n) WHERE NOT label IN ['Recallable', 'Current']]) AS label, n.kind AS kind,
       edges, COUNT { (n)-[:MENTIONS]-() } AS mentions
ORDER BY edges DESC, id LIMIT $limit
