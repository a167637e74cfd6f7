// Keeps what recalls served; one that is there already stays as it is.
// params: ns: string, items: list<map>
// returns: kept: integer
// needs: serve_id
UNWIND $items AS item
MERGE (s:Serve {ns: $ns, id: item.id})
ON CREATE SET s += item, s.at = datetime()
RETURN count(s) AS kept
