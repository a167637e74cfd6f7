// A page of nodes in the order of ids, and which of them were deleted before a time (milliseconds since 1970). `last` is where
// the next page begins; there is none when nothing was left.
// params: ns: string, label: string, after: string, until: integer, limit: integer
// returns: last: string, seen: integer, ids: list<string>
// needs: recallable_id, entity_id
CALL () {
  MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > $after AND $label = 'Recallable'
  RETURN n ORDER BY n.id LIMIT $limit
  UNION ALL
  MATCH (n:Entity) WHERE n.ns = $ns AND n.id > $after AND $label = 'Entity'
  RETURN n ORDER BY n.id LIMIT $limit
}
RETURN max(n.id) AS last, count(n) AS seen,
       collect(CASE WHEN n:Deleted AND n.deleted_at.epochMillis < $until THEN n.id END) AS ids
