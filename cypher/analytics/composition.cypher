// What the namespace is made of: nodes by label, kind and type, and how many of them are current, superseded, deleted.
// chart: bar x=kind y=current
// params: ns: string, limit: integer
// returns: label: string, kind: string, memory_type: string, current: integer, superseded: integer, deleted: integer
// needs: recallable_id, entity_id
:param ns => 'default';
:param limit => 20;
CALL () {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, id)
  WHERE n.ns = $ns AND n.id > ''
  RETURN n.kind AS kind, n.memory_type AS memory_type,
         CASE WHEN n:Note THEN 'Note' WHEN n:Neuron THEN 'Neuron' WHEN n:Abstraction THEN 'Abstraction' ELSE 'Knowledge' END AS label,
         count(*) AS nodes, sum(CASE WHEN n:Superseded THEN 1 ELSE 0 END) AS superseded,
         sum(CASE WHEN n:Deleted THEN 1 ELSE 0 END) AS deleted
  UNION ALL
  MATCH (n:Entity)
  USING INDEX SEEK n:Entity(ns, id)
  WHERE n.ns = $ns AND n.id > ''
  RETURN n.kind AS kind, null AS memory_type, 'Entity' AS label, count(*) AS nodes, 0 AS superseded,
         sum(CASE WHEN n:Deleted THEN 1 ELSE 0 END) AS deleted
}
RETURN label, kind, memory_type, nodes - superseded - deleted AS current, superseded, deleted
ORDER BY current DESC, label, kind, memory_type LIMIT $limit
