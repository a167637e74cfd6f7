// Makes a profile where there is none of its id; `created` says whether it did.
// params: ns: string, id: string, properties: map, event: string
// returns: profile: map, created: boolean
// needs: profile_id
MERGE (p:Profile {ns: $ns, id: $id})
ON CREATE SET p += $properties, p.created_at = datetime(), p.updated_at = datetime(), p.events = [$event], p.fresh = true
WITH p, coalesce(p.fresh, false) AS created
REMOVE p.fresh
RETURN properties(p) AS profile, created
