"""Secrets in blocks and lists."""

from __future__ import annotations

from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

SECRET = "VelvetLantern7"
BLOCKS = {
    "a variable of Terraform": f'variable "db_password" {{\n  type = string\n  default = "{SECRET}"\n}}\n',
    "the state of Terraform": f'{{"type": "random_password", "instances": [{{"attributes": {{"result": "{SECRET}"}}}}]}}',
    "ODBC": f"Driver={{X}};UID=bob;PWD={{{SECRET}}};Encrypt=yes",
    "settings of tokens": f'{{"Jwt": {{"Issuer": "shop", "Key": "{SECRET}x8Kq2"}}}}',
    "a form": f'Content-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n',
    "cloud-init": f"chpasswd:\n  list: |\n    root:{SECRET}\n",
    "PPP": f"# client server secret IP\nbob * {SECRET} *\n",
    "a list in brackets": f"passwords: [{SECRET}, swordfishing]",
    "a list in lines": f"passwords:\n  - swordfishing\n  - {SECRET}\n",
    "a line of settings": f"COOKIE_KEYS={SECRET}x8Kq2,{SECRET}mP0zR",
    "a list in code": f'passwords = ["a", "{SECRET}"]',
    "a list in JSON": f'{{"region": "eu", "passwords": ["{SECRET}"]}}',
    "a list in JSON in a string": f'{{\\"passwords\\": [\\"{SECRET}\\"]}}',
}
INNOCENT = """
variable "token_ttl" { default = "24h" }
variable "db_password" { sensitive = true }
passwords = [u.password for u in users]
api_keys = APIKey.objects.filter(user=user)
tokens: [a, b]
secrets: [app-secrets]
secrets = ["~/.ssh/id_ed25519", ".config/app/state.db"]
"reads-secrets": {"severity": "high"}
<Input Password={value1} />
max_tokens = [1024, 2048]
"""


@each("form", list(BLOCKS))
def test_a_secret_is_found_in_a_block(form: str) -> None:
    assert SECRET not in scrubbed(BLOCKS[form])


@each("text", INNOCENT.strip().split("\n"))
def test_what_looks_alike_stays(text: str) -> None:
    assert scrubbed(text) == text
