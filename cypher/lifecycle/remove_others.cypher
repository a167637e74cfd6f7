// Removes nodes of another label by id.
// params: ns: string, label: string, ids: list<string>
// returns: nodes: integer
MATCH (n:$($label)) WHERE n.ns = $ns AND coalesce(n.id, elementId(n)) IN $ids
DETACH DELETE n
RETURN count(*) AS nodes
