// How many nodes of a label a namespace has.
// params: ns: string, label: string
// returns: nodes: integer
MATCH (n:$($label)) WHERE n.ns = $ns
RETURN count(n) AS nodes
