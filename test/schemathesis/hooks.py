"""What schemathesis needs of the sandbox: somebody to ask as, things to ask for, and which refusals of valid requests are meant."""

import itertools
import json
import os
import re
import urllib.error
import urllib.request

import schemathesis
from requests.adapters import HTTPAdapter
from schemathesis.specs.openapi.checks import positive_data_acceptance

ORIGIN = os.environ["SANDBOX_URL"]
# Below the budget of a minute (120).
REQUESTS_PER_MINUTE = 100
STANDUP_URL = "https://meet.google.com/abc-defg-hij"
RECEIVER = "https://hooks.example.com/in"

# What the document cannot say of a valid request: the operations, what the refusal says, and why.
MEANT_REFUSALS = [
    (r"GET .*", r"^cursor: invalid, or issued for", "A cursor is valid for the list that gave it; no schema knows which those are."),
    (r".* /v1/.*", r"^The path holds an encoded character", "The gateway refuses separators and control characters in a path before it looks for the route."),
    (r".*", r": (names )?must be well-formed text without NUL$", "JSON Schema has no word for text without lone surrogates and NUL."),
    (r"POST .*", r"^Idempotency-Key: was used with another request body", "Whether a key was used depends on the requests before."),
    (r".*", r"^(email|name): must not hold (line breaks|control)", "A pattern would be narrower than what released documents say; the description has the rule."),
    (r"(GET|POST) /v1/signup/start", r"^email: must be an e-mail address", "`format` would be narrower than what released documents say; the description has the rule."),
    (r"(GET|POST) /v1/signup/workspace", r"^(team_id|workspace_name): (is required|must)", "Which field is required depends on `action`, as the description says."),
    (r"(POST|PATCH) /v1/webhooks(/\{id\})?", r"^url: must be an absolute https URL", "That a host is public is no matter of its form."),
    (r"POST /v1/meetings/join", r"^meeting_url: ", "Which links are meetings is a list of platforms, not a pattern."),
    (r"POST /v1/webhooks/\{id\}/replay", r"^since: must be in the past and before until", "A rule over two fields and the clock."),
    (r"GET /oauth/authorize", r"^Bad request$", "Whether client and redirect URI belong together is known to the server alone; it answers with a page."),
    (r"POST /oauth/(token|revoke)", r"^\w+", "RFC 6749 and 7009: which parameters are required depends on the grant and on how the client authenticates."),
    (r"POST /oauth/register", r"^\w+(\.\d+)?: ", "RFC 7591: the server decides which metadata it takes, and says so with `invalid_client_metadata`."),
]


