// Gives a namespace the background that it had elsewhere, unless it has one of its own.
// params: ns: string, properties: map
// returns: taken: boolean
// needs: namespace_name
MERGE (space:Namespace {name: $ns})
ON CREATE SET space.created_at = datetime(), space.turn = timestamp()
WITH space, space.background_version IS NULL AND coalesce(space.written, 0) = 0 AS empty
CALL (space, empty) {
  WITH space, empty WHERE empty
  SET space += $properties
}
RETURN empty AS taken
