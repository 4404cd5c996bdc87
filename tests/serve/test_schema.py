"""What the service says about itself holds, whatever is sent: schemathesis makes it up."""

import hypothesis
import numpy as np
import pytest
import schemathesis
from fastapi.testclient import TestClient
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from windfall.serve.app import application
from windfall.serve.guard import Limits
from windfall.serve.tokens import Tokens
from windfall.study.stores import MemoryStore

ARMS = {"type": "Arms", "features": np.linspace(-1.0, 1.0, 60)[:, None].tolist()}
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """A client of a service, and what the service says about itself."""
    tokens = Tokens(tmp_path_factory.mktemp("schema") / "tokens")
    app = application(MemoryStore(), tokens, ["testserver"], Limits(rate=1e9))
    bearer = {"Authorization": f"Bearer {tokens.add('all', 'admin')}"}
    with TestClient(app, headers=bearer) as client:
        yield client, schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=bearer)
    tokens.close()


def operations(schema):
    found = [operation.ok() for operation in schema.get_all_operations()]
    return [one for one in found if not one.path.endswith("{name}/events")]  # that never ends


def send(strategy, check):
    """Have a few requests made up, and checked."""
    limits = hypothesis.settings(
        max_examples=4, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    limits(hypothesis.given(strategy)(check))()


def test_good_requests_are_answered_as_described(described):
    """To a study that is there."""
    client, schema = described
    statuses = set()
    for operation in operations(schema):
        body = {"name": "alloy", "space": ARMS, "policy": "mean", "initial": 50}
        client.post("/api/v1/studies", json=body)
        keys = dict(client.get("/api/v1/store/studies").json()["studies"])
        there = {"name": "alloy", "key": keys["alloy"]}
        parameters = {k: v for k, v in there.items() if f"{{{k}}}" in operation.path}

        def check(case):
            case.path_parameters.update(parameters)  # noqa: B023  it is called at once
            answer = case.call_and_validate(checks=CHECKS, headers=dict(client.headers))
            statuses.add(answer.status_code)

        send(operation.as_strategy(generation_mode=GenerationMode.POSITIVE), check)
    assert {200, 201, 204, 422} <= statuses


def test_bad_requests_are_refused_as_described(described):
    client, schema = described
    statuses = set()
    for operation in operations(schema):
        if operation.path == "/health":
            continue  # nothing can be wrong with it

        def check(case):
            checks = [*CHECKS, negative_data_rejection]
            answer = case.call_and_validate(checks=checks, headers=dict(client.headers))
            statuses.add(answer.status_code)

        send(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE), check)
    assert {400, 422} <= statuses
