// What decides about the fate of some nodes, as in lifecycle.page; deleted ones are left out.
// params: ns: string, ids: list<string>
// returns: id: string, deleted: boolean, salience: float, decay: float, created_ts: integer, expires_ts: integer,
//   newer: list<string>, older: list<string>
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id}) WHERE NOT n:Deleted
RETURN n.id AS id, false AS deleted, n.salience AS salience, n.decay_factor AS decay, n.created_ts AS created_ts,
       n.expires_ts AS expires_ts,
       [(n)<-[:SUPERSEDES]-(m:Recallable) WHERE m.ns = $ns AND NOT m:Deleted | m.id] AS newer,
       [(n)-[:SUPERSEDES]->(m:Recallable) WHERE m.ns = $ns AND NOT m:Deleted | m.id] AS older
ORDER BY id
