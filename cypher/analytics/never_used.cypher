// Current notes stored more than some days ago that no recall served and no context let in, the oldest first.
// Served is what the latest 20,000 recalls served; older ones say nothing about today.
// params: ns: string, days: integer, limit: integer
// returns: id: string, title: string, kind: string, salience: float, recorded_at: datetime
// needs: serve_id, recallable_id
:param ns => 'default';
:param days => 30;
:param limit => 20;
CALL () {
  MATCH (s:Serve)
  USING INDEX SEEK s:Serve(ns, id)
  WHERE s.ns = $ns AND s.id > ''
  WITH s ORDER BY s.id DESC LIMIT 20000
  UNWIND s.note_ids AS id
  RETURN collect(DISTINCT id) AS served
}
MATCH (n:Recallable)
USING INDEX SEEK n:Recallable(ns, id)
WHERE n.ns = $ns AND n.id > '' AND n:Current AND n.recorded_at < datetime() - duration({days: $days})
  AND n.evidence_ts IS NULL AND NOT EXISTS { (n)<-[:ADMITTED]-() } AND NOT n.id IN served
RETURN n.id AS id, n.title AS title, n.kind AS kind, n.salience AS salience, n.recorded_at AS recorded_at
ORDER BY id LIMIT $limit
