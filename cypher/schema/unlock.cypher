// Gives the migration lease back.
// params: owner: string
// returns: released: integer
MATCH (lock:Migration {name: 'lock', owner: $owner})
REMOVE lock.owner, lock.until
RETURN count(lock) AS released
