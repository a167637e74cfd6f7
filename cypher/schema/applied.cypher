// Migrations that this database has seen.
// params: -
// returns: name: string, version: integer
MATCH (m:Migration) WHERE m.version IS NOT NULL
RETURN m.name AS name, m.version AS version ORDER BY version
