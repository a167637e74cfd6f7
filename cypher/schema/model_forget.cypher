// Frees a slot. Its indexes and vectors go before.
// params: slot: string, name: string
// returns: freed: integer
MATCH (m:Model {slot: $slot, name: $name})
DELETE m
RETURN count(*) AS freed
