"""Programs that print secrets which they keep."""

import pytest

from tallystick.model.decision import Call
from tallystick.policy.reading import read_call
from tallystick.policy.risks.secret_managers import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found

FOUND = (
    "history | grep -i password",
    "kubectl get --raw /api/v1/namespaces/default/secrets/x", "oc extract secret/x --to=-",
    "pass show prod/db", "pass prod/db", "gopass show x", "op read op://a/b", "op item get db", "bw get password x",
    "lpass show x", "security find-generic-password -wa login", "secret-tool lookup service x", "keyctl print 1",
    "gh auth token", "gh auth status --show-token", "glab auth status -t", "gcloud auth print-access-token",
    "gcloud --project p auth print-identity-token", "gcloud secrets versions access latest --secret=x",
    "aws secretsmanager get-secret-value --secret-id x", "aws --profile p secretsmanager get-secret-value --secret-id x",
    "aws ssm get-parameter --name x --with-decryption", "aws configure get aws_secret_access_key",
    "aws sts get-session-token", "az account get-access-token", "az keyvault secret show --name x --vault-name y",
    "kubectl get secret db -o yaml", "kubectl -n dev get secrets -ojson", "kubectl get secret/db -o jsonpath='{.data.x}'",
    "kubectl config view --raw", "kubectl create token x", "vault kv get secret/x", "vault read secret/x",
    "heroku config", "heroku config:get X -a y", "doppler secrets", "ansible-vault view x.yml", "sops -d x.yaml",
    "sops decrypt x.yaml", "gpg -d x.gpg", "gpg --export-secret-keys -a", "terraform output -raw db_password",
    "terraform state pull", "npm config get //r.example.org/:_authToken", "git credential fill",
    "docker-credential-desktop get", "getent shadow", "rails credentials:show", "argocd admin initial-password",
    "nmcli -s connection show x", "sqlite3 x.db 'select 1'; psql -c 'select * from pg_shadow'",
)  # fmt: skip
WORK = (
    "history | tail -5", "history | grep make",
    "pass ls", "pass git pull", "pass insert x", "op whoami", "gh auth status", "gh auth login", "gh secret list",
    "gcloud auth list", "gcloud secrets list", "aws secretsmanager list-secrets", "aws ssm get-parameter --name x",
    "aws configure get region", "aws sts get-caller-identity", "az account show", "kubectl get secrets",
    "kubectl get secret db", "kubectl get secret -o wide", "kubectl get pods -o yaml", "kubectl describe secret db",
    "kubectl config view", "kubectl config current-context", "vault status", "vault list secret", "terraform output",
    "terraform output -raw url", "npm config get registry", "gpg --verify x.sig x", "gpg --list-keys",
    "aws ecr get-login-password | docker login --username AWS --password-stdin x",
    "gh auth token | docker login ghcr.io -u x --password-stdin", "git credential approve",
    "psql -c 'select * from users'", "op --help", "heroku logs", "sops --version", "doppler run -- make",
    "git config --list", "security list-keychains",
)  # fmt: skip


@pytest.mark.parametrize("command", FOUND)
def test_a_program_that_prints_a_secret_is_found(command: str) -> None:
    assert len(found(risks, command) & set(RISKS)) == 1


@pytest.mark.parametrize("command", WORK)
def test_names_of_secrets_and_log_ins_are_work(command: str) -> None:
    assert found(risks, command) == set()


@pytest.mark.parametrize(
    "command", ["security dump-keychain -d", "bw export", "gpg -a --export-secret-keys", "getent shadow"]
)
def test_a_whole_store_is_told_from_one_secret(command: str) -> None:
    assert found(risks, command) == {"prints-all-secrets"}


@pytest.mark.parametrize(
    ("tool", "is_found"),
    [
        ("mcp__kubernetes__get_secret", True),
        ("mcp__vault__read_kv", True),
        ("mcp__1password__getItem", True),
        ("mcp__aws__fetchSecretValue", True),
        ("mcp__kubernetes__list_secrets", False),
        ("mcp__vault__list", False),
        ("mcp__github__get_secret_scanning_alert", False),
        ("mcp__github__get_issue", False),
        ("get_secret", False),
    ],
)
def test_a_tool_that_shows_a_secret_says_so_by_its_name(tool: str, is_found: bool) -> None:
    call = Call(agent="claude-code", session="s", tool=tool, args={"name": "db"}, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert bool(list(risks(read, Settings()))) is is_found
