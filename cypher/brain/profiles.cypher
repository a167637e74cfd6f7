// A page of profiles, by id.
// params: ns: string, after: string, lifecycles: list<string>, limit: integer
// returns: profile: map
// needs: profile_id
MATCH (p:Profile) WHERE p.ns = $ns AND p.id > $after AND p.lifecycle IN $lifecycles
RETURN properties(p) AS profile ORDER BY p.id LIMIT $limit
