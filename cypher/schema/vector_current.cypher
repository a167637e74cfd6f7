// Meanings of the current layer, with the fields that a search filters by; made for the model in use, not by a migration.
// params: name: string, options: map
// returns: -
// variants: b, multilingual of n.embedding
CREATE VECTOR INDEX $name IF NOT EXISTS FOR (n:Current) ON n.embedding
WITH [n.ns, n.kind, n.type_key, n.created_ts, n.superseded_ts, n.expires_ts]
OPTIONS $options
