"""MOSAIC's tree: selection rule, progressive widening and visits, where the answer is known."""

import math

import numpy as np
import pytest

from skauto.strategies._tree import DecisionTree, Experience


def product(*sizes):
    """All structures of independent decisions."""
    return np.array(list(np.ndindex(*sizes)), dtype=np.intp)


def make_tree(structures, **settings):
    """A tree with the settings of the paper, apart from those given."""
    paper = {
        "c_ucb": 1.3,
        "visit_exponent": 0.5,
        "progressive_widening": 0.6,
        "temperature": 1.0,
        "quantile": 0.5,
    }
    return DecisionTree(structures, **paper | settings)


def no_experience(n_decisions):
    return Experience(np.empty((0, n_decisions), dtype=np.intp), np.empty(0))


@pytest.mark.parametrize(
    ("exponent", "quantile", "quality_of"),
    [(0.5, 0.5, np.median), (1.0, 0.0, np.min), (0.0, 1.0, np.max)],
)
def test_scores_of_children_equal_the_definition_from_scratch(rng, exponent, quantile, quality_of):
    structures = product(3, 2, 2)
    tree = make_tree(
        structures, c_ucb=0.8, visit_exponent=exponent, temperature=0.5, quantile=quantile
    )
    drawn = structures[rng.integers(0, 8, size=40)]  # nothing of the third choice: rows 8 to 11
    losses = rng.random(40)
    paths = [tuple(row[: rng.integers(0, 4)].tolist()) for row in drawn]
    for path in paths:
        tree.visit(path)
    values = np.array([0.4, 0.7, 0.2])
    scores = tree.scores(tree.root, [0, 1, 2], Experience(drawn, losses), 2.0, values)
    for a in range(3):
        below = [loss for row, loss in zip(drawn, losses, strict=True) if row[0] == a]
        loss = quality_of(below) if below else values[a]
        policy = math.exp(-values[a] / 1.0) / sum(math.exp(-v / 1.0) for v in values)
        n_a = sum(len(path) > 0 and path[0] == a for path in paths)
        expected = -loss / 2 + 0.8 * policy * len(paths) ** exponent / (1 + n_a)
        assert scores[a] == pytest.approx(expected)


def test_quantile_is_over_all_that_was_evaluated_below():
    experience = Experience(np.array([[0, 0], [0, 1], [1, 0], [0, 1]]), np.array([3.0, 1, 7, 2]))
    assert experience.quantile((), 0.5) == 2.5
    assert experience.quantile((0,), 0.5) == 2.0
    assert experience.quantile((0, 1), 0.5) == 1.5
    assert experience.quantile((0,), 0.0) == 1.0
    assert math.isnan(experience.quantile((1, 1), 0.5))


def test_progressive_widening_adds_the_best_child_when_the_power_grows():
    structures = product(2, 8)
    tree = make_tree(structures)
    worth = np.linspace(0.9, 0.2, 8)  # the surrogate likes the last choices best

    def value(node, choices):
        return np.array([worth[c] if len(node.path) else [0.0, 1e9][c] for c in choices])

    child = tree.root.children[0]
    for n in range(1, 60):
        before = list(child.children)
        node = tree.select(no_experience(2), 1.0, value)
        tree.visit(node.path)
        allowed = min(8, max(1, math.floor((n - 1) ** 0.6)))
        assert len(child.children) == max(len(before), allowed)
        if len(child.children) > len(before):
            assert node.path == (0, 7 - len(before))
        policy = [child.children[choice].prior for choice in before]
        assert len(before) < 2 or sum(policy) == pytest.approx(1.0)  # over the children alone
    assert child.visits == 59


def test_children_are_legal_structures_only():
    structures = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 1], [2, 0, 1], [2, 0, 0]])
    tree = make_tree(structures)
    rng = np.random.default_rng(0)
    for _ in range(60):
        node = tree.select(no_experience(3), 1.0, lambda node, choices: rng.random(len(choices)))
        tree.visit(node.path)
        assert node.rows.tolist() == [
            i for i, row in enumerate(structures) if tuple(row[: len(node.path)]) == node.path
        ]
    paths = [node.path for node in tree.nodes()]
    legal = {tuple(row[:depth].tolist()) for row in structures for depth in range(4)}
    assert len(set(paths)) == len(paths)
    assert set(paths) <= legal
    assert all(path[:-1] in paths[:i] for i, path in enumerate(paths) if path)


