// A profile with its bindings.
// params: ns: string, id: string
// returns: profile: map, bindings: list<map>
// needs: profile_id
MATCH (p:Profile {ns: $ns, id: $id})
RETURN properties(p) AS profile,
       COLLECT { MATCH (b:Binding)-[:BOUND_TO]->(p) WHERE b.ns = $ns RETURN properties(b) ORDER BY b.created_at, b.id LIMIT 1000 } AS bindings
