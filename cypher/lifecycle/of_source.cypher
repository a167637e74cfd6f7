// A page of nodes in the order of their ids, and those of them that come from a source, whatever their layer. `last` is where
// the next page begins; there is none when nothing was left.
// params: ns: string, label: string, source: string, after: string, limit: integer
// returns: last: string, ids: list<string>, contents: list<string>
// needs: recallable_id, entity_id
CALL () {
  MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > $after AND $label = 'Recallable'
  RETURN n ORDER BY n.id LIMIT $limit
  UNION ALL
  MATCH (n:Entity) WHERE n.ns = $ns AND n.id > $after AND $label = 'Entity'
  RETURN n ORDER BY n.id LIMIT $limit
}
RETURN max(n.id) AS last, collect(CASE WHEN n.source = $source THEN n.id END) AS ids,
       collect(CASE WHEN n.source = $source THEN left(coalesce(n.content, ''), 200) END) AS contents
