"""Code that shows all environment variables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.environments_in_code import prints_environment

SHOWN = (
    ("python", "import os; print(os.environ)"),
    ("python", "import os, json\nprint(json.dumps(dict(os.environ)))"),
    ("python", "from os import environ\nfor k in environ: print(k, environ[k])"),
    ("python", "import os\nfor k, v in os.environ.items():\n    print(k, v)"),
    ("python", "import os\nos.environ"),
    ("javascript", "console.log(process.env)"),
    ("javascript", "process.env"),
    ("javascript", "for (const k in process.env) console.log(k)"),
    ("javascript", "Object.entries(Deno.env.toObject()).map(console.log)"),
    ("ruby", "p ENV.to_h"),
    ("ruby", "puts ENV.inspect"),
    ("perl", "print %ENV"),
    ("php", "print_r($_ENV);"),
    ("awk", "BEGIN { for (k in ENVIRON) print k }"),
    ("powershell", "Get-ChildItem Env:"),
    ("powershell", "dir env: | sort"),
    ("r", "Sys.getenv()"),
)
WORK = (
    ("python", "import os; print(os.environ['HOME'])"),
    ("python", "import os; print(os.environ.get('HOME'))"),
    ("python", "import os, subprocess\nsubprocess.run(['make'], env={**os.environ, 'A': '1'})\nprint(1)"),
    ("python", "import os, subprocess\nsubprocess.run(['make'], env=os.environ)\nprint(1)"),
    ("python", "import os\nprint('CI' in os.environ)"),
    ("python", "environment = 1\nprint(environment)"),
    ("javascript", "console.log(process.env.HOME)"),
    ("javascript", "const { HOME } = process.env; console.log(HOME)"),
    ("javascript", "spawn('x', { env: { ...process.env, A: 1 } }); console.log(1)"),
    ("ruby", "puts ENV['HOME']"),
    ("php", "echo getenv('HOME');"),
    ("php", "echo $_SERVER['argv'][0];"),
    ("awk", '{ print ENVIRON["HOME"] }'),
    ("powershell", "Write-Host $env:PATH"),
    ("r", "Sys.getenv('HOME')"),
    ("go", "os.Environ()"),
)


@pytest.mark.parametrize(("language", "text"), SHOWN)
def test_all_are_shown(language: str, text: str) -> None:
    assert prints_environment(language, text)


@pytest.mark.parametrize(("language", "text"), WORK)
def test_one_is_asked_for_or_all_are_handed_on(language: str, text: str) -> None:
    assert not prints_environment(language, text)


@given(st.sampled_from([language for language, _ in SHOWN]), st.text(max_size=300))
def test_any_text_has_an_answer(language: str, text: str) -> None:
    assert prints_environment(language, text) in (True, False)
