"""What files hold that a text writes before it runs them."""

import pytest

from tallystick.intent.shell import Environment
from tallystick.intent.shell.effects import effects
from tallystick.model.intent import Operation

FILES = {"/w/a": "cat ", "/w/b": "k\n", "/w/plan": "cat k\n", "/w/e.b64": "Y2F0IGsK"}


def reads(text: str) -> list[str]:
    environment = Environment(variables={"HOME": "/h"}, folder="/w", read_text=FILES.get)
    return [one.target for one in effects(text, environment).intents if one.operation is Operation.READ]


@pytest.mark.parametrize(
    "text",
    [
        "cat a b > c; sh c",
        "cat a b > c; rm a b; sh c",
        "cp plan c && sh c",
        "mv plan c; sh c",
        "dd if=plan of=c; sh c",
        "base64 -d e.b64 > c; sh c",
        "cat plan | tee c; sh c",
        "echo 'echo x' >> plan; sh plan",
        "cat a > c; cat b >> c; sh c",
        "sed -i s/x/y/ plan; sh plan",
        'while read l; do eval "$l"; done < plan',
        'eval "$(cat plan)"',
        "bash <(cat plan)",
        "source <(cat plan)",
        "tail -n +1 plan | sh",
    ],
)
def test_what_is_put_together_is_read_where_it_runs(text: str) -> None:
    assert "/w/k" in reads(text)


@pytest.mark.parametrize("text", ["cp plan c", "rm plan; sh plan", "echo x > plan; sh plan", "sort plan > c; cat c"])
def test_what_does_not_run_is_not_read(text: str) -> None:
    assert "/w/k" not in reads(text)
