// Sets how far a model is (see schema.models).
// params: slot: string, name: string, state: string
// returns: changed: integer
MATCH (m:Model {slot: $slot, name: $name})
SET m.state = $state
RETURN count(m) AS changed
