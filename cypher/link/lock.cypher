// Makes this transaction the only one that draws SUPERSEDES edges between known nodes of the namespace: two that close a
// cycle between them share no node to wait at.
// params: ns: string
// returns: name: string
// needs: namespace_name
MERGE (space:Namespace {name: $ns})
SET space.linked_at = datetime()
RETURN space.name AS name
