// The memories that were served and let into contexts most, and what feedback says of them. Of the latest 20,000 recalls.
// chart: bar x=title y=served
// params: ns: string, days: integer, limit: integer
// returns: id: string, title: string, served: integer, admitted: integer, useful: float, useless: float, superseded: boolean
// needs: serve_id, trace_time, recallable_id
:param ns => 'default';
:param days => 30;
:param limit => 20;
CALL () {
  MATCH (s:Serve)
  USING INDEX SEEK s:Serve(ns, id)
  WHERE s.ns = $ns AND s.id > ''
  WITH s ORDER BY s.id DESC LIMIT 20000
  WITH s WHERE s.at >= datetime() - duration({days: $days})
  UNWIND s.note_ids AS id
  RETURN id, count(*) AS served, 0 AS admitted
  UNION ALL
  MATCH (t:Trace)-[:ADMITTED]->(n:Recallable)
  WHERE t.ns = $ns AND t.created_ts >= (timestamp() - $days * 86400000) * 1000
  RETURN n.id AS id, 0 AS served, count(*) AS admitted
}
WITH id, sum(served) AS served, sum(admitted) AS admitted
WITH id, served, admitted, served + admitted AS uses ORDER BY uses DESC, id
MATCH (n:Recallable {ns: $ns, id: id})
WHERE NOT n:Deleted
RETURN id, n.title AS title, served, admitted, coalesce(n.evidence_for, 0.0) AS useful, coalesce(n.evidence_against, 0.0) AS useless,
       n:Superseded AS superseded
ORDER BY uses DESC, id LIMIT $limit
