// Whole contents of hits that came clipped with the candidates.
// params: ns: string, ids: list<string>
// returns: id: string, content: string
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})
RETURN n.id AS id, n.content AS content
