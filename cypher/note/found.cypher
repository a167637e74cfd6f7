// Which of these ids are nodes that live here, and what they are.
// params: ns: string, ids: list<string>
// returns: id: string, label: string, kind: string, created_ts: integer
// needs: recallable_id, entity_id
UNWIND $ids AS id
MATCH (n:Recallable|Entity {ns: $ns, id: id}) WHERE NOT n:Deleted
RETURN n.id AS id, head([l IN labels(n) WHERE l IN ['Note', 'Neuron', 'Abstraction', 'Knowledge', 'Entity']]) AS label,
       n.kind AS kind, coalesce(n.created_ts, 0) AS created_ts
