// What feedback said, by day. `rate` is the share of signals that found a memory useful. Of the latest 20,000 signals.
// chart: line x=day y=rate
// params: ns: string, days: integer
// returns: day: string, signals: integer, useful: integer, useless: integer, corrected: integer, rate: float
// needs: signal_id
:param ns => 'default';
:param days => 30;
MATCH (g:Signal)
USING INDEX SEEK g:Signal(ns, id)
WHERE g.ns = $ns AND g.id > ''
WITH g ORDER BY g.id DESC LIMIT 20000
WITH g WHERE g.at >= datetime() - duration({days: $days})
WITH toString(date(g.at)) AS day, count(g) AS signals,
     sum(CASE WHEN g.signal IN ['useful', 'explicit_positive', 'implicit_positive'] THEN 1 ELSE 0 END) AS useful,
     sum(CASE WHEN g.signal IN ['wrong', 'correction'] THEN 1 ELSE 0 END) AS corrected
RETURN day, signals, useful, signals - useful AS useless, corrected, toFloat(useful) / signals AS rate
ORDER BY day
