"""Tests whose lines are not counted, so that coverage costs little of the time of the suite.

Tracing makes Python half as slow again. These tests take half of the time of the suite and run
hardly a line that no other test runs. What worker processes run is not counted either.
"""

NOT_MEASURED = (
    # what must hold for every strategy, component, table or estimator
    "tests/data/test_contract.py",
    "tests/data/test_properties.py",
    "tests/estimators/test_common.py",
    "tests/estimators/test_interplay.py",
    "tests/space/catalog/test_common.py",
    "tests/strategies/test_contract.py",
    # against brute force, or on average over many draws
    "tests/constraints/test_checker.py",
    "tests/constraints/test_groups.py",
    "tests/data/test_text.py",
    "tests/selection/test_greedy.py",
    "tests/selection/test_losses.py",
    "tests/selection/test_operating_points.py",
    "tests/strategies/test_admm.py",
    "tests/strategies/test_divbo.py",
    "tests/strategies/test_fang_hpo.py",
    "tests/strategies/test_parego.py",
    # whole searches, models and reports
    "docs/",
    "tests/display/test_hypervolume.py",
    "tests/display/test_limits.py",
    "tests/display/test_page.py",
    "tests/ensemble/test_build.py",
    "tests/estimators/test_classifier.py",
    "tests/estimators/test_scoring.py",
    "tests/export/test_code.py",
    "tests/space/catalog/test_network.py",
    # programs and worker processes of their own
    "tests/engines/test_handle.py",
    "tests/engines/test_joblib.py",
    "tests/engines/test_make.py",
    "tests/engines/test_worker.py",
    "tests/examples/",
    "tests/recipes/",
    # of the source, not of what it does
    "tests/test_docstrings.py",
    "tests/test_import.py",
    "tests/test_layers.py",
)
