// Removes what a namespace keeps about itself: its background is made of the words and meanings of its notes.
// params: ns: string
// returns: removed: integer
// needs: namespace_name
MATCH (space:Namespace {name: $ns})
DETACH DELETE space
RETURN count(*) AS removed
