"""What is removed that is no file of this machine, program by program, and the neighbours that only look."""

import pytest

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.reading import read_call
from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.removals import of_program, of_tools
from tests.policy.risks.readings import FOLDER, HOME, Bare, reading


def found(command: str) -> set[str]:
    return {word for started in programs(reading(command)) if (word := of_program(started)) is not None}


REMOVED = {
    "deletes-remote": """
aws s3 rm s3://b --recursive
aws s3 rb s3://b --force
aws s3 sync . s3://b --delete
aws --profile prod ec2 terminate-instances --instance-ids i-1
aws rds delete-db-instance --db-instance-identifier x
aws kms schedule-key-deletion --key-id x
gcloud projects delete prod
gcloud compute instances delete x --zone y
gcloud storage rm -r gs://b
gsutil -m rm -r gs://b
gsutil rsync -d a gs://b
bq rm -r dataset
az group delete -n prod
doctl compute droplet delete 1
heroku apps:destroy -a x
heroku pg:reset
fly apps destroy x
vercel remove x
wrangler delete
firebase firestore:delete --all-collections
terraform destroy
terraform apply -destroy
terraform -chdir=prod destroy
terraform state rm x
tofu destroy
terragrunt run-all destroy
pulumi destroy
pulumi stack rm prod
cdk destroy
eksctl delete cluster x
kubectl delete ns prod
kubectl delete pods --all -A
kubectl delete -f k8s/
kubectl -n prod delete deployment web
kubectl drain node-1
kubectl replace --force -f x.yaml
helm uninstall web
helm -n prod delete web
gh repo delete a/b --yes
gh release delete v1
gh api -X DELETE repos/a/b
gh api --method DELETE repos/a/b
glab repo delete a/b
npm unpublish x --force
yarn npm unpublish x
cargo yank --vers 1.0.0
gem yank x
rclone purge remote:b
rclone sync a remote:b
s3cmd del s3://b/x
mc rb --force a/b
restic forget --keep-last 1
borg delete repo
curl -X DELETE https://api.example.org/users/1
curl -XDELETE https://api.example.org/users/1
curl --request DELETE https://api.example.org/users/1
http DELETE https://api.example.org/users/1
wget --method=DELETE https://api.example.org/users/1
ssh prod 'rm -rf /var/www'
ssh -p 2222 dev@prod rm -r /srv
ssh prod "cd /srv && find . -delete"
pulumi down -y
npm owner rm me shop
npm dist-tag rm shop latest
gh workflow disable ci.yml
nomad job stop -purge web
vault kv metadata delete secret/x
vault secrets disable kv
kubectl -n prod scale deploy --all --replicas=0
gh api graphql -f query='mutation{deleteRef(input:{refId:"x"}){clientMutationId}}'
""",
    "deletes-volumes": """
docker system prune -af --volumes
docker system prune --all
docker volume rm pgdata
docker volume prune -f
podman volume prune
docker rm -f $(docker ps -aq)
docker container rm -f $(docker ps -aq)
docker rmi -f $(docker images -q)
podman rm --all
docker swarm leave --force
docker stack rm web
vagrant destroy -f
multipass delete x
virsh undefine x
lxc delete x --force
limactl delete -f default
snap remove --purge lxd
brew uninstall --zap docker
apt-get purge -y python3
conda env remove -n base -y
rustup self uninstall -y
""",
    "deletes-backups": """
tmutil delete /Volumes/x
tmutil deletelocalsnapshots /
vssadmin delete shadows /all
wbadmin delete catalog
wmic shadowcopy delete
snapper delete 1-10
timeshift --delete-all
velero backup delete x
""",
    "removes-account": """
userdel -r dev
deluser --remove-home dev
crontab -r
crontab -u dev -ri
dscl . -delete /Users/dev
sysadminctl -deleteUser dev
net user dev /delete
pw userdel dev
atq | cut -f1 | xargs atrm
""",
    "drops-data": """
curl -XDELETE http://localhost:9200/_all
curl -X POST http://localhost:9200/users/_delete_by_query -d '{}'
""",
}
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


@pytest.mark.parametrize(
    ("command", "word"),
    [(command, word) for word, commands in REMOVED.items() for command in commands.strip().splitlines()],
)
def test_what_removes_something_elsewhere_has_its_word(command: str, word: str) -> None:
    assert found(command) == {word}


def tool(name: str, args: dict[str, Json]) -> set[str]:
    call = Call(agent="claude-code", session="s", tool=name, args=args, cwd=FOLDER)
    return {risk.name for risk in of_tools(read_call(call, Bare({}), home=HOME, workspace=FOLDER))}


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("mcp__github__delete_file", {"repo": "prod", "path": "README.md"}),
        ("mcp__aws__terminateInstance", {"id": "i-1"}),
        ("mcp__k8s__kubectl_delete", {"name": "x"}),
        ("mcp__notion__delete_block", {"id": "1"}),
    ],
)
def test_a_tool_of_another_server_is_known_by_its_name(name: str, args: dict[str, Json]) -> None:
    assert tool(name, args) == {"deletes-remote"}


@pytest.mark.parametrize(
    ("name", "args"),
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


@pytest.mark.parametrize("command", KEPT.strip().splitlines())
def test_what_only_looks_or_removes_its_own_has_none(command: str) -> None:
    assert found(command) == set()


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("mcp__notion__delete_page", {"id": "1"}),
        ("mcp__supabase__reset_branch", {"branch_id": "1"}),
        ("mcp__supabase__delete_branch", {"branch_id": "1"}),
        ("mcp__github__delete_branch", {"owner": "a", "repo": "b", "branch": "main"}),
        ("mcp__mongodb__drop-collection", {"database": "shop", "collection": "orders"}),
        ("mcp__slack__delete_message", {"channel": "C1", "ts": "1"}),
        ("mcp__cloudflare__d1_database_delete", {"database_id": "1"}),
        ("github_delete_repository", {"owner": "a", "repo": "b"}),
    ],
)
def test_a_tool_that_deletes_at_a_host_is_found(tool: str, args: dict[str, Json]) -> None:
    assert _of_tool(tool, args) == {"deletes-remote"}


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("mcp__memory__delete_entities", {"entityNames": ["a"]}),
        ("mcp__todo__delete_todo", {"id": "1"}),
        ("mcp__playwright__browser_clear_cookies", {}),
        ("mcp__puppeteer__remove_listener", {}),
        ("mcp__github__remove_label", {"issue_number": 1, "label": "x"}),
        ("mcp__github__delete_branch", {"owner": "a", "repo": "b", "branch": "feature/x-1"}),
        ("mcp__docs__get_delete_api", {"id": "1"}),
        ("mcp__github__create_issue", {"title": "delete_repository"}),
        ("delete_memory", {"id": "1"}),
        ("TodoWrite", {"todos": []}),
    ],
)
def test_what_an_agent_keeps_for_itself_and_small_things_are_work(tool: str, args: dict[str, Json]) -> None:
    assert _of_tool(tool, args) == set()


def _of_tool(tool: str, args: dict[str, Json]) -> set[str]:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    return {risk.name for risk in of_tools(read_call(call, Bare({}), home=HOME, workspace=FOLDER))}
