// Lists page by kind in the order of ids, which is the order of storing.
// params: -
// returns: -
CREATE INDEX recallable_page IF NOT EXISTS FOR (n:Recallable) ON (n.ns, n.kind, n.id)