def test_visits_of_an_illegal_path_stop_where_it_leaves_the_tree():
    tree = make_tree(np.array([[0, 0], [1, 1]]))
    tree.visit((0, 1))
    assert (tree.root.visits, tree.root.children[0].visits) == (1, 1)
    assert tree.root.children[0].children == {}


def test_virtual_visits_part_parallel_walks():
    tree = make_tree(product(4))
    paths = []
    for _ in range(4):
        node = tree.select(no_experience(1), 1.0, lambda node, choices: np.zeros(len(choices)))
        paths.append(node.path)
        tree.visit(node.path)
    assert sorted(paths) == [(0,), (1,), (2,), (3,)]
    for path in paths:
        tree.visit(path, -1)
    assert {node.visits for node in tree.nodes()} == {0}


def test_closed_nodes_are_passed_by_until_nothing_is_left():
    tree = make_tree(product(3, 2))
    seen = set()
    while (
        node := tree.select(no_experience(2), 1.0, lambda node, choices: np.zeros(len(choices)))
    ) is not None:
        seen.add(node.path)
        tree.visit(node.path)
        node.closed = len(node.path) == 2
    assert {path for path in seen if len(path) == 2} == {tuple(row) for row in product(3, 2)}
    assert tree.root.closed


def play(tree, loss_of, n_walks, rng, surrogate=None):
    """Walks with random playouts; the surrogate knows what it is told, or nothing."""
    decisions, losses = [], []
    for _ in range(n_walks):
        experience = Experience(
            np.array(decisions, dtype=np.intp).reshape(len(decisions), tree.decisions.shape[1]),
            np.array(losses),
        )
        node = tree.select(
            experience, 1.0, surrogate or (lambda node, choices: np.full(len(choices), 0.5))
        )
        structure = tree.decisions[rng.choice(node.rows)]
        decisions.append(structure)
        losses.append(loss_of(structure))
        tree.visit(node.path)
    return np.array(decisions), np.array(losses)


def test_visits_concentrate_on_the_best_arm_of_a_bandit(rng):
    means = np.array([0.45, 0.30, 0.50, 0.20, 0.40])  # the fourth arm is the best
    tree = make_tree(product(5))
    play(tree, lambda s: means[s[0]] + 0.05 * rng.normal(), 400, rng)
    visits = np.array([tree.root.children[a].visits for a in range(5)])
    assert visits.sum() == 400
    # Where Eq. (5) is in equilibrium, gap = c pi sqrt(N) (1 / (1 + n_a) - 1 / (1 + n_best)).
    gaps = means - means.min()
    bound = 1.3 * 0.2 * math.sqrt(400) / (gaps + 1e-12)
    worse = np.arange(5) != 3
    assert (visits[worse] <= 1.5 * bound[worse] + 3).all()
    assert (visits[worse] >= 3).all()  # none is given up
    assert visits[3] > 0.6 * 400
    assert (np.argsort(gaps[worse]) == np.argsort(-visits[worse])).all()


def test_visits_concentrate_on_the_best_leaf_of_a_deep_tree(rng):
    best = np.array([2, 1, 0])
    tree = make_tree(product(3, 3, 3))
    decisions, losses = play(
        tree, lambda s: 0.2 * (s != best).sum() + 0.02 * rng.normal(), 600, rng
    )
    share = (decisions[300:] == best).all(axis=1).mean()
    assert share > 0.4  # uniform: 1 / 27
    node = tree.root
    for choice in best:
        assert max(node.children.values(), key=lambda child: child.visits) is node.children[choice]
        node = node.children[choice]


def test_a_surrogate_that_knows_speeds_the_search_up(rng):
    structures = product(6, 6)
    worth = rng.permutation(36) / 36

    def loss_of(structure):
        return worth[structure[0] * 6 + structure[1]]

    def surrogate(node, choices):
        if not node.path:
            return np.array([worth[6 * c : 6 * c + 6].mean() for c in choices])
        return np.array([worth[node.path[0] * 6 + c] for c in choices])

    found = {}
    for name, model in (("none", None), ("true", surrogate)):
        _, losses = play(make_tree(structures, temperature=0.1), loss_of, 60, rng, model)
        found[name] = losses.mean()
    assert found["true"] < found["none"]
