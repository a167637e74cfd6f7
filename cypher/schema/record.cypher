// Records a migration as applied.
// params: name: string, version: integer
// returns: version: integer
MERGE (m:Migration {name: $name})
ON CREATE SET m.version = $version, m.applied_at = datetime()
RETURN m.version AS version
