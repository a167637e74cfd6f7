// Keeps a namespace's background for the model of a slot; its version tells readers that theirs is old. Versions begin at the
// time in milliseconds, so that one of a namespace which was forgotten never comes again.
// params: ns: string, suffix: string, background: bytes, model: string, measured: integer
// returns: version: integer
// needs: namespace_name
MATCH (space:Namespace {name: $ns})
SET space['background' + $suffix] = $background, space['background_model' + $suffix] = $model,
    space['background_version' + $suffix] = coalesce(space['background_version' + $suffix], timestamp()) + 1,
    space.background_measured = $measured, space.background_at = datetime()
RETURN space['background_version' + $suffix] AS version
