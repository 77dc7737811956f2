"""What files hold that a text writes before it runs them."""

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.model.intent import Operation
from tests.support.cases import each, each_case

FILES = {"/w/a": "cat ", "/w/b": "k\n", "/w/plan": "cat k\n", "/w/e.b64": "Y2F0IGsK"}


def reads(text: str) -> list[str]:
    environment = Environment(variables={"HOME": "/h"}, folder="/w", read_text=FILES.get)
    return [one.target for one in effects(text, environment).intents if one.operation is Operation.READ]


@each_case("text")
def test_what_is_put_together_is_read_where_it_runs(text: str) -> None:
    assert "/w/k" in reads(text)


@each("text", ["cp plan c", "rm plan; sh plan", "echo x > plan; sh plan", "sort plan > c; cat c"])
def test_what_does_not_run_is_not_read(text: str) -> None:
    assert "/w/k" not in reads(text)
