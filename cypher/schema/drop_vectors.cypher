// Takes the vectors of a slot off all nodes, and the backgrounds that were measured with them off the namespaces.
// params: suffix: string
// returns: cleared: integer
MATCH (n:Recallable|Passage|Namespace)
WHERE n['embedding' + $suffix] IS NOT NULL OR n['embedding_model' + $suffix] IS NOT NULL OR n['vector' + $suffix] IS NOT NULL
   OR n['background_model' + $suffix] IS NOT NULL
CALL (n) {
  REMOVE n['embedding' + $suffix], n['embedding_model' + $suffix], n['vector' + $suffix],
         n['background' + $suffix], n['background_model' + $suffix]
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(n) AS cleared
