// A binding is one by whom it is for and which profile it names; the first properties are those that a recall looks it up by.
// params: -
// returns: -
CREATE CONSTRAINT binding_key IF NOT EXISTS FOR (n:Binding) REQUIRE (n.ns, n.actor, n.consumer, n.namespace, n.profile_id) IS UNIQUE
