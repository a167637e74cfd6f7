// The same for nodes of any other label: tasks, traces, serves, profiles, what packs keep, and what was drawn by hand.
// params: ns: string, label: string, limit: integer
// returns: nodes: integer, edges: integer
MATCH (n:$($label)) WHERE n.ns = $ns
WITH n LIMIT $limit
WITH n, COUNT { (n)--() } AS edges
DETACH DELETE n
RETURN count(*) AS nodes, coalesce(sum(edges), 0) AS edges
