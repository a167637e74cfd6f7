// One lock node and one record a migration.
// params: -
// returns: -
CREATE CONSTRAINT migration_name IF NOT EXISTS FOR (m:Migration) REQUIRE m.name IS UNIQUE
