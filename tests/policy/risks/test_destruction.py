"""What is destroyed without a path showing it."""

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.destruction import RISKS, of_program, of_tools, risks
from tallystick.policy.risks.programs import programs
from tests.policy.risks.readings import FOLDER, HOME, Bare, found, reading
from tests.support.cases import cases, each, each_case


def found_in(command: str) -> set[str]:
    return {word for started in programs(reading(command)) if (word := of_program(started)) is not None}


REMOVED = cases(__file__, "removed", dict[str, str])
KEPT = """
aws s3 ls
aws s3 rm s3://b --recursive --dryrun
aws s3 cp x s3://b/delete
aws --endpoint-url http://localhost:4566 s3 rb s3://b
awslocal s3 rb s3://b
gcloud compute instances list
terraform plan -destroy
terraform plan
terraform apply
kubectl get pods
kubectl delete pod web-1
kubectl delete pod/web-1
kubectl --context minikube delete ns x
kubectl --context kind-test delete ns x
kubectl delete ns x --dry-run=client
helm install web .
helm uninstall web --dry-run
gh pr create --title delete
gh issue list --search delete
gh pr merge 1 --delete-branch
gh extension remove x
gh api repos/a/b
gh api graphql -f query='query{viewer{login}}'
gh api graphql -f query='mutation{addComment(input:{body:"deleteRef"}){clientMutationId}}'
pulumi preview
nomad job stop web
vault kv get secret/x
kubectl scale deploy web --replicas=0
brew uninstall jq
conda env remove -n shop-test
snap remove hello
atrm 3
npm uninstall left
npm install
cargo remove serde
cargo clean
rclone copy a b
restic snapshots
restic -r /srv/b snapshots --tag prune
restic forget --dry-run --keep-last 1
curl https://example.org
curl -X POST https://example.org/delete
curl -X DELETE http://localhost:3000/users/1
curl -X DELETE http://api:3000/users/1
curl -X DELETE http://127.0.0.1/x
curl -X DELETE "$BASE/x"
ssh prod 'ls -la'
ssh prod rm /tmp/x
ssh -L 1:localhost:2 prod
docker rm -f web
docker system prune -f
docker image prune -f
docker builder prune -af
docker compose down -v
docker ps
vagrant up
tmutil listbackups
snapper list
crontab -l
crontab new.cron
userdel --help
id dev
"""


@each(
    "command, word",
    [(command, word) for word, commands in REMOVED.items() for command in commands.strip().splitlines()],
)
def test_what_removes_something_elsewhere_has_its_word(command: str, word: str) -> None:
    assert found_in(command) == {word}


def tool(name: str, args: dict[str, Json]) -> set[str]:
    call = Call(agent="claude-code", session="s", tool=name, args=args, cwd=FOLDER)
    return {risk.name for risk in of_tools(read_call(call, Bare({}), home=HOME, workspace=FOLDER))}


@each_case("name, args")
def test_a_tool_of_another_server_is_known_by_its_name(name: str, args: dict[str, Json]) -> None:
    assert tool(name, args) == {"deletes-remote"}


@each(
    "name, args",
    [
        ("mcp__github__create_issue", {"title": "delete"}),
        ("mcp__github__list_deleted", {}),
        ("mcp__memory__delete_entities", {"names": ["x"]}),
        ("mcp__tasks__remove_task", {"id": "1"}),
        ("mcp__filesystem__delete_file", {"path": f"{FOLDER}/x"}),
        ("mcp__playwright__browser_close", {}),
        ("TaskDelete", {"id": "1"}),
        ("mcp__github__undelete", {"id": "1"}),
    ],
)
def test_what_tools_keep_for_an_agent_is_its_own(name: str, args: dict[str, Json]) -> None:
    assert tool(name, args) == set()


@each("command", KEPT.strip().splitlines())
def test_what_only_looks_or_removes_its_own_has_none(command: str) -> None:
    assert found_in(command) == set()


@each_case("tool, args")
def test_a_tool_that_deletes_at_a_host_is_found(tool: str, args: dict[str, Json]) -> None:
    assert _of_tool(tool, args) == {"deletes-remote"}


@each_case("tool, args")
def test_what_an_agent_keeps_for_itself_and_small_things_are_work(tool: str, args: dict[str, Json]) -> None:
    assert _of_tool(tool, args) == set()


def _of_tool(tool: str, args: dict[str, Json]) -> set[str]:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    return {risk.name for risk in of_tools(read_call(call, Bare({}), home=HOME, workspace=FOLDER))}


@each_case("command, words")
def test_a_call_has_the_words_of_all_that_it_destroys(command: str, words: set[str]) -> None:
    assert found(risks, command) == words
    assert words <= RISKS.keys()
