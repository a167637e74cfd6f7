// Every name that recall's statement has: one that comes into being later has Neo4j make its plan anew, for seconds.
// params: -
// returns: others: integer, properties: integer
UNWIND ['Current', 'Deleted', 'Entity', 'Namespace', 'Passage', 'Recallable', 'Superseded'] AS label
CALL db.createLabel(label)
WITH count(*) AS labels
UNWIND ['ASSOCIATES', 'COMPETES_WITH', 'COMPOSED_WITH', 'CONTAINS', 'DEPENDS_ON', 'DERIVED_FROM', 'ENABLES', 'EXTENDS', 'FOLLOWS',
        'HAS_PASSAGE', 'IMPLEMENTS', 'INSTANCE_OF', 'INTRODUCED_BY', 'PART_OF', 'PRECEDES', 'REFUTES', 'SUPERSEDES', 'SUPPORTS',
        'VARIANT_OF'] AS relation
CALL db.createRelationshipType(relation)
WITH labels, count(*) AS relations
UNWIND ['background_version', 'brain_version', 'content', 'created_ts', 'decay_factor', 'embedding', 'expires_ts', 'id', 'key',
        'kind', 'name', 'name_key', 'ns', 'salience', 'source', 'superseded_ts', 'tags', 'terms', 'type_key', 'vector'] AS property
CALL db.createProperty(property)
RETURN labels + relations AS others, count(*) AS properties
