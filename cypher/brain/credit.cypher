// Adds evidence to a node and, in equal shares, to the entities that it mentions. Evidence is kept as of `evidence_ts`, a node's
// first: what comes t later is added times 2^(t / half-life), and all of it is divided by the same when it is read. So it
// fades without being rewritten, and adding in any order gives the same.
// params: ns: string, id: string, now: integer, half_life: float, supporting: float, opposing: float, implicit: map
// returns: id: string
// needs: recallable_id, entity_id, namespace_name
MATCH (n:Recallable|Entity {ns: $ns, id: $id})
SET n += $implicit
WITH n, COLLECT { MATCH (n)-[:MENTIONS]->(e:Entity) WHERE e.ns = $ns AND NOT e:Deleted RETURN e ORDER BY e.id LIMIT 32 } AS entities
UNWIND [n] + entities AS x
WITH x, CASE WHEN x = n THEN 1.0 ELSE 1.0 / size(entities) END AS share
SET x.evidence_ts = coalesce(x.evidence_ts, $now)
WITH x, share * 2.0 ^ (($now - x.evidence_ts) / $half_life) AS grown
SET x.evidence_for = coalesce(x.evidence_for, 0.0) + grown * $supporting,
    x.evidence_against = coalesce(x.evidence_against, 0.0) + grown * $opposing
WITH x.id AS id
MATCH (space:Namespace {name: $ns})
SET space.has_evidence = true
RETURN id
