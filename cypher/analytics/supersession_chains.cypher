// The longest chains of supersession: what was written over most often, by its head.
// `layers` are the steps down to the oldest note, `superseded` all notes underneath; chains that meet count in each head.
// params: ns: string, limit: integer
// returns: id: string, title: string, layers: integer, superseded: integer, oldest_id: string, oldest_title: string,
//   oldest_at: datetime, head_at: datetime
// needs: recallable_id
:param ns => 'default';
:param limit => 20;
MATCH (head:Recallable)
USING INDEX SEEK head:Recallable(ns, id)
WHERE head.ns = $ns AND head.id > '' AND head:Current AND EXISTS { (head)-[:SUPERSEDES]->() }
  AND NOT EXISTS { (head)<-[:SUPERSEDES]-(newer:Recallable) WHERE NOT newer:Deleted }
CALL (head) {
  MATCH path = (head)-[:SUPERSEDES*1..64]->(old:Recallable)
  WHERE old.ns = $ns AND NOT old:Deleted
  WITH old, min(length(path)) AS depth
  ORDER BY depth DESC, old.created_ts, old.id
  RETURN max(depth) AS layers, count(*) AS superseded, head(collect(old)) AS oldest
}
WITH head, layers, superseded, oldest WHERE layers > 0
RETURN head.id AS id, head.title AS title, layers, superseded, oldest.id AS oldest_id, oldest.title AS oldest_title,
       oldest.created_at AS oldest_at, head.created_at AS head_at
ORDER BY layers DESC, superseded DESC, id LIMIT $limit
