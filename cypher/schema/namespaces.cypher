// Every namespace, and how many notes were written into it.
// params: -
// returns: name: string, written: integer
MATCH (space:Namespace)
RETURN space.name AS name, coalesce(space.written, 0) AS written ORDER BY name
