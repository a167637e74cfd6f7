// A page of notes in the order of ids, and the texts in it that have no vector of the slot's model yet: the note's own, or
// where it has passages theirs. `last` is where the next page begins; there is none when nothing was left.
// params: ns: string, suffix: string, model: string, after: string, limit: integer
// returns: last: string, notes: integer, texts: list<map>
// needs: recallable_id
MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > $after
WITH n ORDER BY n.id LIMIT $limit
CALL (n) {
  WITH n WHERE NOT EXISTS { (n)-[:HAS_PASSAGE]->() }
  RETURN n AS held, '' AS passage
  UNION ALL
  MATCH (n)-[:HAS_PASSAGE]->(held:Passage)
  RETURN held, held.id AS passage
}
WITH n, held, passage, NOT n:Deleted AND (held['embedding' + $suffix] IS NULL OR held['vector' + $suffix] IS NULL
  OR coalesce(held['embedding_model' + $suffix], $model) <> $model) AS lacks
RETURN max(n.id) AS last, count(DISTINCT n) AS notes, collect(CASE WHEN lacks
  THEN {id: n.id, passage: passage, content: held.content, hash: coalesce(n.content_hash, '')} END) AS texts
