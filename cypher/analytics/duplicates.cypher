// Current notes that say the same in the same words: equal but for case, accents and punctuation. Most copies first.
// `spellings` is 1 where they are equal to the letter.
// params: ns: string, limit: integer
// returns: title: string, copies: integer, spellings: integer, oldest_id: string, ids: list<string>, newest_at: datetime
// needs: recallable_id
:param ns => 'default';
:param limit => 20;
MATCH (n:Recallable)
USING INDEX SEEK n:Recallable(ns, id)
WHERE n.ns = $ns AND n.id > '' AND n:Current
WITH coalesce(n.terms, n.content_hash) AS words, collect(n) AS notes
WHERE size(notes) > 1
WITH size(notes) AS copies, notes
ORDER BY copies DESC, notes[0].id LIMIT $limit
CALL (notes) {
  UNWIND notes AS note
  WITH note ORDER BY note.created_ts, note.id
  RETURN collect(note.id) AS ids, count(DISTINCT note.content_hash) AS spellings, head(collect(note.title)) AS title,
         max(note.created_at) AS newest_at
}
RETURN title, copies, spellings, ids[0] AS oldest_id, ids[..10] AS ids, newest_at
ORDER BY copies DESC, oldest_id
