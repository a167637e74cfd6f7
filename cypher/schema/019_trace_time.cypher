// Traces by time: for questions about a week, and to find those that are past their retention.
// params: -
// returns: -
CREATE INDEX trace_time IF NOT EXISTS FOR (t:Trace) ON (t.ns, t.created_ts)
