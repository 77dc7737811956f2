"""Secrets that are known by their own form: vendors' keys and tokens.

Owns the table of forms. Each begins with a prefix that its vendor chose so that it can be recognised; the patterns are the
vendors' documented ones, widened where a vendor has lengthened its tokens before. Must not know where a form is looked for.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tallystick.scrubbing.judging import is_words

_WORD = rb"[A-Za-z0-9]"
_URL = rb"[A-Za-z0-9_-]"
_FEWEST_CHARACTERS = 7
"""A key of fewer different characters is a drawing of one: `sk-xxxxxxxxxxxxxxxxxxxx`."""
_MOST_DASHES = 3
"""Likewise one of words with more dashes between them: `sk-ant-your-key-goes-here`."""


class Shape(NamedTuple):
    """A form: its kind, the literals it begins with, and the pattern of what follows them."""

    kind: str
    prefixes: tuple[bytes, ...]
    body: bytes
    cut: bool = True
    """Whether a piece at the very end of a text counts: `ghp_16C7e42F…`. Not where the prefix is a common word."""


def _shape(kind: str, prefixes: str, body: bytes, *, cut: bool = True) -> Shape:
    return Shape(kind, tuple(prefix.encode() for prefix in prefixes.split()), body, cut)


SHAPES = (
    # Model providers
    _shape("anthropic-key", "sk-ant-", _URL + rb"{16,512}"),
    _shape("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _URL + rb"{20,512}"),
    _shape("openrouter-key", "sk-or-", _URL + rb"{20,256}"),
    _shape("api-key", "sk-lf- sk-kimi- sk-cp-", _URL + rb"{20,256}"),
    _shape(
        "api-key", "sk-", rb"(?=" + _WORD + rb"*[0-9])(?=" + _WORD + rb"*[A-Za-z])" + _WORD + rb"{20,256}", cut=False
    ),
    _shape("google-api-key", "AIza", _URL + rb"{35,64}"),
    _shape("google-api-key", "AQ.Ab", _URL + rb"{40,256}"),
    _shape("google-oauth", "ya29.", rb"[A-Za-z0-9_.-]{20,1024}"),
    _shape("google-oauth", "GOCSPX-", _URL + rb"{24,64}"),
    _shape("google-oauth", "1//0", _URL + rb"{40,256}", cut=False),
    _shape("huggingface-token", "hf_ api_org_", _WORD + rb"{30,64}", cut=False),
    _shape("groq-key", "gsk_", _WORD + rb"{40,128}"),
    _shape("xai-key", "xai-", _WORD + rb"{60,128}"),
    _shape("perplexity-key", "pplx-", _WORD + rb"{40,128}"),
    _shape("replicate-token", "r8_", _WORD + rb"{36,64}", cut=False),
    _shape("nvidia-key", "nvapi-", _URL + rb"{40,128}"),
    _shape("cerebras-key", "csk-", _WORD + rb"{40,64}", cut=False),
    _shape("together-key", "tgp_v1_", _URL + rb"{40,64}"),
    _shape("fireworks-key", "fw_", _WORD + rb"{22,24}(?!" + _URL + rb")", cut=False),
    _shape("langsmith-key", "lsv2_pt_ lsv2_sk_", rb"[a-f0-9]{32}_[a-f0-9]{10}"),
    _shape("tavily-key", "tvly-", _URL + rb"{20,64}", cut=False),
    _shape("firecrawl-key", "fc-", rb"[a-f0-9]{32}", cut=False),
    _shape("jina-key", "jina_", _URL + rb"{50,80}", cut=False),
    _shape("context7-key", "ctx7sk-", _URL + rb"{30,64}"),
    _shape("pinecone-key", "pcsk_", rb"[A-Za-z0-9_]{40,128}"),
    _shape("cursor-key", "crsr_", _WORD + rb"{40,128}"),
    _shape("elevenlabs-key", "sk_", rb"[a-f0-9]{48}", cut=False),
    # Clouds
    _shape("aws-key-id", "AKIA ASIA ABIA ACCA", rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("aws-session-token", "IQoJb3JpZ2luX2Vj FwoGZXIvYXdzE", rb"[A-Za-z0-9+/=]{60,4096}"),
    _shape("aws-bedrock-key", "ABSK", rb"[A-Za-z0-9+/]{80,256}={0,2}", cut=False),
    _shape("alibaba-key-id", "LTAI", _WORD + rb"{12,24}(?![A-Za-z0-9])", cut=False),
    _shape("tencent-key-id", "AKID", _WORD + rb"{32}(?![A-Za-z0-9])", cut=False),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rb"[a-f0-9]{64}"),
    _shape("heroku-key", "HRKU-", _URL + rb"{30,128}"),
    _shape("databricks-token", "dapi", rb"[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _shape("supabase-key", "sbp_ sb_secret_", rb"[A-Za-z0-9_-]{20,128}"),
    _shape("vercel-token", "vck_ vcp_ vci_ vca_ vcr_", _WORD + rb"{24,128}"),
    _shape("netlify-token", "nfp_", _WORD + rb"{36,64}"),
    _shape("fly-token", "fo1_ fm1r_ fm2_ fm1a_", rb"[A-Za-z0-9_+/=-]{40,4096}"),
    _shape("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", rb"[A-Za-z0-9_.=-]{32,64}"),
    _shape("neon-key", "napi_", _WORD + rb"{50,80}"),
    _shape("cloudflare-token", "cfut_ cfat_ cfk_", rb"[A-Za-z0-9_-]{30,80}"),
    _shape("cloudflare-token", "v1.0-", rb"[a-f0-9]{24}-[a-f0-9]{100,160}", cut=False),
    _shape("yandex-key", "AQVN", _URL + rb"{35,40}", cut=False),
    _shape("tailscale-key", "tskey-", rb"[a-z]{3,10}-" + _URL + rb"{16,128}"),
    _shape("vault-token", "hvs. hvb. hvr.", _URL + rb"{24,512}"),
    _shape("terraform-token", "atlasv1.", _URL + rb"{50,80}"),
    _shape("pulumi-token", "pul-", rb"[a-f0-9]{40}", cut=False),
    _shape("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", rb"[A-Za-z0-9_.-]{36,96}"),
    # Version control, packages, delivery
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rb"[A-Za-z0-9_]{30,255}(?:\.[A-Za-z0-9_-]{10,1024}){0,2}"),
    _shape("github-token", "github_pat_", rb"[A-Za-z0-9_]{22,255}"),
    _shape(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glimt- glagent- glsoat- glffct- glwt- gloas-",
        rb"[A-Za-z0-9_.-]{20,300}",
    ),
    _shape("gitlab-token", "GR1348941", _URL + rb"{20,64}"),
    _shape("bitbucket-token", "ATBB", _WORD + rb"{30,40}", cut=False),
    _shape("atlassian-token", "ATATT3 ATCTT3", rb"[A-Za-z0-9_=-]{60,300}"),
    _shape("npm-token", "npm_", _WORD + rb"{36,64}", cut=False),
    _shape("pypi-token", "pypi-AgE", _URL + rb"{50,1024}"),
    _shape("crates-token", "cio", _WORD + rb"{32}(?![A-Za-z0-9])", cut=False),
    _shape("rubygems-key", "rubygems_", rb"[a-f0-9]{48}"),
    _shape("nuget-key", "oy2", rb"[a-z0-9]{43}(?![A-Za-z0-9])", cut=False),
    _shape("docker-token", "dckr_pat_ dckr_oat_", _URL + rb"{24,64}"),
    _shape("artifactory-token", "AKCp", _WORD + rb"{60,80}", cut=False),
    _shape("circleci-token", "CCIPAT_ CCIPRJ_", rb"[A-Za-z0-9_]{30,80}"),
    _shape("buildkite-token", "bkua_", rb"[a-f0-9]{40}"),
    # Messaging and mail
    _shape(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxe- xoxc- xoxd- xoxe.xoxp- xoxe.xoxb-",
        rb"[A-Za-z0-9%-]{10,512}",
    ),
    _shape("slack-token", "xapp-", rb"\d-[A-Za-z0-9-]{20,256}"),
    _shape("sendgrid-key", "SG.", rb"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{20,64}", cut=False),
    _shape("mailgun-key", "key-", rb"[a-f0-9]{32}(?![A-Za-z0-9])", cut=False),
    _shape("brevo-key", "xkeysib- xsmtpsib-", rb"[a-f0-9]{64}-" + _WORD + rb"{16}"),
    _shape("resend-key", "re_", _WORD + rb"{8,9}_" + _WORD + rb"{24}", cut=False),
    _shape("twilio-key", "SK", rb"[a-f0-9]{32}(?![A-Za-z0-9])", cut=False),
    # Payments and shops
    _shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_", _WORD + rb"{16,256}"),
    _shape("webhook-secret", "whsec_", rb"[A-Za-z0-9+/=]{20,128}"),
    _shape("square-token", "sq0atp- sq0csp-", _URL + rb"{22,64}"),
    _shape("square-token", "EAAA", _URL + rb"{60}(?!" + _URL + rb")", cut=False),
    _shape("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpit_", rb"[A-Fa-f0-9]{32}"),
    # Work and observability
    _shape("linear-key", "lin_api_ lin_oauth_", _WORD + rb"{32,128}"),
    _shape("notion-token", "ntn_", _WORD + rb"{40,64}"),
    _shape("notion-token", "secret_", _WORD + rb"{43}(?![A-Za-z0-9])", cut=False),
    _shape("figma-token", "figd_ figo_ figoh_", _URL + rb"{30,128}"),
    _shape("postman-key", "PMAK-", rb"[a-f0-9]{24}-[a-f0-9]{34}"),
    _shape("newrelic-key", "NRAK- NRII- NRJS-", _URL + rb"{20,64}"),
    _shape("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", rb"[A-Za-z0-9_+/=]{40,512}"),
    _shape("grafana-token", "glsa_ glc_", rb"[A-Za-z0-9_+/=]{32,512}"),
    _shape("dynatrace-token", "dt0c01. dt0s01. dt0s16.", rb"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _shape("posthog-key", "phx_", _WORD + rb"{40,64}"),
    _shape("sourcegraph-token", "sgp_", rb"[A-Za-z0-9_]{40,128}"),
    _shape("apify-token", "apify_api_", _WORD + rb"{30,64}"),
    # Keys of no vendor
    _shape("age-key", "AGE-SECRET-KEY-1", rb"[A-Z0-9]{50,60}"),
    _shape("age-key", "AGE-PLUGIN-", rb"[A-Z0-9-]{1,40}-1[A-Z0-9]{30,400}", cut=False),
    _shape(
        "jwt",
        "eyJ",
        rb"[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,16384}\.[A-Za-z0-9_-]{0,2048}(?:\.[A-Za-z0-9_-]+){0,2}",
        cut=False,
    ),
    _shape("one-password-token", "ops_eyJ", _URL + rb"{100,2048}"),
)


_LETTER_BEFORE = re.compile(
    rb"(?:\\(?:[abfnrtv0]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|%[0-9A-Fa-f]{2}|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,8}[a-zA-Z])\Z"
)


def begins_word(data: bytes, start: int) -> bool:
    r"""Whether no letter or digit goes before, other than that of an escape: `\n`, `%3D`, a terminal's colour."""
    if start == 0 or not data[start - 1 : start].isalnum():
        return True
    return _LETTER_BEFORE.search(data, max(0, start - 20), start) is not None


