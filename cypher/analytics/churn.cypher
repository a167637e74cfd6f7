// How many notes were superseded, by day, week or month, and for how many days they had held (the median).
// chart: bar x=period y=superseded
// params: ns: string, days: integer, per: string
// returns: period: string, superseded: integer, held_days: float
// needs: recallable_superseded
:param ns => 'default';
:param days => 30;
:param per => 'day';
MATCH (n:Recallable)
USING INDEX SEEK n:Recallable(ns, superseded_ts)
WHERE n.ns = $ns AND n.superseded_ts >= (timestamp() - $days * 86400000) * 1000 AND n.superseded_ts <= timestamp() * 1000
  AND n:Superseded
RETURN toString(date.truncate($per, n.superseded_at)) AS period, count(n) AS superseded,
       percentileCont((n.superseded_ts - n.created_ts) / 86400e6, 0.5) AS held_days
ORDER BY period
