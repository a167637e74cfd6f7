// Takes the MENTIONS edges of a note away that a linker drew; those that somebody asked for stay.
// params: ns: string, id: string
// returns: taken: integer
// needs: recallable_id
MATCH (n:Recallable {ns: $ns, id: $id})-[r:MENTIONS]->() WHERE r.by = 'linker'
DELETE r
RETURN count(r) AS taken
