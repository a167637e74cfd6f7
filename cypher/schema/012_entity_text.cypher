// Names of entities, for kg.search.
// params: -
// returns: -
CREATE FULLTEXT INDEX entity_text IF NOT EXISTS FOR (n:Entity)
ON EACH [n.terms, n.ns, n.kind]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}
