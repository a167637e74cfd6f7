// What a consolidation drew from these nodes, as far as it is still served.
// params: ns: string, ids: list<string>
// returns: id: string
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})<-[:DERIVED_FROM]-(d:Recallable {ns: $ns})
WHERE d.consolidated IS NOT NULL AND d.stale_at IS NULL AND NOT d:Deleted
RETURN DISTINCT d.id AS id
