// Changes properties of one node; a null takes a property away.
// params: ns: string, id: string, changes: map
// returns: id: string
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id}) WHERE NOT n:Deleted
SET n += $changes
RETURN n.id AS id
