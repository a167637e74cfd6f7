// What consolidations drew and nothing has replaced yet. holds: whether all that it was drawn from is still current and alive.
// params: ns: string, kinds: list<string>, now: integer
// returns: id: string, kind: string, fingerprint: string, stale: boolean, holds: boolean, sources: list<string>
// needs: recallable_page
MATCH (n:Recallable)
WHERE n.ns = $ns AND n.kind IN $kinds AND n.id > '' AND n.consolidated IS NOT NULL AND n:Current
WITH n, [(n)-[:DERIVED_FROM]->(s:Recallable) WHERE s.ns = $ns | s] AS sources
RETURN n.id AS id, n.kind AS kind, n.consolidated AS fingerprint, n.stale_at IS NOT NULL AS stale,
       size([s IN sources WHERE s:Current AND s.expires_ts > $now]) = n.drawn_from AS holds, [s IN sources | s.id] AS sources
ORDER BY id
