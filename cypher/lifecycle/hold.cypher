// Locks nodes until the transaction ends, so that nobody supersedes, changes or deletes them after they were read in it.
// params: ns: string, ids: list<string>
// returns: held: integer
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id}) WHERE NOT n:Deleted
SET n.superseded_key = n.superseded_key
RETURN count(n) AS held
