// Words of the superseded layer. The tokens are ours, so the analyzer only splits at blanks; the rest of the fields filter.
// params: -
// returns: -
CREATE FULLTEXT INDEX superseded_text IF NOT EXISTS FOR (n:Superseded)
ON EACH [n.terms, n.ns, n.kind, n.type_key, n.tag_key, n.created_key, n.superseded_key, n.expires_key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}
