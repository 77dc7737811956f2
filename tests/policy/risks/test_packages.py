"""Packages that come from somewhere else than a registry."""

import pytest

from tallystick.policy.risks.packages import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import found, reading

FOUND = {
    "remote-package": (
        "pip install git+https://x.org/b",
        "mix archive.install https://x.org/b.ez",
        "terraform init -from-module=git::https://x.org/b",
        "ansible-galaxy install git+https://x.org/b",
        "snap install --dangerous b.snap",
        """R -e 'install.packages("https://x.org/b.tar.gz", repos=NULL)'""",
        """julia -e 'using Pkg; Pkg.add(url="https://x.org/b")'""",
        "pip install 'b @ git+https://x.org/b'",
        "python3 -m pip install https://x.org/b.whl",
        "uv pip install git+https://x.org/b",
        "uv tool install git+https://x.org/b",
        "npm i a/b",
        "npm i github:a/b",
        "pnpm add https://x.org/b.tgz",
        "bun add github:a/b",
        "npx github:a/b",
        "npx -p https://x.org/b.tgz b",
        "bunx github:a/b",
        "uvx --from git+https://x.org/b b",
        "pipx run --spec git+https://x.org/b b",
        "cargo install --git https://x.org/b",
        "cargo add b --git https://x.org/b",
        "brew install https://x.org/b.rb",
        "rpm -ivh http://x.org/b.rpm",
        "dnf install https://x.org/b.rpm",
        "nix run github:a/b",
        "sudo pip install git+https://x.org/b",
    ),
    "remote-index": (
        "pip install b --index-url http://x.org/simple",
        "pip install --extra-index-url=https://x.org/simple b",
        "pip install -i http://x.org/simple b",
        "npm install --registry=http://x.org b",
        "npm config set registry http://x.org",
        "pip config set global.index-url http://x.org",
        "PIP_INDEX_URL=http://x.org/simple pip install b",
        "export UV_INDEX_URL=http://x.org; uv sync",
        "gem install b --source http://x.org",
        "python3 -m pip install --index-url http://x.org b",
        "conda install -c https://x.org/b b",
        "UV_INDEX=b=https://x.org/simple uv sync",
        "add-apt-repository ppa:a/b",
    ),
}
NOTHING = (
    "terraform init -backend-config=address=https://state.x.org/b",
    "flatpak install flathub org.x.Y",
    "snap install hello",
    """R -e 'install.packages("ggplot2", repos="https://cloud.r-project.org")'""",
    "pip install requests",
    "pip install -e .",
    "pip install ./dist/b.whl",
    "pip install -r requirements.txt",
    "pip install torch --index-url https://download.pytorch.org/whl/cpu",
    "pip --proxy http://p.org:80 install b",
    "npm install @a/b",
    "npm i ./packages/b",
    "npm install --registry=https://registry.npmjs.org",
    "npm view https://x.org",
    "npm run start -- --url https://x.org",
    "npx create-vite@latest web",
    "npx lighthouse https://x.org",
    "npx wait-on http://localhost",
    "uvx httpie https://x.org",
    "uv run a.py --url https://x.org",
    "uvx ruff check",
    "cargo install ripgrep",
    "go install x.org/b@latest",
    "brew install jq",
    "gem install rails",
    "git clone https://x.org/b",
    "gh api repos/a/b",
    "curl https://x.org/b.whl",
    "GOPROXY=https://proxy.golang.org,direct go build",
    "echo pip install git+https://x.org/b",
    "nix run nixpkgs#hello",
    "UV_INDEX=torch=https://download.pytorch.org/whl/cpu uv lock",
    "composer install $FLAGS",
    'npm install "$NAME"@latest',
)


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_package_from_elsewhere_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@pytest.mark.parametrize("command", NOTHING)
def test_a_package_of_a_registry_is_work(command: str) -> None:
    assert found(risks, command) == set()


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()


@pytest.mark.parametrize("settings", [Settings(hosts=("x.org",)), Settings(registries=("x.org",))])
def test_the_users_own_hosts_and_registries_are_not_asked_about(settings: Settings) -> None:
    for command in ("pip install git+https://x.org/b", "pip install b --index-url https://pypi.x.org/simple"):
        assert list(risks(reading(command), settings)) == []
