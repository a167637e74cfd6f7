// Makes sure that the namespace has its node, and counts what is written into it; that says when its background is stale.
// The node is locked from here to the commit. So transactions that name entities have their turns, one after the other, and
// each is told the names that were given in later turns than its process has seen. Turns begin at the time in milliseconds,
// so that those of a namespace which was forgotten and begins again are later than any before.
// params: ns: string, count: integer, seen: integer, most: integer
// returns: written: integer, measured: integer, turn: integer, fresh: list<string>
// needs: namespace_name, entity_named
MERGE (space:Namespace {name: $ns})
ON CREATE SET space.created_at = datetime()
SET space.written = coalesce(space.written, 0) + $count, space.turn = coalesce(space.turn, timestamp()) + 1
WITH space
CALL (space) {
  MATCH (e:Entity)
  USING INDEX SEEK e:Entity(ns, named)
  WHERE e.ns = space.name AND e.named > $seen AND e.name_key IS NOT NULL
  WITH e LIMIT $most
  RETURN collect(e.name_key) AS fresh
}
RETURN space.written AS written, coalesce(space.background_measured, 0) AS measured, space.turn AS turn, fresh
