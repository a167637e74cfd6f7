// Nodes of other labels, by id: those that are there stay as they are. An item: id, labels, properties.
// params: ns: string, label: string, items: list<map>
// returns: created: integer
CALL () {
  MATCH (old:$($label)) WHERE old.ns = $ns AND old.id IN [item IN $items | item.id]
  RETURN collect(old.id) AS there
}
UNWIND $items AS item
WITH item, there WHERE NOT item.id IN there
CREATE (n:$($label):$(item.labels))
SET n = item.properties, n.ns = $ns, n.id = item.id
RETURN count(n) AS created
