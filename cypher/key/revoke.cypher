// Revokes a key for good; one that is revoked keeps its time. No row where there is none of that id.
// params: id: string
// returns: id: string, name: string, role: string, namespaces: list<string>, created_at: datetime, revoked_at: datetime
// needs: api_key_id
MATCH (k:ApiKey {id: $id})
SET k.revoked_at = coalesce(k.revoked_at, datetime())
RETURN k.id AS id, k.name AS name, k.role AS role, k.namespaces AS namespaces, k.created_at AS created_at,
       k.revoked_at AS revoked_at
