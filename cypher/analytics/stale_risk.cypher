// Current notes that may no longer be true: older than some days, while notes next to them were superseded.
// risk: share of its neighbours that were superseded, times 1 + log2(1 + contexts that it was let into).
// params: ns: string, days: integer, limit: integer
// returns: id: string, title: string, age_days: float, neighbours: integer, superseded: integer, admitted: integer, risk: float
// needs: recallable_superseded
:param ns => 'default';
:param days => 30;
:param limit => 20;
MATCH (old:Recallable)
USING INDEX SEEK old:Recallable(ns, superseded_ts)
WHERE old.ns = $ns AND old.superseded_ts <= timestamp() * 1000 AND old:Superseded
MATCH (old)-[:!SUPERSEDES&!MENTIONS&!HAS_PASSAGE&!ADMITTED&!DROPPED]-(n:Current)
WHERE n.ns = $ns AND n.created_ts < (timestamp() - $days * 86400000) * 1000 AND NOT EXISTS { (n)-[:SUPERSEDES]->(old) }
WITH n, count(DISTINCT old) AS superseded
WITH n, superseded, COUNT { MATCH (n)-[:!SUPERSEDES&!MENTIONS&!HAS_PASSAGE&!ADMITTED&!DROPPED]-(m:Recallable) WHERE NOT m:Deleted RETURN DISTINCT m } AS neighbours,
     COUNT { (n)<-[:ADMITTED]-() } AS admitted
RETURN n.id AS id, n.title AS title, (timestamp() * 1000 - n.created_ts) / 86400e6 AS age_days, neighbours, superseded, admitted,
       toFloat(superseded) / neighbours * (1 + log(1 + admitted) / log(2)) AS risk
ORDER BY risk DESC, id LIMIT $limit
