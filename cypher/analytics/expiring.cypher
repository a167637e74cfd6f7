// Current notes that expire within some days, the next first.
// params: ns: string, ahead: integer, limit: integer
// returns: id: string, title: string, kind: string, expires_at: datetime, days_left: float, admitted: integer
// needs: recallable_id
:param ns => 'default';
:param ahead => 30;
:param limit => 20;
WITH timestamp() * 1000 AS now
MATCH (n:Recallable)
USING INDEX SEEK n:Recallable(ns, id)
WHERE n.ns = $ns AND n.id > '' AND n:Current AND n.expires_ts > now AND n.expires_ts <= now + $ahead * 86400000000
RETURN n.id AS id, n.title AS title, n.kind AS kind, n.expires_at AS expires_at, (n.expires_ts - now) / 86400e6 AS days_left,
       COUNT { (n)<-[:ADMITTED]-() } AS admitted
ORDER BY days_left, id LIMIT $limit
