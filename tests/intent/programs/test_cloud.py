from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aws --profile p s3 cp --recursive d s3://b", ["copy_source* d", "send s3://b"]),
        ("aws s3 cp s3://a/x s3://b/", ["fetch s3://a/x", "send s3://b/"]),
        ("aws s3 cp - s3://b/x", ["send< s3://b/x"]),
        ("aws iam create-user --cli-input-json file://u.json", ["read u.json", "send aws://iam"]),
        ("aws configure list", ["read /home/dev/.aws/credentials"]),
        ("aws", []),
        ("gcloud compute scp a h:b", ["copy_source a", "send h:b"]),
        ("gcloud run deploy --source d", ["send gcloud://run", "read* d"]),
        ("gsutil cp a b gs://c", ["copy_source a", "send gs://c", "copy_source b", "send gs://c"]),
        ("gsutil cat gs://b/c", ["fetch gs://b/c"]),
        ("s3cmd get s3://b/c d", ["fetch s3://b/c", "copy_dest d"]),
        ("az storage blob upload -s a -n b", ["read a", "send azure://storage"]),
        ("az login", []),
        ("rclone move d r:", ["rename* d", "send r:"]),
        ("rclone cat r:p", ["fetch r:p"]),
        ("rclone purge d", ["delete* d"]),
        ("vercel --prod", ["read* .", "send https://api.vercel.com"]),
        ("netlify deploy --dir=d", ["read* d", "send https://api.netlify.com"]),
        ("heroku --version", []),
    ],
)
def test_what_goes_to_a_cloud_and_comes_from_it(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_files_go_to_buckets_and_answers_are_printed() -> None:
    assert flows("aws s3 sync d s3://b") == ["d -> s3://b"]
    assert flows("aws s3api get-object --bucket b --key k f") == ["aws://s3api -> f"]
    assert acted("aws ec2 describe-instances").prints == (0,)
    assert acted("aws s3 cp s3://b/c -").prints == (0,)
