// Every key of the service, revoked ones too, the oldest first.
// params: -
// returns: id: string, name: string, hash: string, role: string, namespaces: list<string>, created_at: datetime,
//   revoked_at: datetime
MATCH (k:ApiKey) WHERE k.role IS NOT NULL
RETURN k.id AS id, k.name AS name, k.hash AS hash, k.role AS role, k.namespaces AS namespaces, k.created_at AS created_at,
       k.revoked_at AS revoked_at
ORDER BY created_at, id
