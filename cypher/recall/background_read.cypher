// A namespace's background, if it has been measured.
// params: ns: string
// returns: background: bytes, model: string, version: integer
// needs: namespace_name
MATCH (space:Namespace {name: $ns}) WHERE space.background IS NOT NULL
RETURN space.background AS background, space.background_model AS model, space.background_version AS version
