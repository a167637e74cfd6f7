// The models whose vectors this database holds. state: ready; filling, which serves while older nodes still get their vectors;
// building, from which nothing is served yet; dropping.
// params: -
// returns: slot: string, name: string, dimensions: integer, state: string
MATCH (m:Model)
RETURN m.slot AS slot, m.name AS name, m.dimensions AS dimensions, m.state AS state ORDER BY slot
