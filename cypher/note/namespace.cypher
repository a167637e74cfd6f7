// Makes sure that the namespace has its node.
// params: ns: string
// returns: name: string
MERGE (space:Namespace {name: $ns})
ON CREATE SET space.created_at = datetime()
RETURN space.name AS name
