// What was done by key, by time: to be read from the newest, and to find what is past its retention.
// params: -
// returns: -
CREATE INDEX audit_time IF NOT EXISTS FOR (a:Audit) ON (a.ns, a.created_ts)
