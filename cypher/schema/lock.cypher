// Takes the migration lease, if nobody holds it or its holder is past its time.
// params: owner: string, lease_s: integer
// returns: mine: boolean
MERGE (lock:Migration {name: 'lock'})
SET lock.touched = true  // the write lock, before its holder is read
WITH lock, lock.owner IS NULL OR lock.owner = $owner OR lock.until < datetime() AS free
SET lock.owner = CASE WHEN free THEN $owner ELSE lock.owner END,
    lock.until = CASE WHEN free THEN datetime() + duration({seconds: $lease_s}) ELSE lock.until END
RETURN free AS mine
