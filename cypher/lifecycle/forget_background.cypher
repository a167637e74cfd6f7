// Takes the backgrounds off a namespace: they were measured on notes that are gone.
// params: ns: string
// returns: written: integer
// needs: namespace_name
MATCH (space:Namespace {name: $ns})
REMOVE space.background, space.background_model, space.background_b, space.background_model_b,
       space.background_multilingual, space.background_model_multilingual
RETURN coalesce(space.written, 0) AS written
