"""Changes that change nothing that a test could see, each with its reason.

A name is a function and a change, ``function: before → after``, or ``function: before`` for every
change of that line.
"""

_BRACKET = "neighbours on a grid, between which a smooth search begins that ends in one place"
_BISECTION = "where a bisection begins; it ends in the same number"
_ROUNDING = "the limit only cuts off rounding: the value cannot pass it otherwise"
_MULTIPLE = "every positive multiple of the weights separates the same points"
_END = "an integral ends where its integrand is far below the last digit"
_SEED = "a seed that is drawn for later draws"
_POINTS = "the constant kernel does not look at its points"
_SLACK = "how much rounding is forgiven, far above what occurs and far below what counts"
_ORDER = "only the order of the scores is used"
_GAP = "no value lies between the two numbers"
_MEMORY = "memory that is written before it is read, or never read"
_BLOCKS = "how many rows are worked on together; the result does not depend on it"
_COMMON = "a common factor of all weights changes no draw, no share and no limit of growth"
_SPREAD = "a single one is spread over all rows"

EQUIVALENT: dict[str, str] = {
    f"corollary.{where}: {change}": reason
    for where, change, reason in [
        (
            "bandit.play._go_through",
            "step = max(1, min(rounds, STEPS_PER_CALL // (group * max(1, memory // 8))))",
            _BLOCKS,
        ),
        (
            "theory.concentration.tails.chernoff_bound",
            "low, high = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])",
            _BRACKET,
        ),
        (
            "theory.concentration.sub_gaussian.sub_gaussian_parameter",
            "low, high = (grid[max(top - 1, 0)], grid[min(top + 1, len(grid) - 1)])",
            _BRACKET,
        ),
        (
            "theory.concentration.sub_gaussian.expected_gaussian_maximum",
            "end = math.sqrt(2 * math.log(2 * n_variables)) + 10",
            _END,
        ),
        (
            "theory.concentration.sub_gaussian.expected_gaussian_maximum",
            "negative = quad(lambda t: math.exp(n_variables * log_ndtr(-t)), 0, 40, "
            "epsabs=1e-12)[0] → negative = quad(lambda t: math.exp(n_variables * log_ndtr(-t)), "
            "0, 41, epsabs=1e-12)[0]",
            _END,
        ),
        (
            "theory.concentration.sub_gaussian.expected_gaussian_maximum",
            "return -math.expm1(n_variables * math.log1p(-share)) if share < 1 else 1.0"
            " → return -math.expm1(n_variables * math.log1p(-share)) if share < 2 else 1.0",
            "the quadrature has no node at 0, where alone the share is 1",
        ),
        (
            "theory.concentration.sub_gaussian.expected_gaussian_maximum",
            "return -math.expm1(n_variables * math.log1p(-share)) if share < 1 else 1.0"
            " → return -math.expm1(n_variables * math.log1p(-share)) if share < 1 else 1.5",
            "the quadrature has no node at 0, where alone the share is 1",
        ),
        (
            "theory.learnability.pac.least_sample_size",
            "seed = check_random_state(random_state).randint(2 ** 31 - 1)",
            _SEED,
        ),
        (
            "theory.learnability.no_free_lunch.no_free_lunch",
            "tails.append(np.mean(np.array(risks) >= 1 / 8))"
            " → tails.append(np.mean(np.array(risks) >= 1 / 9))",
            _GAP,
        ),
        ("theory.complexity.halfspaces.separating_halfspace", "value times 0.7", _MULTIPLE),
        ("theory.complexity.halfspaces.separating_halfspace", "value times 1.5", _MULTIPLE),
        (
            "theory.complexity.halfspaces.separating_halfspace",
            "…s(len(Z)), bounds=[(None, None)] * Z.shape[1], method='highs')…",
            "one pair of bounds stands for all weights",
        ),
        (
            "theory.complexity.covering.covering_number",
            "….ones(len(near)), bounds=Bounds(0, 1))… → ….ones(len(near)), bounds=Bounds(0, 2))…",
            "taking a centre twice covers nothing more",
        ),
        (
            "theory.complexity.covering.packing_number",
            "not len(i)",
            "without constraints the program takes all points",
        ),
        (
            "risk.minimise.learner.order_sensitivity",
            "scale = tol * max(1.0, float(np.abs(reference).max())) if numeric else 0.0"
            " → scale = tol * max(1.0, float(np.abs(reference).max())) if numeric else 1.0",
            "predictions that are no numbers are compared without the scale",
        ),
        (
            "validation.leave_one_out.smoother_loo",
            "return np.where(defined, (y - fitted) / np.where(defined, freedom, 1.0), np.nan)"
            " → return np.where(defined, (y - fitted) / np.where(defined, freedom, 1.5), np.nan)",
            "a number to divide by where the quotient is not used",
        ),
        (
            "linear.ridge.shrinkage.shrinkage_factors",
            "return squares / np.where(squares > 0, squares + alpha, 1.0)"
            " → return squares / np.where(squares > 0, squares + alpha, 1.5)",
            "a number by which zeros are divided",
        ),
        (
            "linear.ridge.shrinkage.variance_factors",
            "return squares / np.where(squares > 0, squares + alpha, 1.0) ** 2"
            " → return squares / np.where(squares > 0, squares + alpha, 1.5) ** 2",
            "a number by which zeros are divided",
        ),
        (
            "theory.concentration.bounded_losses._smallest_sample",
            "n = max(1, math.ceil(width ** 2 * math.log(sides / delta) / (2 * radius ** 2) "
            "- 1e-06)) → n = max(1, math.ceil(width ** 2 * math.log(sides / delta) / "
            "(3 * radius ** 2) - 1e-06))",
            "a smaller first guess is raised until it suffices",
        ),
        (
            "ensemble.combining.average.equicorrelated_variance",
            "rho = float(correlation) if n_members > 1 else 1.0"
            " → rho = float(correlation) if n_members > 1 else 1.5",
            "for one member the two terms sum to its variance",
        ),
        (
            "ensemble.stagewise.reweighting.boosting_distribution",
            "D = D * np.exp(np.minimum(logs, 0.0)) → D = D * np.exp(np.minimum(logs, 1.0))",
            "only rows without weight pass the limit",
        ),
        ("theory.complexity.vc.vc_sample_size", "high = 1 → high = 2", _BISECTION),
        ("theory.complexity.vc.vc_sample_size", "low = high // 2 → low = high // 3", _BISECTION),
        (
            "theory.pac_bayes.variational.gibbs_measure",
            "return softmax(np.log(q) + np.where(q > 0, g, 0.0))"
            " → return softmax(np.log(q) + np.where(q > 0, g, 1.0))",
            "a finite number added to minus infinity",
        ),
        (
            "linear.separation.margins.dataset_margin",
            "above, below = (X[sign > 0], X[sign < 0]) → above, below = (X[sign > 0], X[sign < 1])",
            "signs are -1 and 1, with nothing between",
        ),
        (
            "kernels.vectors.coordinates.ANOVA._evaluate",
            "K = P.__array_namespace__().ones((P.shape[0], Q.shape[0]), dtype=P.dtype)",
            "ones of one row or column spread over the others",
        ),
        (
            "kernels.vectors.coordinates.ArcCosine._evaluate",
            "angle = np.arccos(np.clip(cosine, -1.0, 1.0, out=cosine), out=cosine)"
            " → angle = np.arccos(np.clip(cosine, -1.0, 1.5, out=cosine), out=cosine)",
            _ROUNDING,
        ),
        (
            "kernels.structures.graphs.graph_laplacian",
            "np.fill_diagonal(A, 0.0) → np.fill_diagonal(A, 1.0)",
            "a loop is added to the degree and taken away from the diagonal",
        ),
        (
            "kernels.structures.distributions.HellingerRBF._of_affinity",
            "return xp.exp((xp.minimum(affinity, 1.0) - 1.0) / (2.0 * self.length_scale ** 2))"
            " → return xp.exp((xp.minimum(affinity, 1.5) - 1.0) / (2.0 * self.length_scale ** 2))",
            _ROUNDING,
        ),
        ("kernels.vectors.dot_product.Constant._prepare", "value times 0.7", _POINTS),
        ("kernels.vectors.dot_product.Constant._prepare", "value times 1.5", _POINTS),
        (
            "conformal.quantile.empirical_quantile",
            "rank = round_up(level * len(values), len(values)) if len(values) else math.ceil(level)"
            " → rank = round_up(level * len(values), 1) if len(values) else math.ceil(level)",
            _SLACK,
        ),
        (
            "conformal.quantile.empirical_quantile",
            "level > 1 → level > 2",
            "a level above 1 has a rank above the number of values",
        ),
        (
            "conformal.coverage.laws.naive_coverage",
            "return round_up(n_calibration * (1 - alpha), n_calibration) / (n_calibration + 1)"
            " → return round_up(n_calibration * (1 - alpha), 1) / (n_calibration + 1)",
            _SLACK,
        ),
        (
            "active.gaussian.information.conditional_variance",
            "largest = float(np.diag(K).max(initial=0.0))"
            " → largest = float(np.diag(K).max(initial=1.0))",
            _SLACK,
        ),
        (
            "representation.geometry.metrics.check_euclidean",
            "limit = tol * len(D) * max(np.abs(values).max(), np.finfo(float).tiny)"
            " → limit = tol * 1 * max(np.abs(values).max(), np.finfo(float).tiny)",
            _SLACK,
        ),
        ("representation.geometry.metrics.check_scalar_product", "slack * dimension", _SLACK),
        ("active.gaussian.transductive.TransductiveLearner._scores", "value times 0.7", _ORDER),
        ("active.gaussian.transductive.TransductiveLearner._scores", "value times 1.5", _ORDER),
        ("active.safe.safe_itl.SafeITL._scores", "value times 0.7", _ORDER),
        ("active.safe.safe_itl.SafeITL._scores", "value times 1.5", _ORDER),
        (
            "validation.reuse.reuse_experiment",
            "y, y_fresh = rng.randint(2, size=(2, n_samples))"
            " → y, y_fresh = rng.randint(2, size=(2, 1))",
            "guesses by a coin agree with one label as often as with many",
        ),
        (
            "validation.bootstrap.bootstrap_risk",
            "shifts = range(1, n) if n <= 200 else rng.randint(1, n, size=200)",
            "how many shifts estimate the mean over all of them",
        ),
        (
            "risk.laws.divergence.total_variation",
            "return min(1.0, 0.5 * float(np.abs(p - q).sum()))"
            " → return min(1.5, 0.5 * float(np.abs(p - q).sum()))",
            _ROUNDING,
        ),
        (
            "risk.laws.divergence.jensen_shannon",
            "return min(max(value, 0.0), math.log(2)) → return min(max(value, 0.0), math.log(3))",
            _ROUNDING,
        ),
        (
            "risk.laws.divergence.jensen_shannon_density",
            "return min(max(value, 0.0), math.log(2)) → return min(max(value, 0.0), math.log(3))",
            _ROUNDING,
        ),
        (
            "datasets.separable.SeparableMargin.sample",
            "return (X + np.outer(y * short * (1 + 1e-12), self.unit), y)",
            "what is added is the rounding by which a point fell short",
        ),
        (
            "active.gaussian.transductive.TransductiveLearner.__init__",
            "self._targets = np.where(places < 0, n + np.arange(len(others)), places) →"
            " self._targets = np.where(places < 1, n + np.arange(len(others)), places)",
            "a twin of a point of the pool carries the same information",
        ),
        (
            "active.gaussian.transductive.TransductiveLearner._plan",
            "return (np.empty(0, dtype=np.intp), None)",
            "without targets the scores are variances, which look at no other point",
        ),
        (
            "bandit.play.play",
            "workers = None if n_jobs is None or n_jobs < 1 else n_jobs",
            "the number of threads does not change the result",
        ),
        (
            "kernels.structures.strings._codes",
            "codes = np.zeros((len(strings), max(1, lengths.max(initial=0))), dtype=np.int64)"
            " → codes = np.zeros((len(strings), max(2, lengths.max(initial=0))),"
            " dtype=np.int64)",
            _MEMORY,
        ),
        (
            "kernels.structures.strings._widened",
            "…dptr), shape=(counts.shape[0], max(1, width)))… → …dptr),"
            " shape=(counts.shape[0], max(2, width)))…",
            "one more column without any count",
        ),
        (
            "online.experts.hedge.Hedge.play",
            "out = np.empty((m, 4)) → out = np.empty((m, 5))",
            _MEMORY,
        ),
        (
            "online.experts.weighted_average.WeightedAverage.play",
            "out = np.empty((m, 4)) → out = np.empty((m, 5))",
            _MEMORY,
        ),
        (
            "online.experts.weighted_average.WeightedAverage.predict",
            "return np.clip(advice @ exponential_weights(totals[None], self.rate)[1], 0.0,"
            " 1.0) → return np.clip(advice @ exponential_weights(totals[None], self.rate)[1],"
            " 0.0, 1.5)",
            _ROUNDING,
        ),
        (
            "online.boolean.disjunctions.DisjunctionExperts.play",
            "block = max(1, 2 ** 22 // len(self.experts_))",
            _BLOCKS,
        ),
        (
            "online.boolean.winnow.Winnow.play",
            "wrong = (np.asarray(X @ literals) > 0) != (y > 0.5) → wrong = (np.asarray(X @"
            " literals) > 0) != (y > 0.75)",
            _GAP,
        ),
        (
            "bandit.policies.EXP3._start_memory",
            "return [np.zeros(8), np.zeros(n_arms), np.zeros(2 * leaves)] → return"
            " [np.zeros(8), np.zeros(n_arms), np.zeros(3 * leaves)]",
            _MEMORY,
        ),
        (
            "bandit.policies.UCB1._start_memory",
            "value times 0.7",
            "a bound of arms that were never played, far beyond every loss",
        ),
        (
            "bandit.policies.UCB1._start_memory",
            "value times 1.5",
            "a bound of arms that were never played, far beyond every loss",
        ),
        (
            "tree.growth.impurity.information_gain",
            "…weight = np.ones(len(labels)) if sample_weight is None else np.… → …weight ="
            " np.ones(1) if sample_weight is None else np.…",
            _SPREAD,
        ),
        (
            "tree.growth.impurity.information_gain",
            "table = np.zeros((sides.max() + 1, codes.max() + 1))",
            "branches and classes that hold no row add nothing",
        ),
        (
            "ensemble.combining.average.average_moments",
            "correlation = np.float64(pairs / max(1, n_members * (n_members - 1))) /"
            " np.float64(single) → correlation = np.float64(pairs / max(2, n_members *"
            " (n_members - 1))) / np.float64(single)",
            "for one member the quotient is not used",
        ),
        (
            "kernels.algebra.functions.Normalised._prepare",
            "inverse = 1.0 / xp.sqrt(xp.where(positive, squares, 1.0)) → inverse = 1.0 /"
            " xp.sqrt(xp.where(positive, squares, 1.5))",
            "a number to divide by where the quotient is not used",
        ),
        (
            "kernels.statistics.validity.psd_test",
            "values, vectors = np.linalg.eigh((K + K.T) / 2) → values, vectors ="
            " np.linalg.eigh((K + K.T) / 3)",
            "only ratios of eigenvalues are used",
        ),
        (
            "kernels.statistics.validity._gram",
            "value times 0.7",
            "changes are compared with the largest value",
        ),
        (
            "kernels.statistics.validity._gram",
            "value times 1.5",
            "changes are compared with the largest value",
        ),
        (
            "kernels.models.kernel_erm._negligible",
            "value times 0.7",
            _SLACK,
        ),
        (
            "kernels.models.kernel_erm._negligible",
            "value times 1.5",
            _SLACK,
        ),
        (
            "kernels.models.kernel_erm._direction",
            "value times 0.7",
            "a line search decides how far to go along a direction",
        ),
        (
            "kernels.models.kernel_erm._direction",
            "value times 1.5",
            "a line search decides how far to go along a direction",
        ),
        (
            "linear.ridge.ridge_cv.RidgeCV._leave_one_out",
            "…f.fit_intercept / total, np.zeros((len(alphas), n_targets)))…"
            " → …f.fit_intercept / total, np.zeros((1, n_targets)))…",
            "a row of zeros is spread over all penalties",
        ),
        (
            "optimize.problem.finite_sum.EmpiricalRisk._largest",
            "X = self.X if self.X.shape[0] >= self.X.shape[1] else self.X.T",
            "a matrix and its transpose have the same largest singular value; one takes longer",
        ),
        (
            "optimize.smooth.gradient_map.quadratic_descent",
            "sums = np.where(flat, rate * n_steps, (1 - factors) / np.where(flat, 1.0, "
            "eigenvalues)) → sums = np.where(flat, rate * n_steps, (1 - factors) / "
            "np.where(flat, 1.5, eigenvalues))",
            "it keeps from dividing by 0 where the quotient is not used",
        ),
        (
            "optimize.stochastic.rules.UpdateRule.init",
            "return self.transform(0.0).init(np.asarray(x, dtype=float))"
            " → return self.transform(1.0).init(np.asarray(x, dtype=float))",
            "what is remembered before the first step does not depend on the step size",
        ),
        (
            "optimize.stochastic.robbins_monro.robbins_monro",
            "seed = int(check_random_state(random_state).randint(2 ** 31 - 1))"
            " → seed = int(check_random_state(random_state).randint(2 ** 31 - 2))",
            _SEED,
        ),
        (
            "optimize.second_order.bfgs.BFGS.step",
            "range(60) → range(61)",
            "a cap far above the number of rounds that occur",
        ),
        (
            "optimize.second_order.proximal_newton._solve_on_support",
            "range(50) → range(51)",
            "a cap far above the number of rounds that occur",
        ),
        (
            "decomposition.kernel_pca.KernelPCA._transform",
            "step = max(1, _VALUES_AT_ONCE // max(1, len(self.projection_)))",
            _BLOCKS,
        ),
        (
            "representation.scaling.whitening.Whitener._fit",
            "moments = reduce(Moments.of_width(X.shape[1]), data)",
            "a summary of no rows gives way to the first block, whatever its width",
        ),
        (
            "linear.quantile.program._unit_columns",
            "size = np.where(constant | (size == 0.0), 1.0, size)"
            " → size = np.where(constant | (size == 0.0), 1.5, size)",
            "a number by which zeros are divided",
        ),
        (
            "ensemble.bagging.forest.RandomForestClassifier._weigh_classes",
            "value times 0.7",
            _COMMON,
        ),
        (
            "ensemble.bagging.forest.RandomForestClassifier._weigh_classes",
            "value times 1.5",
            _COMMON,
        ),
        (
            "bandit.play.play",
            "words = random.randint(0, 2 ** 32, size=4, dtype=np.uint64)",
            _SEED,
        ),
        (
            "bandit.play._set_table",
            "shape = (repetitions, len(at), 2) → shape = (repetitions, len(at), 3)",
            _MEMORY,
        ),
        (
            "theory.concentration.sub_gaussian.sub_gaussian_parameter",
            "(-1.0, 1.0)",
            "the pace at which a half-line is searched, which ends in one place",
        ),
        (
            "theory.learnability.pac.least_sample_size",
            "low = high // 2 → low = high // 3",
            _BISECTION,
        ),
        (
            "bandit.player.Player._seat",
            "game = Games(self.pulls[None], self.totals[None], self.stream, np.zeros((1, 3)))",
            _MEMORY,
        ),
        (
            "linear.ridge.ridge_cv.RidgeCV._leave_one_out",
            "w = np.ones(len(y)) if weight is None else weight"
            " → w = np.ones(1) if weight is None else weight",
            _SPREAD,
        ),
        (
            "optimize.second_order.proximal_newton.proximal_newton",
            "max_iter + 1 → max_iter + 2",
            "the loop is left when its number of steps is reached",
        ),
        ("bandit.play._go_through", "group = max(1, min(64, repetitions // 8))", _BLOCKS),
        (
            "tree.growth.split.best_split",
            "rules = GrowthRules(max_depth=1, min_samples_leaf=min_samples_leaf)"
            " → rules = GrowthRules(max_depth=2, min_samples_leaf=min_samples_leaf)",
            "only the split of the root is read",
        ),
        (
            "tree.structure.pruning.weakest_links",
            "child >= 0 → child >= 1",
            "the root is the child of no node",
        ),
        (
            "tree.structure.pruning.weakest_links",
            "tree.n_nodes - 1 → tree.n_nodes - 2",
            "the last node of a tree is a leaf, at which nothing is added",
        ),
        (
            "density.score_matching.exponential.fit_exponential_family",
            "steep = values > _FLAT * values.max(initial=0.0)"
            " → steep = values > _FLAT * values.max(initial=1.0)",
            "with unit curvatures the largest eigenvalue is at least 1",
        ),
        ("validation.tuning._seed", "return random_state.randint(2 ** 31 - 1)", _SEED),
        (
            "theory.complexity.shattering.is_shattered",
            "…return table.shape[1] <= math.log2(len(table)) and count…"
            " → …return 1 <= math.log2(len(table)) and count…",
            "too few rows are refused quickly; the count says the same",
        ),
    ]
}


def equivalent(name: str) -> bool:
    """Whether a fault is on the list, by itself or with all faults of its line."""
    return name in EQUIVALENT or name.partition(" → ")[0] in EQUIVALENT
