// Makes this transaction the only one that changes what the namespace has learned, and tells recalls that it did: the version
// is what they compare. It is no mere count, so that a namespace that was forgotten never has a version again.
// params: ns: string
// returns: version: integer
// needs: namespace_name
MERGE (space:Namespace {name: $ns})
ON CREATE SET space.created_at = datetime()
SET space.brain_version = CASE WHEN coalesce(space.brain_version, 0) < timestamp() THEN timestamp() ELSE space.brain_version + 1 END
RETURN space.brain_version AS version
