// Gives neurons without a type theirs; an explicit type is never touched.
// params: -
// returns: changed: integer
MATCH (n:Neuron) WHERE n.memory_type IS NULL AND NOT n:Deleted
SET n.memory_type = 'associative', n.type_key = 'associative'
FOREACH (p IN [(n)-[:HAS_PASSAGE]->(passage) | passage] | SET p.type_key = 'associative')
RETURN count(n) AS changed
