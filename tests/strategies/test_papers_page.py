"""The page on papers and defaults, compared with the code.

Every setting has a row with its values. Every step of the page and every printed equation and
algorithm has a test, so that a deviation without a row fails the test of what is printed.
"""

import inspect
import re
from pathlib import Path

import pytest

from skauto.strategies import ADMM, FLASH, MOSAIC, DivBO, FanGHPO

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "papers.rst"
N_COLUMNS = 5  # setting or step, paper, preset, default, why
PRESETS = {
    "ADMM": (ADMM.paper(), ADMM()),
    "MOSAIC": (MOSAIC.paper(), MOSAIC()),
    "DivBO": (DivBO.paper(), DivBO()),
    "FLASH": (FLASH.paper(), FLASH()),
    r"FLASH\*": (FLASH.paper(star=True), FLASH()),
    "FanG-HPO": (FanGHPO.paper(), FanGHPO()),
}
# What each paper prints, without derivations, and the steps of the page, each with its test.
PRINTED = {
    "ADMM": "Algorithm 1, Algorithm 2, Algorithm A1, Eq. (9), Eq. (11), Eq. (A19), Eq. (A24), "
    "Eq. (A28), Eq. (A29), Eq. (A30), Eq. (A34), Eq. (A35), Eq. (A37), Eq. (A38), Eq. (A39)",
    "MOSAIC": "Algorithm 1, Eq. (3), Eq. (4), Eq. (5)",
    "DivBO": "Algorithm 1, Algorithm 2, Eq. (3), Eq. (4), Eq. (5)",
    "FLASH": "Algorithm 1, Algorithm 2, Algorithm 3, Eq. (1), Eq. (2), Eq. (3), Eq. (4)",
    "FanG-HPO": "Eq. (8), Eq. (9), Eq. (10), Eq. (11), Eq. (12)",
}
TESTS = """
ADMM
Algorithm 1: test_budgets_are_adaptive_or_fixed
Algorithm 2: test_minimize_within_a_limit_agrees_with_brute_force
Algorithm A1: test_thompson_sampling_begins_anew_or_keeps_its_counts
Eq. (9): test_inactive_integers_keep_their_value_and_lose_their_multiplier
Eq. (11): test_delta_is_the_nearest_legal_point
Eq. (A19): test_maximum_is_that_of_a_fine_grid
Eq. (A24): test_z_min_ends_with_the_best_structure_tried
Eq. (A28): test_multipliers_add_up_the_primal_residuals
Eq. (A29): test_multiplier_of_a_violated_constraint_grows_and_of_a_loose_one_vanishes
Eq. (A30): test_penalties_of_constraints_are_in_units_of_the_spread_of_the_losses
Eq. (A34): test_agrees_with_sklearn_at_equal_hyperparameters
Eq. (A35): test_fit_reaches_the_likelihood_of_sklearn
Eq. (A37): test_expected_improvement_is_the_integral
Eq. (A38): test_pull_maximizes_the_sum_over_legal_structures
Eq. (A39): test_continuous_reward
theta-min: test_a_known_point_stands_for_its_rounding_cell
delta-min: test_delta_is_the_nearest_legal_point
z-min: test_z_min_by_bo_scores_a_part_of_the_structures_of_a_large_space
Reward of a failed trial: test_a_failed_trial_has_no_reward
Constraints: test_slack_is_the_best_of_the_interval
Conditional hyper-parameters: test_inactive_hyperparameters_have_their_defaults
Nothing new in an iteration: test_an_iteration_without_a_new_configuration_ends_in_a_restart
Ensemble: test_the_ensemble_is_selected_from_the_pool
MOSAIC
Algorithm 1: test_walks_are_those_of_the_algorithm_of_the_paper
Eq. (3): test_partial_surrogate_is_the_mean_over_random_completions
Eq. (4): test_scores_of_children_equal_the_definition_from_scratch
Eq. (5): test_scores_of_children_equal_the_definition_from_scratch
Order of decisions: test_decisions_are_taken_from_the_back_and_single_choices_are_none
Policy: test_progressive_widening_adds_the_best_child_when_the_power_grows
Quality of a child without trials: test_scores_of_children_equal_the_definition_from_scratch
Expansion: test_progressive_widening_adds_the_best_child_when_the_power_grows
Playout: test_playout_lies_below_the_node_and_maximises_the_improvement
MetaLearning: test_begins_with_the_best_of_the_neighbors
Ensemble: test_the_ensemble_is_selected_from_the_pool
DivBO
Algorithm 1: test_proposes_what_minimizes_the_sum_of_ranks
Algorithm 2: test_equals_brute_force
Eq. (3): test_diversity_is_the_scaled_mean_distance
Eq. (4): test_proposes_what_minimizes_the_sum_of_ranks
Eq. (5): test_proposes_what_minimizes_the_sum_of_ranks
Diversity: test_large_validation_sets_are_sampled
Temporary pool: test_the_pool_is_the_ensemble_that_is_returned
Diversity of a candidate: test_samples_are_the_models_predictions
Ranks: test_ranks_counted_in_a_sample_are_near_the_ranks
Weight: test_the_first_suggestion_of_the_model_weighs_performance_only
FLASH
Algorithm 1: test_the_phases_of_the_paper_have_thirty_trials_in_a_short_search
Algorithm 2: test_every_choice_is_the_best_by_brute_force
Algorithm 3: test_the_longest_prefix_is_found
Eq. (1): test_weights_are_those_of_ridge_regression
Eq. (2): test_expected_improvement_is_the_integral
Eq. (3): test_every_choice_is_the_best_by_brute_force
Eq. (4): test_paths_of_the_largest_improvement_per_second_are_evaluated_and_kept
Design: test_every_choice_is_the_best_by_brute_force
Candidate paths: test_paths_of_a_large_space_are_sampled
Cost: test_a_fast_failure_is_not_the_unit_of_cost
Improvement: test_log_agrees_with_plain_formula_where_that_is_accurate
Pruned space: test_the_third_phase_has_all_combinations_of_the_kept_algorithms
History in the third phase: test_the_phases_of_the_paper_have_thirty_trials_in_a_short_search
Caching: test_the_report_tells_what_was_saved
FanG-HPO
Eq. (8): test_a_source_is_reliable_within_alpha_standard_deviations
Eq. (9): test_only_reliable_observations_augment_point_by_point
Eq. (10): test_only_reliable_observations_augment_point_by_point
Eq. (11): test_two_objectives_agree_with_a_million_draws_to_one_percent
Eq. (12): test_the_source_is_chosen_by_equation_12
Source: test_discrepancy_is_from_the_augmented_mean
Ground truth if cheap observations outnumber it: test_the_source_is_chosen_by_equation_12
x' that the source knows: test_a_configuration_that_the_source_knows_goes_to_the_ground_truth
"""


