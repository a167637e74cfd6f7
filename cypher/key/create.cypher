// Keeps a key: its hash, its role and the namespaces that it reaches.
// params: properties: map
// returns: id: string
// needs: api_key_id
CREATE (k:ApiKey)
SET k = $properties, k.created_at = datetime()
RETURN k.id AS id
