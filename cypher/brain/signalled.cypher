// The latest serves that signals came for, each with them in the order in which they came.
// params: ns: string, limit: integer
// returns: serve: map, targets: list<string>, signals: list<string>
// needs: serve_id, signal_once
MATCH (g:Signal) WHERE g.ns = $ns AND g.once > ''
WITH g ORDER BY g.id
WITH g.serve_id AS serve_id, collect(g.target_id) AS targets, collect(g.signal) AS signals
ORDER BY serve_id DESC LIMIT $limit
MATCH (s:Serve {ns: $ns, id: serve_id})
RETURN properties(s) AS serve, targets, signals ORDER BY s.id
