// With what weights a profile ranked, by day: the means of its posteriors, as shares. Of the latest 20,000 recalls.
// chart: line x=day y=relevance
// params: ns: string, days: integer, profile: string
// returns: day: string, recalls: integer, epoch: integer, relevance: float, salience: float, temporal: float
// needs: serve_id
:param ns => 'default';
:param days => 30;
:param profile => 'default';
MATCH (s:Serve)
USING INDEX SEEK s:Serve(ns, id)
WHERE s.ns = $ns AND s.id > ''
WITH s ORDER BY s.id DESC LIMIT 20000
WITH s, s.weights[0] + s.weights[1] + s.weights[2] AS whole
WHERE s.at >= datetime() - duration({days: $days}) AND s.profile_id = $profile AND whole > 0
RETURN toString(date(s.at)) AS day, count(s) AS recalls, max(s.epoch) AS epoch, avg(s.weights[0] / whole) AS relevance,
       avg(s.weights[1] / whole) AS salience, avg(s.weights[2] / whole) AS temporal
ORDER BY day
