from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl --context c get pods", ["fetch kubernetes://c"]),
        ("kubectl -s https://h apply -f a.yml", ["read a.yml", "send https://h"]),
        ("kubectl apply -k d", ["read* d", "send kubernetes://"]),
        ("kubectl apply -f -", ["send< kubernetes://"]),
        ("kubectl rollout status x", ["fetch kubernetes://"]),
        ("kubectl rollout restart x", ["send kubernetes://"]),
        ("kubectl exec -i p -- sh", ["connect< kubernetes://"]),
        ("kubectl config view", []),
        ("kubectl logs -f p", ["fetch kubernetes://"]),
        ("helm upgrade x c --set-file a=b", ["read b", "send kubernetes://"]),
        ("helm create x", ["create* x"]),
    ],
)
def test_a_cluster_is_asked_or_changed(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_manifests_go_to_the_cluster() -> None:
    assert flows("kubectl create -f a.yml") == ["a.yml -> kubernetes://"]


def test_another_verb_is_unknown() -> None:
    assert acted("kubectl frobnicate").is_unknown
