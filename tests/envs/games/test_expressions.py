"""The language of rewards and ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oakemu_rl.envs.games.expressions import ExpressionError, compile_expression

NAMES = ("score", "lives", "state")


def value(text: str, now: dict[str, int], before: dict[str, int] | None = None) -> int:
    return compile_expression(text, names=NAMES).evaluate(now, before or now)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("score - previous.score", 7),
        ("10 * (score - previous.score) - 5 * (previous.lives - lives)", 65),
        ("state == 2", 1),
        ("state == 2 and not lives == 0", 1),
        ("lives == 0 or state > 2", 0),
        ("1 < state <= 2 != 3", 1),
        ("min(score, 9) + max(lives, -3, 1)", 12),
        ("-score + - -2", -15),
        ("not score", 0),
        ("  score\n", 17),
        ("12", 12),
    ],
)
def test_expressions_have_their_values(text: str, expected: int) -> None:
    now = {"score": 17, "lives": 3, "state": 2}
    before = {"score": 10, "lives": 4, "state": 1}
    assert value(text, now, before) == expected


def expressions() -> st.SearchStrategy[str]:
    leaves = st.one_of(
        st.integers(0, 70_000).map(str),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES).map(lambda name: f"previous.{name}"),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({' '.join(t)})"),
            st.tuples(inner, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), inner).map(
                lambda t: f"({' '.join(t)})"
            ),
            st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} < {t[1]} <= {t[2]})"),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
                lambda t: f"{t[0]}({t[1]}, {t[2]})"
            ),
            inner.map(lambda t: f"(-{t})"),
        ),
        max_leaves=12,
    )


class Before:
    def __init__(self, values: dict[str, int]) -> None:
        self.__dict__.update(values)


@given(
    text=expressions(),
    now=st.fixed_dictionaries({name: st.integers(0, 65_535) for name in NAMES}),
    before=st.fixed_dictionaries({name: st.integers(0, 65_535) for name in NAMES}),
)
def test_arithmetic_and_comparisons_are_those_of_python(
    text: str, now: dict[str, int], before: dict[str, int]
) -> None:
    expected = eval(text, {}, {**now, "previous": Before(before), "min": min, "max": max})
    assert value(text, now, before) == expected


@given(a=st.integers(0, 2), b=st.integers(0, 2), c=st.integers(0, 2))
def test_logic_gives_0_or_1(a: int, b: int, c: int) -> None:
    now = {"score": a, "lives": b, "state": c}
    assert value("score and lives or not state", now) == int(bool((a and b) or not c))


def test_an_expression_knows_the_names_that_it_reads() -> None:
    assert compile_expression("score - previous.lives", names=NAMES).names == {"score", "lives"}


@pytest.mark.parametrize(
    "text",
    [
        "score.real",
        "previous.score.real",
        "__import__('os')",
        "score()",
        "min()",
        "min(*score)",
        "min(score, key=lives)",
        "(lambda: 1)()",
        "[score]",
        "score[0]",
        "'text'",
        "1.5",
        "True",
        "score / 2",
        "score // 2",
        "score ** 2",
        "score << 2",
        "score if lives else 0",
        "score is lives",
        "score in lives",
        "+score",
        "~score",
        "f'{score}'",
        "(score := 2)",
    ],
)
def test_everything_else_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(ExpressionError, match="is not understood; allowed are whole numbers"):
        compile_expression(text, names=NAMES)


@pytest.mark.parametrize("text", ["", "score -", "score; lives", "a b", "score = 2", "(" * 60])
def test_what_does_not_parse_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="is not a complete expression"):
        compile_expression(text, names=NAMES)


@pytest.mark.parametrize("text", ["scor > 1", "previous.scor > 1"])
def test_an_unknown_name_is_told_with_the_nearest(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"no value is called 'scor' in .*mean 'score'\?"):
        compile_expression(text, names=NAMES)


def test_previous_alone_is_no_value() -> None:
    with pytest.raises(ExpressionError, match="no value is called 'previous'"):
        compile_expression("previous", names=NAMES)


def test_deep_and_long_expressions_are_refused() -> None:
    with pytest.raises(ExpressionError, match="nested deeper than 50"):
        compile_expression("-" * 60 + "1", names=NAMES)
    with pytest.raises(ExpressionError, match="has 1001 characters"):
        compile_expression("1" * 1001, names=NAMES)
