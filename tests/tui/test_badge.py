"""The five axes in signs and words: every verdict is told apart without colour."""

from rich.cells import cell_len

from tallystick.model.verdict import (
    Authenticity,
    Completeness,
    Defect,
    Disclosure,
    Level,
    Rule,
    SessionVerdict,
    Verdict,
)
from tallystick.tui.badge import badge, verdict_text
from tests.support.cases import each


def verdict(
    completeness: Completeness = Completeness.SEALED,
    authenticity: Authenticity = Authenticity.SIGNED,
    level: Level = Level.A2,
    rule: Rule | None = None,
    withheld: int = 0,
) -> Verdict:
    defect = Defect("a" * 32, 3, rule, "why") if rule is not None else None
    session = SessionVerdict(
        session="a" * 32,
        steps=5,
        completeness=completeness,
        unsealed=0,
        authenticity=authenticity,
        defect=defect,
        disclosure=Disclosure(withheld=withheld),
    )
    return Verdict(
        completeness=completeness,
        authenticity=authenticity,
        level=level,
        why_not_higher="no witness",
        defects=(defect,) if defect is not None else (),
        sessions=(session,),
    )


def told(found: Verdict | None, width: int = 80) -> str:
    return "".join(text for text, _ in badge(found, "verifying…", width)).rstrip()


@each(
    "found, text",
    [
        (verdict(), "✔ intact  ✔ sealed  ✔ signed  ✔ A2  ✔ full"),
        (verdict(Completeness.TRUNCATED), "✔ intact  ◐ truncated  ✔ signed  ✔ A2  ✔ full"),
        (verdict(Completeness.DROPPED), "✔ intact  ◐ dropped  ✔ signed  ✔ A2  ✔ full"),
        (verdict(Completeness.CUT), "✔ intact  ✕ cut  ✔ signed  ✔ A2  ✔ full"),
        (verdict(rule=Rule.FIELDS), "✕ broken: fields  ✔ sealed  ✔ signed  ✔ A2  ✔ full"),
        (verdict(authenticity=Authenticity.WRONG_KEY), "✔ intact  ✔ sealed  ✕ wrong key  ✔ A2  ✔ full"),
        (
            verdict(authenticity=Authenticity.UNSIGNED, level=Level.A1),
            "✔ intact  ✔ sealed  ◐ unsigned  ◐ A1  ✔ full",
        ),
        (verdict(withheld=3), "✔ intact  ✔ sealed  ✔ signed  ✔ A2  ▧ 3 withheld"),
        (None, "◌ verifying…"),
    ],
)
def test_every_axis_has_a_sign_and_a_word(found: Verdict | None, text: str) -> None:
    assert told(found) == text


@each("completeness", sorted(Completeness))
@each("rule", [None, *sorted(Rule)])
def test_it_fits_into_eighty_columns_and_is_spelled_out_where_there_is_room(
    completeness: Completeness, rule: Rule | None
) -> None:
    found = verdict(completeness, Authenticity.PARTLY_SIGNED, Level.A1, rule, 1_234)
    assert cell_len(told(found)) <= 80
    spelled = told(found, 120)
    for axis in ("integrity", "completeness", "authenticity", "anchoring", "disclosure"):
        assert axis in spelled


def test_the_whole_verdict_says_where_it_broke_and_why_it_is_no_higher() -> None:
    text = "\n".join("".join(part for part, _ in line) for line in verdict_text(verdict(rule=Rule.FIELDS)))
    assert text.startswith("TAMPERED: 5 steps checked")
    assert f"session {'a' * 32}, entry 3: rule fields" in text
    assert "no witness" in text
