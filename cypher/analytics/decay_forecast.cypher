// How many current notes are below a level of effective salience now, and how many will be in some days, if nothing changes.
// By exponential decay, which is what ships. What expires until then is not counted.
// chart: bar x=level y=falling
// params: ns: string, ahead: integer
// returns: level: float, now: integer, later: integer, falling: integer, notes: integer
// needs: recallable_id
:param ns => 'default';
:param ahead => 30;
WITH timestamp() * 1000 AS now, [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01] AS levels
MATCH (n:Recallable)
USING INDEX SEEK n:Recallable(ns, id)
WHERE n.ns = $ns AND n.id > '' AND n:Current AND n.expires_ts > now + $ahead * 86400000000
WITH levels, n, CASE WHEN n.created_ts > now THEN 0.0 ELSE (now - n.created_ts) / 86400e6 END AS age
WITH levels, n.salience * exp(-n.decay_factor * age) AS today, n.salience * exp(-n.decay_factor * (age + $ahead)) AS later
WITH size([level IN levels WHERE today < level]) AS passed, size([level IN levels WHERE later < level]) AS will_pass, levels,
     count(*) AS some
UNWIND range(0, size(levels) - 1) AS at
WITH levels[at] AS level, sum(CASE WHEN passed > at THEN some ELSE 0 END) AS now,
     sum(CASE WHEN will_pass > at THEN some ELSE 0 END) AS later, sum(some) AS notes
RETURN level, now, later, later - now AS falling, notes
ORDER BY level DESC
