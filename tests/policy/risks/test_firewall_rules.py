"""Sets of rules that are loaded into a firewall."""

import pytest

from tallystick.policy.risks.firewall_rules import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    "iptables-save | grep -v DROP | iptables-restore",
    "iptables-save | sed '/REJECT/d' | sudo iptables-restore",
    "ip6tables-save | grep -v -e DROP -e REJECT | ip6tables-restore",
    "iptables-save | awk '!/DROP/' | iptables-restore",
    "iptables-restore <<< '*filter\\n:INPUT ACCEPT [0:0]\\nCOMMIT'",
    "iptables-restore < /dev/null",
    "printf '*filter\\n:INPUT ACCEPT [0:0]\\nCOMMIT\\n' | iptables-restore",
    "iptables-restore < <(iptables-save | grep -v DROP)",
    "iptables-save > /tmp/r; sed -i /DROP/d /tmp/r; iptables-restore < /tmp/r",
    "nft list ruleset | grep -v drop | nft -f -",
    "nft list ruleset | sed s/drop/accept/ > x.nft; nft -f x.nft",
    "pfctl -sr | grep -v block | pfctl -f -",
    "echo 'pass all' | pfctl -f -",
    "echo 'flush ruleset' | nft -f -",
    "nft -f - <<< 'flush ruleset'",
    "ipset save | grep -v bad | ipset restore -!",
)
WORK = (
    "iptables-restore < rules.v4",
    "iptables-restore -t rules.v4",
    "iptables-save",
    "iptables-save | grep DROP",
    "iptables-save > /tmp/rules.txt",
    "nft list ruleset | grep drop",
    "pfctl -sr",
)


@pytest.mark.parametrize("command", FOUND)
def test_a_set_that_was_thinned_or_made_here_opens_a_firewall(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_reading_rules_and_loading_a_file_of_them_is_not_meant_here(command: str) -> None:
    assert found(risks, command) == set()
