// What share of the memories that were looked at was not let in, by day: (candidates - selected) / candidates.
// `rate` is over all candidates of the day, `mean_rate` the mean over its builds; a build without candidates has none.
// chart: line x=day y=rate
// params: ns: string, days: integer
// returns: day: string, builds: integer, candidates: integer, selected: integer, rate: float, mean_rate: float
// needs: trace_time
:param ns => 'default';
:param days => 30;
MATCH (t:Trace)
WHERE t.ns = $ns AND t.created_ts >= (timestamp() - $days * 86400000) * 1000 AND t.memory_candidates > 0
WITH toString(date(t.created_at)) AS day, t.memory_candidates AS candidates, t.memory_selected AS selected
WITH day, count(*) AS builds, sum(candidates) AS candidates, sum(selected) AS selected,
     avg(toFloat(candidates - selected) / candidates) AS mean_rate
RETURN day, builds, candidates, selected, toFloat(candidates - selected) / candidates AS rate, mean_rate
ORDER BY day
