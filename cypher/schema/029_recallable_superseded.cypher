// Superseded notes of a namespace by time, for what analytics ask about churn: the live ones carry the largest number.
// params: -
// returns: -
CREATE INDEX recallable_superseded IF NOT EXISTS FOR (n:Recallable) ON (n.ns, n.superseded_ts)
