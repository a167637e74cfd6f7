// The profile that serves a recall. An explicit one; else that of the binding that fits closest (actor counts 4, namespace 2,
// consumer 1; then the higher priority; then the older) and whose profile is active or can't be found; else the default.
// params: ns: string, profile: string, actor: string, consumer: string, default: string
// returns: version: integer, evidence: boolean, wanted: string, profile: map
// needs: namespace_name, profile_id, binding_key
OPTIONAL MATCH (space:Namespace {name: $ns})
CALL () {
  MATCH (b:Binding)
  USING INDEX SEEK b:Binding(ns, actor, consumer, namespace, profile_id)
  WHERE b.ns = $ns AND b.actor IN ['*', $actor] AND b.consumer IN ['*', $consumer] AND b.namespace IN ['*', $ns]
    AND b.profile_id > '' AND $profile = ''
  OPTIONAL MATCH (p:Profile {ns: $ns, id: b.profile_id})
  WITH b, p WHERE coalesce(p.lifecycle, 'active') = 'active'
  WITH b, CASE WHEN b.actor <> '*' THEN 4 ELSE 0 END + CASE WHEN b.namespace <> '*' THEN 2 ELSE 0 END
        + CASE WHEN b.consumer <> '*' THEN 1 ELSE 0 END AS fit
  ORDER BY fit DESC, b.priority DESC, b.created_at, b.id LIMIT 1
  RETURN collect(b.profile_id) AS bound
}
WITH space, CASE WHEN $profile <> '' THEN $profile ELSE coalesce(head(bound), $default) END AS wanted
OPTIONAL MATCH (p:Profile {ns: $ns, id: wanted})
RETURN coalesce(space.brain_version, 0) AS version, coalesce(space.has_evidence, false) AS evidence, wanted, properties(p) AS profile
