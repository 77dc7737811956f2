"""All that is destroyed without a path showing it: which words a call gets, by which of the modules."""

import pytest

from tallystick.policy.risks.destruction import RISKS, risks
from tests.policy.risks.readings import found

TOGETHER = [
    ("git reset --hard && terraform destroy", {"discards-work", "deletes-remote"}),
    ("psql prod -c 'DROP TABLE x'; git push -f", {"drops-data", "rewrites-history"}),
    ("bin/rails db:drop", {"drops-data"}),
    ("./vendor/bin/sail artisan migrate:fresh", {"drops-data"}),
    ("sudo -u postgres dropdb prod", {"drops-data"}),
    ("bash -c 'kubectl delete ns prod'", {"deletes-remote"}),
    ("for i in a b; do aws s3 rb s3://$i --force; done", {"deletes-remote"}),
    ("echo terraform destroy", set()),
    ("grep -r 'DROP TABLE' src", set()),
    ("git commit -m 'git reset --hard, kubectl delete ns, DROP TABLE'", set()),
    ("cat > notes.md <<'E'\nterraform destroy; psql -c 'DROP TABLE x'\nE", set()),
    ("man git-reset; git help reset", set()),
    ("bin/rails db:migrate; bin/rails server", set()),
    ("make test", set()),
]


@pytest.mark.parametrize(("command", "words"), TOGETHER)
def test_a_call_has_the_words_of_all_that_it_destroys(command: str, words: set[str]) -> None:
    assert found(risks, command) == words
    assert words <= RISKS.keys()
