// The entity that bears a name.
// params: ns: string, name_key: string, kind: string
// returns: id: string
// needs: entity_name
MATCH (e:Entity {ns: $ns, name_key: $name_key, kind: $kind})
RETURN e.id AS id