def sections():
    """Lines of each section of the page."""
    title, lines = "", PAGE.read_text(encoding="utf-8").splitlines()
    found = {}
    for line, underline in zip(lines, [*lines[1:], ""], strict=True):
        if line and re.fullmatch("-+", underline):
            title = line
        found.setdefault(title, []).append(line)
    return found


def table(title):
    """Rows of the table of a section as lists of cells, without the header."""
    rows = []
    for line in sections()[title]:
        if line.startswith("   * - "):
            rows.append([line[7:]])
        elif re.match(r"     -( |$)", line):
            rows[-1].append(line[7:])
        elif line.startswith("       ") and rows:
            rows[-1][-1] += " " + line.strip()
    return rows[1:]


def settings(strategy):
    """Settings of a strategy as the page prints them."""
    names = inspect.signature(type(strategy)).parameters
    return {name: f"``{' '.join(repr(getattr(strategy, name)).split())}``" for name in names}


def rows_of_settings(title):
    """Cells of the preset and of the default by the name of the setting."""
    rows = [row for row in table(title) if row[0].startswith("``")]
    found = {row[0].strip("`"): (row[2], row[3]) for row in rows}
    assert len(found) == len(rows), "a setting has two rows"
    return found


@pytest.mark.parametrize("title", PRESETS)
def test_every_setting_has_a_row_with_both_values(title):
    preset, default = map(settings, PRESETS[title])
    expected = {name: (preset[name], default[name]) for name in preset}
    if title == r"FLASH\*":  # the others are in the table of FLASH
        same = settings(FLASH.paper())
        expected = {name: row for name, row in expected.items() if row[0] != same[name]}
    assert rows_of_settings(title) == expected


@pytest.mark.parametrize("title", PRESETS)
def test_every_row_says_where_the_paper_has_it_and_why_a_default_differs(title):
    rows = table(title)
    for name, paper, preset, default, *why in rows:
        assert len(why) == 1, f"the row of {name} must have {N_COLUMNS} cells"
        assert paper and preset and default
        assert why[0] or preset == default or default == "the same"


def test_every_preset_has_a_section():
    assert [title for title in sections() if title][-len(PRESETS) :] == list(PRESETS)


@pytest.mark.parametrize("title", PRINTED)
def test_every_step_and_all_that_is_printed_has_a_test(title):
    lines = re.search(rf"^{title}\n((?:.+: .+\n)+)", TESTS, re.MULTILINE)[1].splitlines()
    tests = dict(line.split(": ") for line in lines)
    steps = {row[0] for row in table(title) if not row[0].startswith("``")}
    assert set(tests) == steps | set(PRINTED[title].split(", "))
    files = Path(__file__).parents[1].rglob("test_*.py")
    known = {name for file in files for name in re.findall(r"\ndef (test_\w+)", file.read_text())}
    assert known >= set(tests.values())
