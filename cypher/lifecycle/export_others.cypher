// A page of nodes of a label that neither recall nor the linker looks up: tasks, traces, profiles and what packs keep.
// params: ns: string, label: string, after: string, limit: integer
// returns: id: string, labels: list<string>, properties: map
MATCH (n:$($label)) WHERE n.ns = $ns AND coalesce(n.id, elementId(n)) > $after AND NOT n:Deleted
WITH n, coalesce(n.id, elementId(n)) AS id
ORDER BY id LIMIT $limit
RETURN id, labels(n) AS labels, properties(n) AS properties
ORDER BY id
