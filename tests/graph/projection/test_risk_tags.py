"""What is found in contents, as rows of the graph."""

from tallystick.graph.graph import Graph
from tallystick.graph.projection.risk_tags import TagRow, worst
from tests.graph.acting import Story, told


def row(tag: str, severity: str) -> TagRow:
    return TagRow(1, 1, "", f"content.{tag}", severity, "warn", "", None, 1.0, None, None, None, 0, None)


def test_the_worst_is_told_of_a_file() -> None:
    grave, mild = row("reads-secret", "critical"), row("binary", "low")
    assert worst([mild, grave]) is grave
    assert worst([]) is None


def tagged(graph: Graph) -> list[tuple[str, ...]]:
    return graph.rows("SELECT rule_id, severity, action FROM artifact_risk_tags ORDER BY rule_id")


def risk(graph: Graph) -> tuple[str | None, str | None]:
    row = graph.row("SELECT risk_level, risk_rule_id FROM artifact_facts WHERE uri = 'file:///w/a.sh'")
    assert row is not None
    return row[0], row[1]


def test_tags_belong_to_a_content(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.write("/w/a.sh", "cat ~/.ssh/id_rsa")
    told(graph, story)
    assert tagged(graph) == [("content.reads-secret", "critical", "block")]
    assert risk(graph) == ("critical", "content.reads-secret")
    story.write("/w/a.sh", "echo hi")
    told(graph, story)
    assert risk(graph) == (None, None)
    assert tagged(graph) == [("content.reads-secret", "critical", "block")]
    story.write("/w/a.sh", "cat ~/.ssh/id_rsa; rm -rf ~")
    told(graph, story)
    assert {rule for rule, _, _ in tagged(graph)} == {"content.reads-secret", "content.deletes-home"}
    assert risk(graph) == ("critical", "content.deletes-home")