@cache
def _patterns(shape: Shape) -> tuple[re.Pattern[bytes], re.Pattern[bytes] | None]:
    prefix = rb"(?:" + rb"|".join(re.escape(prefix) for prefix in shape.prefixes) + rb")"
    tail = rb"[A-Za-z0-9_.-]{0,256}?(?=\Z|\xe2\x80\xa6|\.\.\.)"
    cut = re.compile(prefix + rb"(?=[A-Za-z_.-]{0,40}[0-9])(?=[0-9_.-]{0,40}[A-Za-z])" + _WORD + rb"{8}" + tail)
    return re.compile(prefix + shape.body), cut if shape.cut else None


def may_match(shape: Shape, data: bytes, start: int) -> bool:
    """Whether a secret of this form may begin at `start`, in JSON: there a text does not end with the data."""
    return begins_word(data, start) and (shape.cut or match_shape(shape, data, start, len(data)) is not None)


def match_shape(shape: Shape, data: bytes, start: int, limit: int) -> int | None:
    """Where the secret of this form that begins at `start` ends, at `limit` at the latest; None if there is none."""
    if not begins_word(data, start):
        return None
    whole, cut = _patterns(shape)
    found = whole.match(data, start, limit) or (cut.match(data, start) if cut is not None else None)
    if found is None:
        return None
    is_drawn = len(set(found[0])) < _FEWEST_CHARACTERS or (found[0].count(b"-") > _MOST_DASHES and is_words(found[0]))
    return None if is_drawn else found.end()
