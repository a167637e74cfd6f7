// Removes an index by name; used when a vector index belongs to another model.
// params: name: string
// returns: -
DROP INDEX $name IF EXISTS
