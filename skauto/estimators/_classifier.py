"""AutoClassifier: classification without constraints."""

from __future__ import annotations

from skauto.estimators._base import BaseAutoClassifier


class AutoClassifier(BaseAutoClassifier):
    """Classifier that searches pipelines and predicts with an ensemble of the best.

    ``fit`` reads the table and evaluates pipelines that a search strategy proposes (steps: encode,
    impute, balance, rescale, transform, select, classify). All are validated on the same folds.
    Then it selects an ensemble of the evaluated pipelines and refits the members on all rows. The
    estimator works with ``clone``, ``cross_val_score``, ``GridSearchCV`` and pickle.

    Parameters
    ----------
    strategy : str or Strategy, default="alternating_bo"
        Search strategy: a name (see `skauto.strategies`) or an object, whose settings are nested
        parameters (``strategy__n_initial``).
    scoring : str, callable, list, tuple, dict or None, default=None
        Score to maximize: a scikit-learn scorer or its name. Of several, the first is maximized
        and all are reported. None is accuracy. "roc_auc" is one-vs-rest with more than two
        classes. Log loss breaks ties.
    time_limit : float, default=None
        Seconds of wall clock for the whole of ``fit``, including the refit. Trials that still run
        at the limit are killed.
    max_evals : int, default=None
        Number of trials. The first of the two limits that is reached ends the search. If both are
        None, the search has 50 trials.
    cv : None, int, float, splitter or iterable, default=None
        Validation of a trial. An int is a number of folds, a float the share of a hold-out set.
        None chooses by size: 8 stratified folds up to 2,000 rows, 5 up to 20,000, 3 up to 100,000,
        and a hold-out set of 20% beyond. It chooses fewer folds if the time limit would allow only
        few trials.
    space : str or SearchSpace, default="default"
        Search space: a name (see `skauto.space.catalog.get_space`) or an object.
    initial : {"portfolio", "defaults", "metalearning"}, list of Configuration or None, \
            default="portfolio"
        First configurations. "portfolio" is a list of up to 12 pipelines, ordered on development
        sets by their improvement of the ensemble per second; in a space other than the default one
        it is the same as "defaults". "defaults" is the default pipeline of each classifier,
        cheapest first. "metalearning" takes the 25 best pipelines of similar data sets in an
        archive that comes with skauto. With None, the strategy proposes the first configurations.
    ensemble_size : int, default=25
        Number of members of one ensemble selection, counting repetitions. On few rows, the mean of
        several selections with at most eight pipelines is taken. 1 keeps the best pipeline.
    decision : {"auto", "argmax"}, default="auto"
        How probabilities become labels. "auto" fits it to the score on the out-of-fold
        predictions: class offsets (with two classes, a decision threshold) for scores of labels,
        a calibration for log loss, Brier score, accuracy and ROC AUC. For accuracy, and for
        precision or recall of a single class, the most probable class is predicted. "argmax"
        always predicts the most probable class and leaves the probabilities as they are.
    column_kinds : dict or array-like, default=None
        Kinds of columns that override the kinds found by the reader, by name or position, such as
        ``{"zip": "categorical", "notes": "text", "size": ["small", "large"], "id": "drop"}``; a
        list of levels is an ordinal column. See `skauto.data.TableReader`. Instead of the dict, a
        list of names or positions, or a boolean mask, means "categorical".
    options : SearchOptions or dict, default=None
        Further settings: engine limits, cache, checkpoint, patience, warm start; such as
        ``{"patience": 20}``.
    verbose : int, default=None
        Whether the progress is shown: one line that is overwritten in a terminal or a notebook,
        elsewhere a line for each better trial. None shows it in a terminal or a notebook only, 0
        is silent.
    n_jobs : int, default=None
        Number of worker processes. None is 1, or the value of ``joblib.parallel_config``; -1 is
        all processors.
    random_state : int, RandomState instance or None, default=None
        Seed. Without a time limit, the same int gives the same model.

    Attributes
    ----------
    ensemble_ : PipelineEnsemble
        Weighted average of fitted pipelines; ``predict`` delegates to it.
    ensemble_score_ : float
        Score of the ensemble on its out-of-fold predictions, of all rows together. It is the
        number of every summary. NaN if no pipeline was fitted in time.
    ensemble_score_interval_ : tuple of float
        Bounds of its 95% bootstrap interval over the rows.
    majority_score_ : float
        Score of always answering the most frequent class, on the same rows. Scorers of
        probabilities get the class frequencies.
    out_of_fold_proba_ : ndarray of shape (n_samples, n_classes)
        Out-of-fold class probabilities of the ensemble, in the order of the rows of ``X`` and of
        ``classes_``. NaN in rows without a prediction: rows of weight 0, and with a hold-out set
        the other rows.
    best_estimator_ : Pipeline
        The best single pipeline, fitted on all rows, or on the training rows of a hold-out set if
        the time did not suffice. It predicts from the raw table. Only with ``refit=True``.
    best_params_ : dict
        Configuration of the best trial.
    best_score_ : float
        Mean score of the best trial over the folds.
    best_trial_ : Trial
        The best trial.
    history_ : History
        All trials.
    cv_results_ : dict of str to ndarray
        All trials in the form of ``GridSearchCV.cv_results_``.
    member_weights_ : dict of int to float
        Weights of the ensemble, by number of the trial.
    decision_offsets_ : ndarray of shape (n_classes,)
        Offsets of the classes, added to the log probabilities before ``predict`` compares.
    decision_threshold_ : float
        With two classes, the smallest probability of the second class for which it is predicted.
    temperature_ : float
        Divisor of the log-probabilities of the ensemble; values below 1 make them surer.
    neighbors_ : list of str
        Names of the similar data sets whose best pipelines were tried first, the most similar
        first. Empty if no data set is similar. Only with ``initial="metalearning"``.
    scorer_ : callable
        The scorer that was maximized.
    n_splits_ : int
        Number of folds.
    interrupted_ : bool
        Whether Ctrl-C ended the search. The model is made of the trials until then.
    converged_ : bool
        Whether further trials did not improve the model and the search ended early, see
        ``patience`` in `SearchOptions`.
    search_time_ : float
        Seconds of ``fit`` up to the fitted ensemble.
    seconds_ : dict of str to float
        Seconds of the phases of ``fit``: ``"reading"`` the table, ``"preparation"`` of space,
        folds and workers, ``"search"``, ``"ensemble"`` (selection, refits and thresholds), and
        ``"scores"`` of the ensemble.
    cache_ : dict of str to float
        Use of the cache: ``"n_steps"``, the steps before classifiers; ``"n_reused"``, the steps
        read from the cache; ``"hit_rate"``, their ratio; and ``"seconds_saved"``, summed over
        workers. Only with ``cache``.
    reader_ : TableReader
        First step of each pipeline, which converts the table to numbers; see ``table_report()``.
    strategy_ : Strategy
        The strategy after the search.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if ``X`` has names.

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
    >>> automl = AutoClassifier(max_evals=3, random_state=0).fit(X_train, y_train)
    >>> automl.score(X_test, y_test) > 0.9
    True
    """
