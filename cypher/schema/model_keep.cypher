// Gives a slot to a model, unless it has one. What is returned is whose it is now.
// params: slot: string, name: string, dimensions: integer, state: string
// returns: slot: string, name: string, dimensions: integer, state: string
MERGE (m:Model {slot: $slot})
ON CREATE SET m.name = $name, m.dimensions = $dimensions, m.state = $state, m.created_at = datetime()
RETURN m.slot AS slot, m.name AS name, m.dimensions AS dimensions, m.state AS state
