// Entities by name: the one that bears it, else a new one.
// params: ns: string, items: list<map>
// returns: id: string, created: boolean, name_key: string, kind: string
// needs: entity_name
UNWIND $items AS item
MERGE (e:Entity {ns: $ns, name_key: item.properties.name_key, kind: item.properties.kind})
ON CREATE SET e += item.properties, e.ns = $ns
ON MATCH SET e.named = coalesce(e.named, item.properties.named)
RETURN e.id AS id, e.id = item.properties.id AS created, e.name_key AS name_key, e.kind AS kind
