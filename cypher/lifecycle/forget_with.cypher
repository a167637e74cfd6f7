// What has to go with nodes that are forgotten: what consolidations drew from them, stale or not, and the entities that they
// mention, of which only those go that nothing else leads to.
// params: ns: string, ids: list<string>
// returns: derived: list<string>, entities: list<string>
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id})
RETURN COLLECT { MATCH (d:Recallable)-[:DERIVED_FROM]->(n) WHERE d.consolidated IS NOT NULL RETURN d.id } AS derived,
       COLLECT {
         MATCH (n)-[:MENTIONS]->(e:Entity) RETURN e.id
         UNION
         MATCH (n)<-[:DERIVED_FROM]-(d:Recallable)-[:MENTIONS]->(e:Entity) WHERE d.consolidated IS NOT NULL RETURN e.id
       } AS entities
