// Every API key is one by id. Keys belong to no namespace; they name those that they reach.
// params: -
// returns: -
CREATE CONSTRAINT api_key_id IF NOT EXISTS FOR (k:ApiKey) REQUIRE k.id IS UNIQUE
