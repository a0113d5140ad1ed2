"""Names of arguments in other tools, and what to do instead."""

# Argument of the estimators, and its names in other tools.
_SAME = {
    "time_limit": "time_budget max_runtime_secs max_runtime time_left_for_this_task timeout "
    "max_time_mins max_time total_time_limit time_limit_secs budget time",
    "max_evals": "n_trials max_iter n_iter max_models n_evals generations max_trials trials",
    "scoring": "metric eval_metric scorer objective_metric score optimize sort_metric",
    "random_state": "seed random_seed",
    "n_jobs": "n_cpus num_cpus threads n_threads num_threads nthread nthreads n_workers",
    "cv": "folds n_splits n_folds num_bag_folds nfolds resampling_strategy eval_method "
    "validation_strategy",
    "space": "estimator_list include include_algos exclude_algos algorithms hyperparameters "
    "config_dict search_space models",
    "ensemble_size": "ensemble n_ensemble ensemble_nbest num_ensemble",
    "column_kinds": "feature_types feat_type cat_features categorical_features dtypes "
    "categorical_feature features_types",
    "verbose": "verbosity log_level logging_level show_progress progress_bar",
    "strategy": "search_algorithm algorithm optimizer search method",
}
_USE_OPTION = "Use options={{{!r}: ...}} instead."
# What to do, and the arguments that it is said of.
_OTHER = {
    "There are no presets: a longer time_limit gives a better model.": "presets preset quality "
    "mode preset_name",
    **{
        _USE_OPTION.format(option): option
        for option in ("refit", "pool", "memory_limit", "cache", "checkpoint", "warm_start")
    },
    _USE_OPTION.format("patience"): "patience early_stop early_stopping early_stopping_rounds "
    "max_no_improvement",
    _USE_OPTION.format("trial_time_limit"): "trial_time_limit per_run_time_limit "
    "max_runtime_secs_per_model max_eval_time_mins",
    "Pass it to set_callbacks.": "callbacks callback",
    "Pass X and y to fit.": "label target target_col y X data",
    "The estimators are for classification; leave it out.": "task",
    "For rare classes use scoring='balanced_accuracy', or pass sample_weight to fit.": "class"
    "_weight class_weights balance balance_classes is_unbalance",
    "Use ConstrainedAutoClassifier(constraints=[...]).": "constraints on_infeasible safety_margin",
}
_OF_FIT = {
    "Only ConstrainedAutoClassifier takes it, for constraints that compare groups.": "sensitive"
    "_features",
    "Use sample_weight=... instead.": "weights weight sample_weights",
    "Choose the validation rows by the cv parameter of the estimator.": "X_val y_val eval_set "
    "tuning_data validation_data X_valid y_valid",
}


def _by_name(advice: dict[str, str]) -> dict[str, str]:
    return {name: text for text, names in advice.items() for name in names.split()}


_USE = {f"Use {ours}=... instead.": names for ours, names in _SAME.items()}
ADVICE = _by_name(_USE | _OTHER)
FIT_ADVICE = {
    **{
        name: f"It is an argument of the estimator. {text}"
        for name, text in ADVICE.items()
        if name not in "Xy"
    },
    **dict.fromkeys(
        (*_SAME, "decision", "options", "initial"), "It is an argument of the estimator."
    ),
    **_by_name(_OF_FIT),
}
