// Palimpsest: the newest contexts: what each let in, and what it dropped for its budget
MATCH (t:Trace {ns: 'sample'})
WITH t ORDER BY t.id DESC LIMIT 5
OPTIONAL MATCH task = (t)-[:OF_TASK]->(:Task)
OPTIONAL MATCH memory = (t)-[:ADMITTED|DROPPED]->(:Recallable)
RETURN t, task, memory
