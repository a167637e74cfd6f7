// Changes a profile. Whoever runs this holds `brain.lock`, so what it was computed from still holds.
// params: ns: string, id: string, changes: map, event: string
// returns: profile: map
// needs: profile_id
MATCH (p:Profile {ns: $ns, id: $id})
SET p += $changes, p.updated_at = datetime(),
    p.events = CASE WHEN $event = '' THEN p.events ELSE (coalesce(p.events, []) + [$event])[-100..] END
RETURN properties(p) AS profile
