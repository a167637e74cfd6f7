// What the latest recalls served, the newest first.
// params: ns: string, limit: integer
// returns: note_ids: list<list<string>>
// needs: serve_id
MATCH (s:Serve) WHERE s.ns = $ns AND s.id > ''
WITH s ORDER BY s.id DESC LIMIT $limit
RETURN collect(coalesce(s.note_ids, [])) AS note_ids
