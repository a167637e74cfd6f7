// Removes those of some entities that nothing leads to and that say nothing but their name.
// params: ns: string, ids: list<string>
// returns: nodes: integer
// needs: entity_id
UNWIND $ids AS id
MATCH (e:Entity {ns: $ns, id: id})
WHERE NOT EXISTS { (e)--() } AND e.key IS NULL AND e.source IS NULL AND e.properties_json IS NULL
DELETE e
RETURN count(*) AS nodes
