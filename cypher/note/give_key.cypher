// Takes the key from nodes that a new one of the same key supersedes; what it was stays legible.
// params: ns: string, ids: list<string>, keys: list<string>
// returns: released: integer
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id}) WHERE n.key IN $keys
SET n.former_key = n.key
REMOVE n.key
RETURN count(n) AS released
