// Whether a serve is kept.
// params: ns: string, id: string
// returns: id: string
// needs: serve_id
MATCH (s:Serve {ns: $ns, id: $id})
RETURN s.id AS id
