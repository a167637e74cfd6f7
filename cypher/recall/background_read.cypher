// A namespace's background for the model of a slot, if it has been measured. suffix: the slot's (graph/slots.py).
// params: ns: string, suffix: string
// returns: background: bytes, model: string, version: integer
// needs: namespace_name
MATCH (space:Namespace {name: $ns}) WHERE space['background' + $suffix] IS NOT NULL
RETURN space['background' + $suffix] AS background, space['background_model' + $suffix] AS model,
       space['background_version' + $suffix] AS version
