// What feedback is about: the target, the serve that it names, the profile that served, and whether it was given before.
// params: ns: string, target: string, serve: string, once: string
// returns: target: map, serve: map, profile: map, before: boolean
// needs: recallable_id, entity_id, serve_id, profile_id, signal_once
OPTIONAL MATCH (n:Recallable|Entity {ns: $ns, id: $target}) WHERE NOT n:Deleted
OPTIONAL MATCH (s:Serve {ns: $ns, id: $serve})
OPTIONAL MATCH (p:Profile {ns: $ns, id: s.profile_id})
OPTIONAL MATCH (given:Signal {ns: $ns, once: $once})
RETURN CASE WHEN n IS NULL THEN null ELSE {implicit_mass: n.implicit_mass, implicit_ts: n.implicit_ts} END AS target,
       properties(s) AS serve, properties(p) AS profile, given IS NOT NULL AS before
