// Every label that some node has.
// params: -
// returns: label: string
CALL db.labels() YIELD label
RETURN label ORDER BY label
