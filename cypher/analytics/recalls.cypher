// How many recalls there were, by day, how many found nothing, and how sure the best hit was. Of the latest 20,000.
// chart: line x=day y=recalls
// params: ns: string, days: integer
// returns: day: string, recalls: integer, empty: integer, hits: float, best_relevance: float
// needs: serve_id
:param ns => 'default';
:param days => 30;
MATCH (s:Serve)
USING INDEX SEEK s:Serve(ns, id)
WHERE s.ns = $ns AND s.id > ''
WITH s ORDER BY s.id DESC LIMIT 20000
WITH s WHERE s.at >= datetime() - duration({days: $days})
RETURN toString(date(s.at)) AS day, count(s) AS recalls, sum(CASE WHEN size(s.note_ids) = 0 THEN 1 ELSE 0 END) AS empty,
       avg(toFloat(size(s.note_ids))) AS hits, avg(reduce(best = null, r IN s.relevances | CASE WHEN r > coalesce(best, -1.0) THEN r ELSE best END)) AS best_relevance
ORDER BY day
