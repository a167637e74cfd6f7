// Entities from elsewhere: the one that bears the name here, else a new one. `asked` is the id that it has in the file.
// params: ns: string, items: list<map>
// returns: asked: string, id: string, created: boolean
// needs: entity_name
UNWIND $items AS item
MERGE (e:Entity {ns: $ns, name_key: item.name_key, kind: item.kind})
ON CREATE SET e += item, e.ns = $ns
ON MATCH SET e.named = coalesce(e.named, item.named)
RETURN item.id AS asked, e.id AS id, e.id = item.id AS created
