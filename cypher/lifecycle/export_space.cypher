// What a namespace keeps about itself: how much was written, the background that recall measures by.
// params: ns: string
// returns: properties: map
// needs: namespace_name
MATCH (space:Namespace {name: $ns})
RETURN properties(space) AS properties
