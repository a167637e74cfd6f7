// A page of recallable nodes in the order of ids, with what decides about their fate. newer: nodes that aren't deleted and
// supersede it; older: nodes that aren't deleted and that it supersedes.
// params: ns: string, after: string, limit: integer
// returns: id: string, deleted: boolean, salience: float, decay: float, created_ts: integer, expires_ts: integer,
//   newer: list<string>, older: list<string>
// needs: recallable_id
MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > $after
WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, n:Deleted AS deleted, n.salience AS salience, n.decay_factor AS decay, n.created_ts AS created_ts,
       n.expires_ts AS expires_ts,
       [(n)<-[:SUPERSEDES]-(m:Recallable) WHERE m.ns = $ns AND NOT m:Deleted | m.id] AS newer,
       [(n)-[:SUPERSEDES]->(m:Recallable) WHERE m.ns = $ns AND NOT m:Deleted | m.id] AS older
ORDER BY id
