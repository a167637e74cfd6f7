// Current notes whose effective salience falls below some hundredths within some days, those that contexts let in most first.
// By exponential decay, which is what ships.
// params: ns: string, ahead: integer, percent: integer, limit: integer
// returns: id: string, title: string, salience: float, effective_salience: float, days_left: float, admitted: integer
// needs: recallable_id
:param ns => 'default';
:param ahead => 30;
:param percent => 5;
:param limit => 20;
WITH timestamp() * 1000 AS now
MATCH (n:Recallable)
USING INDEX SEEK n:Recallable(ns, id)
WHERE n.ns = $ns AND n.id > '' AND n:Current AND n.expires_ts > now AND n.decay_factor > 0
WITH n, CASE WHEN n.created_ts > now THEN 0.0 ELSE (now - n.created_ts) / 86400e6 END AS age
WITH n, n.salience * exp(-n.decay_factor * age) AS effective
WHERE effective >= $percent / 100.0 AND effective * exp(-n.decay_factor * $ahead) < $percent / 100.0
RETURN n.id AS id, n.title AS title, n.salience AS salience, effective AS effective_salience,
       log(effective * 100.0 / $percent) / n.decay_factor AS days_left, COUNT { (n)<-[:ADMITTED]-() } AS admitted
ORDER BY admitted DESC, days_left, id LIMIT $limit
