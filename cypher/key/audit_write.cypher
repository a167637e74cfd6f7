// Keeps what was done by key, some at once; what is there already stays as it is.
// items: id, key_id, key_name, actor, verb, status, request_id, created_ts (microseconds)
// params: ns: string, items: list<map>
// returns: written: integer
// needs: audit_id
UNWIND $items AS item
MERGE (a:Audit {ns: $ns, id: item.id})
ON CREATE SET a += item, a.created_at = datetime({epochMillis: item.created_ts / 1000})
RETURN count(*) AS written