def control(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(ORIGIN + path, method=method, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def timed_out(status, headers):
    """Where the machine is busy with others, the second for the check of a credential may pass; asked again, the answer must come."""
    return status == 500 and headers.get("x-gateway-reason") == "upstream-timeout"


def public(method, path, credential, body=None):
    request = urllib.request.Request(
        f"{ORIGIN}/v1/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {credential}"},
    )
    try:
        answer = urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as refusal:
        if not timed_out(refusal.code, refusal.headers):
            raise
        answer = urllib.request.urlopen(request, timeout=30)
    with answer:
        return json.load(answer)


send_once = HTTPAdapter.send


def send(adapter, request, *args, **kwargs):
    answer = send_once(adapter, request, *args, **kwargs)
    if not timed_out(answer.status_code, answer.headers):
        return answer
    answer.close()
    return send_once(adapter, request, *args, **kwargs)


# Everything that schemathesis sends goes out here.
HTTPAdapter.send = send


def person_who_pays():
    user = control("POST", "/_sandbox/users", {})
    members = [{"user_id": user["id"], "role": "admin"}]
    team = control("POST", "/_sandbox/teams", {"name": "Pro", "plan": "pro", "members": members, "channels": [{"name": "general"}]})
    return user, team


def signup_session():
    """Of somebody whose address is verified."""
    email = f"ada@{os.urandom(4).hex()}.example.org"
    session = public("POST", "signup/start", "", {"email": email})["signup_session"]
    code = re.search(r"\b\d{6}\b", control("GET", f"/_sandbox/mailbox?to={email}")[0]["text"])[0]
    public("POST", "signup/verify", "", {"signup_session": session, "code": code})
    return session


def scene():
    user, team = person_who_pays()
    channel = team["channels"]["general"]
    place = {"team_id": team["id"], "channel_id": channel, "participant_ids": [user["id"]]}
    bubbles = [control("POST", "/_sandbox/bubbles", {"type": "meeting_recording", **place})["id"] for _ in range(3)]
    for _ in range(2):
        control("POST", f"/_sandbox/bubbles/{bubbles[0]}/comments", {"author_id": user["id"]})
    hook = public("POST", "webhooks", user["pat"], {"url": RECEIVER, "events": ["bubble.ready"]})["id"]
    joins = [public("POST", "meetings/join", user["pat"], {"meeting_url": STANDUP_URL[:-1] + last, "team_id": team["id"]}) for last in "jk"]
    return {
        "user": user,
        "path": {
            "/v1/bubbles/": {"id": bubbles[0]},
            "/v1/meetings/join/": {"id": joins[0]["id"]},
            "/v1/webhooks/": {"id": hook, "delivery_id": public("POST", f"webhooks/{hook}/test", user["pat"])["id"]},
        },
        "cursors": {
            "/v1/bubbles": public("GET", "bubbles?limit=1", user["pat"])["next_cursor"],
            "/v1/bubbles/{id}/comments": public("GET", f"bubbles/{bubbles[0]}/comments?limit=1", user["pat"])["next_cursor"],
            "/v1/meetings/join": public("GET", "meetings/join?limit=1", user["pat"])["next_cursor"],
        },
        "fields": {
            "team_id": team["id"],
            "space_id": channel,
            "url": RECEIVER,
            "meeting_url": STANDUP_URL,
            "email": "grace@example.org",
            "signup_session": signup_session(),
        },
    }


SCENE = scene()
sent = itertools.count(1)


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """A key where one is accepted, else the session."""

    def get(self, case, context):
        kinds = [kind for way in case.operation.definition.raw.get("security", []) for kind in way]
        if not kinds:
            return None
        return SCENE["user"]["pat" if "personalAccessToken" in kinds else "session_token"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Bearer {data}"


def point_at_scene(case, number):
    """Of what was generated only that is replaced which no generator can know, so that the request comes as far as the work behind it."""
    for prefix, ids in SCENE["path"].items():
        if case.operation.path.startswith(prefix) and case.method != "DELETE":
            case.path_parameters.update({name: value for name, value in ids.items() if name in case.path_parameters})
    fields = {**SCENE["fields"], "cursor": SCENE["cursors"].get(case.operation.path, "")}
    for place in (case.query, case.body):
        if isinstance(place, dict):
            place.update({name: value for name, value in fields.items() if name in place and value != ""})
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"key-{number}"


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(sent)
    if number % REQUESTS_PER_MINUTE == 0:
        control("POST", "/_sandbox/clock", {"advance_seconds": 60})
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive:
        return
    if meta.phase.name.value == "stateful":
        # The ids come from the answers before. A key that another chain has used would answer with what that one made, and perhaps removed.
        if "Idempotency-Key" in (case.headers or {}):
            case.headers["Idempotency-Key"] = f"chain-{number}"
    elif number % 2 == 0:
        # Every second valid request.
        point_at_scene(case, number)


def said_in(response):
    if "text/html" in response.headers.get("content-type", [""])[0]:
        return re.search(r"<h1>(.*?)</h1>", response.text)[1]
    body = response.json()
    return body["error_description"] if isinstance(body["error"], str) else body["error"]["message"]


@schemathesis.check
def valid_data_is_accepted(context, response, case):
    """The check of schemathesis, but for what is meant."""
    try:
        positive_data_acceptance(context, response, case)
    except AssertionError:
        said = said_in(response)
        if not any(re.fullmatch(where, case.operation.label) and re.search(what, said) for where, what, _ in MEANT_REFUSALS):
            raise


@schemathesis.check
def undeclared_method_is_not_found(context, response, case):
    """The closed set of errors has no 405: the answer is 404, with the methods that there are in `Allow`."""
    method = response.request.method
    declared = {name.upper() for name in case.operation.schema[case.operation.path]}
    if method in declared | {"HEAD", "OPTIONS"}:
        return
    allowed = response.headers.get("allow", [""])[0].split(", ")
    known = declared & {"GET", "POST", "PUT", "PATCH", "DELETE"}
    # 400 is for a path that is refused before its route is looked for.
    assert response.status_code in (400, 404), f"{method} was answered with {response.status_code}"
    assert response.status_code == 400 or (known <= set(allowed) and method not in allowed), f"Allow: {allowed} instead of {known}"
