// How often memory had nothing to say to a task, by day. Builds that had to do without memory do not count.
// chart: line x=day y=rate
// params: ns: string, days: integer
// returns: day: string, builds: integer, abstained: integer, rate: float
// needs: trace_time
:param ns => 'default';
:param days => 30;
MATCH (t:Trace)
WHERE t.ns = $ns AND t.created_ts >= (timestamp() - $days * 86400000) * 1000 AND NOT 'memory' IN coalesce(t.degraded, [])
WITH toString(date(t.created_at)) AS day, count(t) AS builds, sum(CASE WHEN t.memory_abstained THEN 1 ELSE 0 END) AS abstained
RETURN day, builds, abstained, toFloat(abstained) / builds AS rate
ORDER BY day
