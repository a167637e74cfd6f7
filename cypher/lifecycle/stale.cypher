// What a consolidation drew from these nodes quotes them, so it expires now: they were superseded or deleted, or say something
// else. A second label would need edges that the layers know nothing of; expiry is a filter that every search has.
// params: ns: string, ids: list<string>
// returns: id: string
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})
MATCH (n)<-[:DERIVED_FROM]-(d:Recallable {ns: $ns})
WHERE d.consolidated IS NOT NULL AND d.stale_at IS NULL AND NOT d:Deleted
WITH DISTINCT d, datetime() AS now
SET d.stale_at = now, d.expires_at = now, d.expires_ts = now.epochMillis * 1000,
    d.expires_key = right('0' + toString(now.epochMillis * 1000 + 62135596800000000), 18)
REMOVE d.key
WITH d
CALL (d) {
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  SET p.expires_ts = d.expires_ts, p.expires_key = d.expires_key
}
RETURN d.id AS id
