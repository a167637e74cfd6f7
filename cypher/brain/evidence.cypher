// Evidence about notes and the entities that they mention, as lists of one length: an entry for each node that has some.
// params: ns: string, ids: list<string>
// returns: ids: list<string>, supporting: list<float>, opposing: list<float>, since: list<integer>
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})
UNWIND [n] + COLLECT { MATCH (n)-[:MENTIONS]->(e:Entity) WHERE e.ns = $ns AND NOT e:Deleted RETURN e ORDER BY e.id LIMIT 32 } AS x
WITH id, x WHERE x.evidence_ts IS NOT NULL
RETURN collect(id) AS ids, collect(x.evidence_for) AS supporting, collect(x.evidence_against) AS opposing, collect(x.evidence_ts) AS since
