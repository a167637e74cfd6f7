// Everything that may answer a query, in one round trip and one row of lists (a row a candidate would cost more than the search).
// Legs: meaning and words of the Current layer; the same of the Superseded layer, whose hits lead to the heads of their
// chains; the walk from the entities that the query names; neighbours of strong hits (FOLLOWS, a neuron's ASSOCIATES). What
// was current at $ask.at counts: the "as of" time, or one that nothing reaches. $ask.near, and texts that are not empty, switch
// legs on; with $ask.tagged the vector leg is exact among the notes that bear the tags. The walk takes the names that lead to few
// notes first, and of one that thousands mention the latest 200; its second hop keeps to the relations between entities, so that it
// does not read through those thousands. A plan is cached by the types and rough sizes of the parameters, and compiling takes a
// second or more: so what varies in size comes inside one map, into which the planner does not look.
// ask: near, lucene, tagged, at, now, since, types, kinds, names, strong, history, clip
// params: ns: string, embedding: vector, k: integer, k_old: integer, ask: map
// returns: vector_ids: list<string>, vector_scores: list<float>, text_ids: list<string>, text_scores: list<float>,
//   old_vector_ids: list<string>, old_vector_scores: list<float>, old_text_ids: list<string>, old_text_scores: list<float>,
//   walk_ids: list<string>, walk_paths: list<string>, hit_ids: list<string>, note_ids: list<string>, vias: list<string>,
//   terms: list<string>, vectors: list<bytes>, passages: list<string>, contents: list<string>, clipped: list<boolean>,
//   kinds_found: list<string>, types_found: list<string>, saliences: list<float>, decays: list<float>, created: list<integer>,
//   superseded: list<integer>, tags: list<any>, keys: list<string>, sources: list<string>, follows: list<any>,
//   background: integer, brain: integer
// variants: b, multilingual of current_embedding, superseded_embedding, node.embedding, x.embedding, hit.vector,
//   space.background_version
// needs: current_text, superseded_text, current_embedding, superseded_embedding, entity_name, namespace_name
CALL () {
  WITH 1 AS go WHERE $ask.near AND $ask.tagged = ''
  MATCH (n:Current)
    SEARCH n IN (
      VECTOR INDEX current_embedding FOR $embedding
      WHERE n.ns = $ns AND n.type_key IN $ask.types AND n.kind IN $ask.kinds AND n.created_ts <= $ask.at AND n.expires_ts > $ask.now
      LIMIT $k
    ) SCORE AS score
  RETURN collect(n) AS vector_hits, collect(score) AS vector_scores
}
CALL () {
  WITH 1 AS go WHERE $ask.near AND $ask.tagged <> ''
  CALL db.index.fulltext.queryNodes('current_text', $ask.tagged, {limit: 10000}) YIELD node
  WITH node, vector.similarity.cosine(node.embedding, $embedding) AS score WHERE score IS NOT NULL
  ORDER BY score DESC LIMIT $k
  RETURN collect(node) AS tagged_hits, collect(score) AS tagged_scores
}
CALL () {
  WITH 1 AS go WHERE $ask.lucene <> ''
  CALL db.index.fulltext.queryNodes('current_text', $ask.lucene, {limit: $k}) YIELD node, score
  RETURN collect(node) AS text_hits, collect(score) AS text_scores
}
CALL () {
  WITH 1 AS go WHERE $ask.near AND $ask.tagged = ''
  MATCH (n:Superseded)
    SEARCH n IN (
      VECTOR INDEX superseded_embedding FOR $embedding
      WHERE n.ns = $ns AND n.type_key IN $ask.types AND n.kind IN $ask.kinds AND n.created_ts <= $ask.at AND n.expires_ts > $ask.now
        AND n.superseded_ts >= $ask.since
      LIMIT $k_old
    ) SCORE AS score
  RETURN collect(n) AS old_vector_hits, collect(score) AS old_vector_scores
}
CALL () {
  WITH 1 AS go WHERE $ask.lucene <> ''
  CALL db.index.fulltext.queryNodes('superseded_text', $ask.lucene, {limit: $k_old}) YIELD node, score
  RETURN collect(node) AS old_text_hits, collect(score) AS old_text_scores
}
CALL () {
  UNWIND $ask.names AS name
  MATCH (e:Entity {ns: $ns, name_key: name})
  USING INDEX SEEK e:Entity(ns, name_key, kind)
  WHERE NOT e:Deleted AND e.kind IS NOT NULL
  WITH DISTINCT e, COUNT { (e)--() } AS edges
  ORDER BY edges, e.id LIMIT 16
  CALL (e) {
    MATCH (e)-[r]-(x:Recallable)
    WHERE x.ns = $ns AND NOT x:Deleted AND NOT type(r) IN ['SUPERSEDES', 'HAS_PASSAGE']
    RETURN x, e.content + ' ' + toLower(type(r)) AS path LIMIT 200
    UNION
    MATCH (e)-[r:CONTAINS|PART_OF|INSTANCE_OF|EXTENDS|VARIANT_OF|INTRODUCED_BY|SUPERSEDES|DERIVED_FROM|PRECEDES|DEPENDS_ON|ENABLES
                |IMPLEMENTS|COMPETES_WITH|COMPOSED_WITH|SUPPORTS|REFUTES]-(m)
    WITH e, r, m LIMIT 2000  // which keeps the planner from starting at all entities
    WHERE m:Entity AND m.ns = $ns AND NOT m:Deleted
    MATCH (m)-[s]-(x:Recallable)
    WHERE x.ns = $ns AND NOT x:Deleted AND NOT type(s) IN ['SUPERSEDES', 'HAS_PASSAGE'] AND s <> r
    RETURN x, e.content + ' ' + toLower(type(r)) + ' ' + m.content + ' ' + toLower(type(s)) AS path LIMIT 100
  }
  WITH x, path LIMIT 400
  WITH x, path WHERE x.type_key IN $ask.types AND x.kind IN $ask.kinds AND x.created_ts <= $ask.at AND x.expires_ts > $ask.now
    AND $ask.tagged = ''
  WITH x, min(path) AS path, CASE WHEN $ask.near THEN vector.similarity.cosine(x.embedding, $embedding) ELSE 0.0 END AS score
  ORDER BY score DESC, x.id LIMIT 60
  RETURN collect(x) AS named_hits, collect(path) AS named_paths
}
WITH *, vector_hits + tagged_hits AS near_hits, vector_scores + tagged_scores AS near_scores
CALL (near_hits, text_hits) {
  UNWIND near_hits[..$ask.strong] + text_hits[..$ask.strong] AS hit
  WITH DISTINCT CASE WHEN hit:Passage THEN head([(note)-[:HAS_PASSAGE]->(hit) | note]) ELSE hit END AS note
  MATCH (note)-[r:FOLLOWS|ASSOCIATES]-(x:Recallable)
  WHERE x.ns = $ns AND x.type_key IN $ask.types AND x.kind IN $ask.kinds AND x.created_ts <= $ask.at AND x.expires_ts > $ask.now
    AND NOT x:Deleted AND $ask.tagged = ''
  WITH x, min(note.id + ' ' + toLower(type(r))) AS path LIMIT 100
  RETURN collect(x) AS beside_hits, collect(path) AS beside_paths
}
WITH *, named_hits + beside_hits AS walk_hits
CALL (near_hits, text_hits, old_vector_hits, old_text_hits, walk_hits) {
  UNWIND near_hits + text_hits + old_vector_hits + old_text_hits + walk_hits AS hit
  WITH DISTINCT hit
  WITH hit, CASE WHEN hit:Passage THEN head([(note)-[:HAS_PASSAGE]->(hit) | note]) ELSE hit END AS own
  WITH hit, own, own.superseded_ts <= $ask.at
    OR EXISTS { (own)<-[:SUPERSEDES]-(newer) WHERE newer.ns = $ns AND NOT newer:Deleted AND newer.created_ts <= $ask.at } AS gone
  CALL (own, gone) {
    WITH own, gone WHERE NOT gone OR $ask.history
    RETURN own AS note, '' AS via
    UNION ALL
    WITH own, gone WHERE gone
    MATCH path = (head)-[:SUPERSEDES*1..32]->(own)
    WHERE head.created_ts <= $ask.at AND head.superseded_ts > $ask.at AND head.expires_ts > $ask.now
      AND all(n IN nodes(path) WHERE n.ns = $ns AND NOT n:Deleted)
      AND NOT EXISTS { (head)<-[:SUPERSEDES]-(newer) WHERE newer.ns = $ns AND NOT newer:Deleted AND newer.created_ts <= $ask.at }
      AND head.type_key IN $ask.types AND head.kind IN $ask.kinds AND $ask.tagged = ''
    RETURN DISTINCT head AS note, own.id AS via LIMIT 50
  }
  WITH hit, own, gone, note, via LIMIT 1200
  RETURN collect(hit.id) AS hit_ids, collect(note.id) AS note_ids, collect(via) AS vias,
         collect(coalesce(hit.terms, '')) AS terms, collect(coalesce(hit.vector, [])) AS vectors,
         collect(CASE WHEN via <> '' THEN left(own.content, 200) WHEN hit:Passage THEN hit.content ELSE '' END) AS passages,
         collect(left(note.content, $ask.clip)) AS contents, collect(size(note.content) > $ask.clip) AS clipped,
         collect(note.kind) AS kinds_found, collect(note.type_key) AS types_found,
         collect(note.salience) AS saliences, collect(note.decay_factor) AS decays, collect(note.created_ts) AS created,
         collect(CASE WHEN gone AND via = '' AND note.superseded_ts > $ask.at THEN -9223372036854775807 ELSE note.superseded_ts END)
           AS superseded,  // the first: by an edge drawn by hand, so nobody noted the time
         collect(coalesce(note.tags, [])) AS tags,
         collect(coalesce(note.key, '')) AS keys, collect(coalesce(note.source, '')) AS sources,
         collect(COLLECT { MATCH (note)-[:FOLLOWS]-(m:Recallable) WHERE m.ns = $ns RETURN m.id LIMIT 4 }) AS follows
}
OPTIONAL MATCH (space:Namespace {name: $ns})
RETURN [n IN near_hits | n.id] AS vector_ids, near_scores AS vector_scores,
       [n IN text_hits | n.id] AS text_ids, text_scores,
       [n IN old_vector_hits | n.id] AS old_vector_ids, old_vector_scores,
       [n IN old_text_hits | n.id] AS old_text_ids, old_text_scores,
       [n IN walk_hits | n.id] AS walk_ids, named_paths + beside_paths AS walk_paths,
       hit_ids, note_ids, vias, terms, vectors, passages, contents, clipped, kinds_found, types_found, saliences, decays,
       created, superseded, tags, keys, sources, follows, coalesce(space.background_version, 0) AS background,
       coalesce(space.brain_version, 0) AS brain
