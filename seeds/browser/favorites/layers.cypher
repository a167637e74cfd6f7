// Palimpsest: how many nodes each layer holds, by namespace and kind
MATCH (n:Recallable)
RETURN n.ns AS namespace, n.kind AS kind,
       count(CASE WHEN n:Current THEN 1 END) AS current,
       count(CASE WHEN n:Superseded THEN 1 END) AS superseded,
       count(CASE WHEN n:Deleted THEN 1 END) AS deleted
ORDER BY namespace, kind
