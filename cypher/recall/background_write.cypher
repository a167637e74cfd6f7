// Keeps a namespace's background; its version tells readers that theirs is old.
// params: ns: string, background: bytes, model: string, measured: integer
// returns: version: integer
// needs: namespace_name
MATCH (space:Namespace {name: $ns})
SET space.background = $background, space.background_model = $model, space.background_measured = $measured,
    space.background_at = datetime(), space.background_version = coalesce(space.background_version, 0) + 1
RETURN space.background_version AS version
