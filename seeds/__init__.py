"""The sample knowledge graph: tables of facts and their loader."""
