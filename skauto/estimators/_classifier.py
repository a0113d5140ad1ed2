"""AutoClassifier: the estimator that most users hold."""

from skauto.estimators._base import BaseAutoClassifier


class AutoClassifier(BaseAutoClassifier):
    """Classifier that searches pipelines and predicts with an ensemble of the best.

    ``fit`` reads the table, tries pipelines (encode, impute, balance, rescale, transform, select,
    classify) on fixed folds as a search strategy proposes them, selects an ensemble among what was
    tried and refits its members on all rows. It is an ordinary estimator: it can be cloned,
    cross-validated, searched over and pickled.

    Parameters
    ----------
    strategy : str or Strategy, default="alternating_bo"
        How to search: a name (see `skauto.strategies`) or an object, whose settings are then
        nested parameters (``strategy__n_initial``).
    scoring : str, callable, list, tuple, dict or None, default=None
        What to maximise: a scikit-learn scorer or its name. Of several, the first is maximised
        and all are reported. None is accuracy. "roc_auc" of more than two classes is
        one-vs-rest. Log loss decides between equal scores.
    time_limit : float, default=None
        Seconds of wall clock for the whole of ``fit``, refitting included. What still runs at the
        limit is killed.
    max_evals : int, default=None
        Number of trials. The first of the two limits to be reached ends the search; with neither,
        50 trials are made.
    cv : None, int, float, splitter or iterable, default=None
        How a trial is validated. None chooses by size: 8 stratified folds up to 2,000 rows, 5 up
        to 20,000, 3 up to 100,000, beyond that a fifth held out; fewer folds where the time limit
        would allow few trials. An int is a number of folds, a float a share to hold out.
    space : str or SearchSpace, default="default"
        What may be tried: a name (see `skauto.space.catalog.get_space`) or an object.
    initial : {"portfolio", "defaults", "metalearning"}, list of Configuration or None, \
            default="portfolio"
        What is tried first. "portfolio" is a learned order of up to 16 pipelines: each improved
        the ensemble of those before it most per second on development sets; in a space other than
        the default one it is the same as "defaults". "defaults" is the default pipeline of every
        classifier, cheapest first. "metalearning" takes the 25 pipelines that were best on similar
        data sets of an archive that comes with skauto. None leaves the beginning to the strategy.
    ensemble_size : int, default=25
        Number of votes in the ensemble, repetitions included; 1 keeps the best single pipeline.
    decision : {"auto", "argmax"}, default="auto"
        How the vote of the ensemble is read. "auto" fits it to the score on the out-of-fold
        predictions: class offsets for a score of labels (two classes: a decision threshold), a
        temperature for the log loss or the Brier score. Accuracy, and precision or recall of a
        single class, keep the most probable class. "argmax" leaves the vote as it is.
    column_kinds : dict or array-like, default=None
        What columns hold, where it differs from what the reader finds: a kind for names or
        positions of columns, such as ``{"zip": "categorical", "notes": "text", "id": "drop"}``,
        see `skauto.data.TableReader`. A list of names or positions, or a boolean mask, means
        "categorical".
    options : SearchOptions, default=None
        Settings that are rarely changed: engine limits, cache, checkpoint, patience, warm start.
    n_jobs : int, default=None
        Number of worker processes. None is 1, or as in ``joblib.parallel_config``; -1 is all
        processors.
    random_state : int, RandomState instance or None, default=None
        Without a time limit, an int makes the same model in every call.

    Attributes
    ----------
    ensemble_ : PipelineEnsemble
        Weighted vote of fitted pipelines; what ``predict`` delegates to.
    best_estimator_ : Pipeline
        The best single pipeline, fitted on all rows; it predicts from the raw table. Only with
        ``refit=True``.
    best_params_ : dict
        Its configuration.
    best_score_ : float
        Its mean score over the folds.
    best_trial_ : Trial
        Its record.
    history_ : History
        All trials.
    cv_results_ : dict of str to ndarray
        The same in the form that ``GridSearchCV`` has.
    member_weights_ : dict of int to float
        Share of the vote by number of the trial.
    decision_offsets_ : ndarray of shape (n_classes,)
        Added to the logarithms of the probabilities before ``predict`` takes the largest; zeros
        for the most probable class.
    decision_threshold_ : float
        With two classes, the probability of the second one from which on ``predict`` gives it.
    temperature_ : float
        The logarithms of the vote's probabilities are divided by it.
    neighbors_ : list of str
        Names of the known data sets whose best pipelines were tried first, the most similar one
        first; empty where none was similar. Only with ``initial="metalearning"``.
    scorer_ : callable
        What was maximised.
    n_splits_ : int
        Number of folds.
    interrupted_ : bool
        Whether Ctrl-C ended the search; what it had found is used then.
    search_time_ : float
        Seconds that ``fit`` took.
    cache_ : dict of str to float
        What the cache did: ``"n_steps"`` before classifiers, ``"n_reused"`` of them,
        ``"hit_rate"``, their ratio, and ``"seconds_saved"``, summed over workers. Only with
        ``cache``.
    reader_ : TableReader
        How the table is read; ``table_report()`` tells what each column holds.
    strategy_ : Strategy
        The strategy as the search left it.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` has them.

    Notes
    -----
    A pipeline that fails, runs out of time or memory, or kills its worker is a trial with a status
    and an error text in ``leaderboard()``. ``KeyboardInterrupt`` ends the search, not the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skauto import AutoClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> automl = AutoClassifier(max_evals=5, random_state=0).fit(X_train, y_train)
    >>> automl.score(X_test, y_test) > 0.9
    True
    """
