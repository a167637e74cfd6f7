// The triggers of neurons.
// params: ns: string, ids: list<string>
// returns: id: string, triggers: list<string>
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})
WHERE n:Neuron
RETURN n.id AS id, coalesce(n.triggers, []) AS triggers
