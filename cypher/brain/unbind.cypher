// Takes a binding away.
// params: ns: string, profile: string, actor: string, namespace: string, consumer: string
// returns: id: string
// needs: binding_key
MATCH (b:Binding {ns: $ns, actor: $actor, consumer: $consumer, namespace: $namespace, profile_id: $profile})
WITH b, b.id AS id
DETACH DELETE b
RETURN id
