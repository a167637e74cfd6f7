// State of every index, with its options.
// params: -
// returns: name: string, state: string, kind: string, options: map
SHOW INDEXES YIELD name, state, type, options
RETURN name, state, type AS kind, options ORDER BY name
