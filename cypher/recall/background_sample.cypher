// Words, and packed vectors of a slot, of a namespace's current notes and passages, or of a share of them.
// params: ns: string, suffix: string, share: float
// returns: terms: list<string>, vectors: list<bytes>
// needs: recallable_id
MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > '' AND n:Current AND rand() < $share
CALL (n) {
  WITH n WHERE n.terms IS NOT NULL
  RETURN n AS held
  UNION ALL
  MATCH (n)-[:HAS_PASSAGE]->(held:Passage)
  RETURN held
}
RETURN collect(held.terms) AS terms, collect(coalesce(held['vector' + $suffix], [])) AS vectors
