// Makes sure that the namespace has its node, and counts what is written into it; that says when its background is stale.
// params: ns: string, count: integer
// returns: written: integer, measured: integer
// needs: namespace_name
MERGE (space:Namespace {name: $ns})
ON CREATE SET space.created_at = datetime()
SET space.written = coalesce(space.written, 0) + $count
RETURN space.written AS written, coalesce(space.background_measured, 0) AS measured
