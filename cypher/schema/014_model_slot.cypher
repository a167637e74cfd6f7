// A slot (graph/slots.py) holds the vectors of one model.
// params: -
// returns: -
CREATE CONSTRAINT model_slot IF NOT EXISTS FOR (m:Model) REQUIRE m.slot IS UNIQUE
