// What each profile has learned: the mean of its three posteriors, and the evidence for and against each.
// From the priors Beta(7, 3), Beta(2, 8) and Beta(1, 9), which are those of the configuration that ships.
// params: ns: string, limit: integer
// returns: profile: string, lifecycle: string, epoch: integer, signals: integer, relevance: float, salience: float,
//   temporal: float, evidence: list<float>, updated_at: datetime
// needs: profile_id
:param ns => 'default';
:param limit => 20;
MATCH (p:Profile)
USING INDEX SEEK p:Profile(ns, id)
WHERE p.ns = $ns AND p.id > ''
WITH p, [['relevance', 7.0, 3.0], ['salience', 2.0, 8.0], ['temporal', 1.0, 9.0]] AS priors
WITH p, [prior IN priors | {
  alpha: prior[1] + prior[1] / 10 * coalesce(p['memory::' + prior[0] + '_weight.for'], 0.0),
  beta: prior[2] + prior[2] / 10 * coalesce(p['memory::' + prior[0] + '_weight.against'], 0.0)
}] AS learned, reduce(all = [], prior IN priors | all + [coalesce(p['memory::' + prior[0] + '_weight.for'], 0.0),
                                                         coalesce(p['memory::' + prior[0] + '_weight.against'], 0.0)]) AS evidence
WITH p, evidence, [each IN learned | each.alpha / (each.alpha + each.beta)] AS means
RETURN p.id AS profile, p.lifecycle AS lifecycle, p.epoch AS epoch, p.signals AS signals, means[0] AS relevance,
       means[1] AS salience, means[2] AS temporal, evidence, p.updated_at AS updated_at
ORDER BY signals DESC, profile LIMIT $limit
