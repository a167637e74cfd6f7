// Gives neurons from before types were kept theirs. Once: when migrations run again (an index was dropped), what is
// unclassified by then was meant to be. `palimpsest doctor --ensure-memory-type` is the way to ask for it.
// params: -
// returns: -
MATCH (n:Neuron)
WHERE n.memory_type IS NULL AND NOT n:Deleted AND NOT EXISTS { (:Migration {name: 'schema.020_neuron_types'}) }
SET n.memory_type = 'associative', n.type_key = 'associative'
WITH n
MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
SET p.type_key = 'associative'
