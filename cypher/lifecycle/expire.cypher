// Takes nodes out of recall that hold no longer, by a filter that every search has: they expire now.
// params: ns: string, ids: list<string>
// returns: id: string
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id}) WHERE n.stale_at IS NULL AND NOT n:Deleted
WITH n, datetime() AS now
SET n.stale_at = now, n.expires_at = now, n.expires_ts = now.epochMillis * 1000,
    n.expires_key = right('0' + toString(now.epochMillis * 1000 + 62135596800000000), 18)
WITH n
CALL (n) {
  MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
  SET p.expires_ts = n.expires_ts, p.expires_key = n.expires_key
}
RETURN n.id AS id
