"""A verdict in words."""

from tallystick.display.axes import OUTCOMES, axes, defect_lines
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
from tests.support.cases import each

SID = "a" * 32


def verdict(
    *defects: Defect, completeness: Completeness = Completeness.SEALED, unsealed: int = 0, **shown: int
) -> Verdict:
    session = SessionVerdict(
        session=SID,
        steps=5,
        completeness=completeness,
        unsealed=unsealed,
        authenticity=Authenticity.SIGNED,
        disclosure=Disclosure(**shown),
    )
    return Verdict(
        completeness=completeness,
        authenticity=Authenticity.SIGNED,
        level=Level.A2,
        why_not_higher="one reason; another \x1b[31mreason",
        defects=defects,
        sessions=(session,),
    )


@each(
    "found, axis, text",
    [
        (verdict(), "integrity", "intact"),
        (verdict(Defect(SID, 3, Rule.FIELDS, "why")), "integrity", "broken: 1 defect"),
        (verdict(), "completeness", "sealed; 0 entries not sealed"),
        (
            verdict(completeness=Completeness.TRUNCATED, unsealed=1),
            "completeness",
            "truncated: the session has no recorded end (still open or interrupted); 1 entry not sealed",
        ),
        (verdict(), "authenticity", "signed"),
        (verdict(), "anchoring", "level A2; not higher:"),
        (verdict(), "disclosure", "full"),
        (verdict(withheld=1200, erased=1100), "disclosure", "1,200 values withheld, 1,100 of them erased"),
        (verdict(absent_blobs=1), "disclosure", "1 blob absent"),
    ],
)
def test_each_axis_in_words(found: Verdict, axis: str, text: str) -> None:
    assert dict(axes(found))[axis] == text


def test_all_axes_come_in_one_order_and_nothing_in_them_is_obeyed() -> None:
    rows = list(axes(verdict()))
    assert [name for name, _ in rows if name] == [
        *("integrity", "completeness", "authenticity", "anchoring", "disclosure")
    ]
    assert [text for name, text in rows if not name] == ["  one reason", "  another ␛[31mreason"]


@each(
    "defect, sessions, where",
    [
        (Defect(SID, 3, Rule.FIELDS, "why"), {SID}, f"✕ session {SID}, entry 3: rule fields"),
        (Defect(None, None, Rule.HEAD, "why"), {SID}, "✕ the ledger: rule head"),
        (Defect(SID, None, Rule.MISSING, "why"), {"b" * 32}, "✕ the ledger: rule missing"),
        (Defect(None, 0, Rule.LINE, "why"), {None}, "✕ the file, entry 0: rule line"),
    ],
)
def test_a_defect_says_where_it_is(defect: Defect, sessions: set[str | None], where: str) -> None:
    after = "; nothing after it is trusted" if defect.n is not None else ""  # what is after nothing?
    assert defect_lines(defect, sessions) == (where, f"why{after}")


def test_every_exit_code_has_a_word() -> None:
    assert sorted(OUTCOMES) == [0, 2, 3, 4]
