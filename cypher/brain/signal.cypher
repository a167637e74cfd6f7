// Keeps a signal. once: null where it names no serve, so that it may come again.
// params: ns: string, properties: map
// returns: id: string
CREATE (s:Signal)
SET s = $properties, s.ns = $ns, s.at = datetime()
RETURN s.id AS id
