// How many notes were stored, by day, week or month, what became of them, and how many there are from then and before.
// chart: line x=period y=total
// params: ns: string, days: integer, per: string
// returns: period: string, stored: integer, current: integer, superseded: integer, total: integer
// needs: recallable_recorded
:param ns => 'default';
:param days => 30;
:param per => 'day';
WITH datetime() - duration({days: $days}) AS since
CALL (since) {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, recorded_at)
  WHERE n.ns = $ns AND n.recorded_at < since AND NOT n:Deleted
  RETURN count(n) AS before
}
CALL (since) {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, recorded_at)
  WHERE n.ns = $ns AND n.recorded_at >= since AND NOT n:Deleted
  WITH toString(date.truncate($per, n.recorded_at)) AS period, count(n) AS stored,
       sum(CASE WHEN n:Superseded THEN 1 ELSE 0 END) AS superseded
  ORDER BY period
  RETURN collect({period: period, stored: stored, superseded: superseded}) AS periods
}
UNWIND range(0, size(periods) - 1) AS at
WITH before, periods, at, periods[at] AS each
RETURN each.period AS period, each.stored AS stored, each.stored - each.superseded AS current, each.superseded AS superseded,
       reduce(total = before, earlier IN periods[..at + 1] | total + earlier.stored) AS total
ORDER BY period
