// Binds a profile to whom it is for; binding again changes the priority.
// params: ns: string, id: string, profile: string, actor: string, namespace: string, consumer: string, priority: integer
// returns: binding: map, created: boolean
// needs: profile_id, binding_key
MATCH (p:Profile {ns: $ns, id: $profile})
MERGE (b:Binding {ns: $ns, actor: $actor, consumer: $consumer, namespace: $namespace, profile_id: $profile})
ON CREATE SET b.id = $id, b.created_at = datetime()
MERGE (b)-[:BOUND_TO]->(p)
SET b.priority = $priority
RETURN properties(b) AS binding, b.id = $id AS created
