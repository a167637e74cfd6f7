// Takes the key from nodes that a new one of the same key supersedes; what it was stays legible.
// params: ns: string, ids: list<string>
// returns: released: integer
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})
SET n.former_key = coalesce(n.key, n.former_key)
REMOVE n.key
RETURN count(n) AS released
