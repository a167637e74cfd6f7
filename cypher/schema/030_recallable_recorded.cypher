// Notes of a namespace by when they were stored, for what analytics ask about growth.
// params: -
// returns: -
CREATE INDEX recallable_recorded IF NOT EXISTS FOR (n:Recallable) ON (n.ns, n.recorded_at)
