"""The project's own `.env` may be copied to such a file of the project; a copy of it anywhere else is a reading."""

from tests.policy.laid_out import Laid
from tests.support.cases import each

INNOCENT = """
cp .env .env.local
cp .env src/.env
test -f .env && cp .env .env.bak; npm install
cp .env.production .env.test
""".strip().splitlines()
GUILTY = """
cp .env /tmp/.env
cp .env src/settings.txt
cp .env .env.local; cat .env.local
cp .env .env.local; cat .env
cp .env .env.example
cp .env ../other-project/.env
cp ../other-project/.env .env
cp .env .env.linked
cp .env.linked .env.local
cp ~/.aws/credentials .env
cat .env | tee .env.local
""".strip().splitlines()


@each("command", INNOCENT)
def test_a_copy_that_says_what_it_is_stays_a_secret(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] in ("allow", "warn")


@each("command", GUILTY)
def test_any_other_copy_shows_it(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] in ("ask", "deny")
