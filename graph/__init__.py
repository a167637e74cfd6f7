"""Everything that knows Neo4j: the managed server, the store, the schema, the ontology, the kg pack."""
