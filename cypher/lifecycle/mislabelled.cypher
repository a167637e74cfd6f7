// Which of these nodes are in another layer than their edges say, so that only those are put right.
// params: ns: string, ids: list<string>
// returns: id: string
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id}) WHERE NOT n:Deleted
WITH n, n.superseded_by IS NOT NULL OR EXISTS { (n)<-[:SUPERSEDES]-(newer) WHERE newer.ns = $ns AND NOT newer:Deleted } AS gone
WHERE n:Current = gone OR n:Superseded <> gone OR gone <> (n.superseded_at IS NOT NULL)
RETURN DISTINCT n.id AS id
