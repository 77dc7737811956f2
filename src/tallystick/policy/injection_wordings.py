"""The turns of speech in which text orders an agent against its user.

Owns the table of wordings, each for a tag of `phrases`. Must not know how a text is made plain, nor where it stands. They are
for English, in plain form: one line, lower case, without marks. Sources: specs/gensee.md 5.3 (its 28 phrases), and published
collections of prompt injections, in words of our own.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec


class Wording(msgspec.Struct, frozen=True):
    """Something that may be said in one sentence."""

    tag: str
    needs: tuple[str, ...]
    """One of these stands in a sentence that says it."""
    parts: tuple[re.Pattern[str], ...]
    """They follow each other, not far apart."""
    is_order: bool = True
    """Said with `never` or `do not` before it, it is the opposite."""


def _compiled(part: str) -> re.Pattern[str]:
    """A part as it stands in the table: line breaks and spaces in it mean nothing, and `_` is a space."""
    spelled = re.sub(r"\s+", "", part)
    for name, pattern in _NAMES.items():
        spelled = spelled.replace(f"<{name}>", re.sub(r"\s+", "", pattern))  # a name may stand in those before it
    return re.compile(spelled.replace("_", " "))


_NAMES = {
    "USER": r"""(?:(?:the|your|our|any)_)?(?:users?|humans?|operators?|developers?|owners?|people|person|anyone|anybody|
    him|
        her|them)""",
    "OTHERS": r"""(?:_(?:the|of|my|those|default|given|and|or|that|came)){0,3}_<STRONG>
        (?:_(?:the|of|my|those|and|or|default|<STRONG>)){0,6}""",
    "STRONG": r"""(?:all|any|every|each|previous|prior|earlier|preceding|above|foregoing|former|existing|original|
    initial|other|
        your|system|safety|security|developer|core|current|user'?s?)""",
    "RULES": r"""_(?:\w+_)?(?:instructions?|directives?|directions|guidelines?|guardrails?|prompts?|rules|restrictions|
        polic(?:y|ies)|safeguards?|constraints|commands|orders|messages|safety_(?:measures|checks|training|
        filters?))\b""",
    "SECRET": r"""(?:\.env\b|passwords?|passphrases?|credentials?|secrets?\b|(?:api|access|private|ssh|signing)[_-]?keys?|
        tokens?\b|id.?rsa|ided25519|\.ssh\b|\.aws\b|environment_variables|env_vars|(?:output|result|
        contents?)_of_\W?(?:env|printenv|set)\b|
        cookies|history|conversation|transcript|system_prompt|source_code|keychain|
        contents?_of_(?:the_|this_|your_|every_|all_)*(?:files?|repo|repository|project|workspace|home))""",
    "THERE": r"""(?:https?://|ftp://|\S@\S{1,80}\.\w|\bwebhook|\bpastebin|\btelegram|\bdiscord|\bslack|
        \b(?:my|our|the|a|this|remote|external|collector|analytics|telemetry)_(?:server|endpoint|url|host|address|
        collector)\b|
        \bas_(?:a_)?(?:query|url)_param)""",
    "SAFETY": r"""(?:(?:permissions?|approvals?|confirmations?|sandbox(?:ing)?|safeguards?|guardrails?|audit(?:ing)?|
    monitoring|
        recorder|recording|tally(?:stick)?|(?:agent|claude|codex|cursor|tool|tally)_hooks?)(?:_(?:prompts?|checks?|
        requests?|dialogs?|requirements?|
        filters?|rules|mode|logging|logs?|system|controls?))?|
        (?:safety|security)_(?:checks?|prompts?|filters?|rules|guidelines|controls?|polic(?:y|ies)|features|measures|
        restrictions))""",
    "TURN": r"""(?:\b<EVENT>|\b(?:every|each)_(?:turn|prompt|session|message|reply|answer|response|request)\b
        |\b(?:on|at)_(?:session_)?(?:start|startup)\b)""",
    "EVENT": r"""(?:whenever|every_time|each_time|from_now_on|when_(?:you|the_user|asked|starting|opening|a_user|this)|
        on_(?:every|each)|at_(?:the_)?(?:start|beginning|startup)|(?:before|after)_(?:each|every|any|answering|
        responding|doing))\b
        (?!_(?:you_|the_user_)?(?:chang|add|edit|modif|creat|updat|finish|touch|commit|push|writ|mak|fix|renam|mov|delet|
        run|
        test)\w*)""",
    "DO": r"""(?:run|execute|call|invoke|fetch|download|curl|wget|install|source|eval|launch|start|send|upload|post|
    forward|
        push)""",
    "INSTALLERS": r"""(?:get\.docker\.com|sh\.rustup\.rs|astral\.sh/|bun\.sh/|deno\.land/|install\.python-poetry\.org|
        get\.pnpm\.io|raw\.githubusercontent\.com/(?:nvm-sh|homebrew)/|get\.sdkman\.io|claude\.ai/install|
        antigravity\.google/|cli\.github\.com)""",
    "UNASKED": r"without_(?:asking|confirm\w*|permission|approval|prompting|telling|checking|review\w*|waiting)",
    "NOT": r"""(?:do_not|don't|dont|never|must_not|should_not|shouldn't|avoid|without|not_to|refrain_from|nor|no_need_to)_
        (?:ever_)?""",
}

_TABLE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "override",
        "instruct direct guid prompt rule restrict polic safe constraint command order message",
        (
            r"""\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|overrule|bypass(?:ing)?|
            circumvent|discard|
            set_aside|pay_no_attention_to|supersedes?|take_precedence_over|(?:do_not|don't|stop|
            no_longer)_(?:follow(?:ing)?|obey(?:ing)?))
            (?:_about)?<OTHERS><RULES>""",
        ),
    ),
    (
        "override",
        "above before previous earlier told said learned",
        (
            r"\b(?:ignore|disregard|forget)_(?:everything|anything|all|what)\b",
            r"\b(?:above|before|previously|earlier|told|said|learned)\b",
        ),
    ),
    (
        "override",
        "you jailbr mode anything",
        (
            r"""\byou_are_(?:now_)?(?:no_longer_(?:bound|restricted|limited)|free_(?:of|from)|not_bound_by|unrestricted|
            jailbroken|
            in_(?:developer|god|jailbreak|dan|admin)_mode)|\b(?:enter|enable|activate)_(?:god|jailbreak|dan)_mode\b|
            \bdo_anything_now\b""",
        ),
    ),
    (
        "override",
        "the user you this",
        (
            r"\b(?:these|this|the_following)_(?:instructions?|rules?|files?|notes?|sections?)\b",
            r"\b(?:overrides?|supersedes?|replaces?|takes?_(?:precedence|priority)_over|outranks?)<OTHERS><RULES>",
        ),
    ),
    (
        "override",
        "authority priority void invalid apply overrid",
        (
            r"""\b(?:this|these)_(?:file|instructions?|rules?|notes?|section)\b|\b(?:conflicting|contradicting|other|
            all_other)_(?:guidance|instructions?|rules)\b""",
            r"""\b(?:highest|absolute|supreme|final|top)_(?:authority|priority)\b|\b(?:void|invalid|overridden)\b|
            \bno_longer_apply\b""",
        ),
    ),
    (
        "override",
        "unrestricted without",
        (
            r"\b(?:act|behave|respond|operate|work)_(?:as|like)\b|\byou_(?:are|have)\b",
            r"""\bunrestricted_(?:ai|assistant|agent|model)\b|\b(?:without|no|free_(?:of|from))_(?:any_)?(?:rules|
            restrictions|limits|limitations|filters|
            guidelines|guardrails|safeguards)(?=[.,;]|$)""",
        ),
    ),
    (
        "conceals",
        "telling hide quiet deny",
        (
            r"""\bstop_(?:telling|informing|notifying)_<USER>\b|\bhide_(?:it|this|that|them|these)_(?:in|from)_(?:the_|
            your_|any_)?(?:diff|logs?|
            history|reviews?|reviewers?|user)\b|\bkeep_quiet_about\b|\bden(?:y|ies)_(?:its|their|the|any)_(?:existence|
            knowledge)\b""",
        ),
    ),
    (
        "conceals",
        "tell inform notif alert warn know",
        (
            r"""\b<NOT>(?:explicitly_|directly_)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|
            warn(?:ing)?|let(?:ting)?)
            _<USER>(?:_know)?\b(?!_(?:to|how|when|which|what_to|whether|if|that_(?:they|he|she))\b|'s)""",
        ),
    ),
    (
        "conceals",
        "mention reveal disclos report admit discuss acknowledg talk refer",
        (
            r"""\b<NOT>(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|report(?:ing)?|admit(?:ting)?|discuss(?:ing)?|
            acknowledg(?:e|ing)|talk(?:ing)?_about|refer(?:ring)?_to)_
            (?:(?:this|these|that)(?:_(?:note|notes|file|files|instructions?|rules?|section|message|step|steps|prompt|
            fact)\b|
            (?=[,.;]|$|_(?:to|in)_(?:the_|your_)))|it(?=[,.;]|$|_to_)|any_of_this|the_existence_of|(?:that|
            what)_you_(?:have|did|were|are|run|ran|sent))""",
        ),
    ),
    (
        "conceals",
        "hide conceal keep",
        (
            r"\b(?:hide|conceal|keep)_(?:this|it|these|that|the_fact|all_of_this|what_you)\b",
            r"\bfrom_<USER>\b|\b(?:secret|hidden|quiet|to_yourself)\b",
        ),
    ),
    (
        "conceals",
        "without must should may know notice",
        (
            r"""\bwithout_(?:the_|your_)?(?:users?|humans?|operators?|anyone|them)(?:'s?)?_(?:knowing|noticing|knowledge|
            awareness|being_aware)\b|
            \b(?:the_|your_)?(?:users?|humans?|operators?)_(?:must|should|may|need)_(?:not|never)_(?:ever_)?(?:know|
            notice|see|find_out|be_told|learn)\b""",
        ),
    ),
    (
        "conceals",
        "silent secret covert surreptit",
        (
            r"""(?:^|[,.:;(-]_?|\b(?:and|then|must|always|to|also|you|should)_)(?:silently|secretly|covertly|
            surreptitiously)_(?:run|execute|send|upload|post|fetch|download|install|append|copy|add|
            approve|disable|delete|modify|commit|push|collect|forward)\b""",
        ),
    ),
    (
        "approves",
        "approv accept allow grant confirm authori",
        (
            r"""\b(?:always_|automatically_|must_|auto-?)(?:approve|accept|allow|grant|confirm|authori[sz]e)
            (?:_(?:all|any|every|each|the|these|such|future|my|its|of|your))*_
            (?:tool|calls?|commands?|permissions?|requests?|actions?|prompts?|operations?|everything|edits|executions?)\b|
            \balways_approve(?=[.;,]|$|_(?:it|them|without)\b)""",
        ),
    ),
    (
        "approves",
        "approv accept allow grant confirm authori",
        (r"\b(?:approve|accept|allow|grant|confirm|authori[sz]e)_(?:all|any|every|each|everything)\b", r"\b<UNASKED>"),
    ),
    (
        "approves",
        "ask request wait",
        (
            r"""\b<NOT>(?:ask(?:ing)?|request(?:ing)?|wait(?:ing)?)_(?:<USER>_)?for_(?:any_|their_|his_|
            explicit_)?(?:permissions?|confirmation|
            approval|consent)(?=[.,;]|$|_(?:at_all|ever|again)\b|_(?:before|when|to)_(?:you_)?(?:any|destructive|
            dangerous|delet|remov|push|
            deploy|install|overwrit|dropp|send|upload|commands?|tool|shell))""",
        ),
    ),
    (
        "approves",
        "without",
        (
            r"\byou_(?:have_permission|are_(?:allowed|authori[sz]ed|permitted)|may|can)(?:_to|_always|_freely)?\b",
            r"\b(?:delete|remove|push|deploy|install|overwrite|drop|force|execute|send|upload|sudo)\b",
            r"\b<UNASKED>",
        ),
    ),
    (
        "approves",
        "approval permission confirmation",
        (
            r"\b(?:commands?|calls?|tools?|actions?|requests?|everything|these|following|it|they)\b",
            r"\b(?:needs?|requires?)_no_(?:approval|permission|confirmation)\b",
        ),
    ),
    (
        "approves",
        "approved authori granted consented agreed confirmed",
        (
            r"""\b(?:<USER>|i|we|they|the_team|security|management)_(?:has|have|had)_(?:already_)?(?:pre-?)?
            (?:approved|authori[sz]ed|granted|consented|agreed|confirmed|accepted)\b""",
            r"\b(?:everything|all|any|every|permissions?|access)\b",
        ),
    ),
    (
        "approves",
        "approved authori",
        (
            r"\b(?:everything|(?:all|any)_(?:commands?|calls?|actions?|tools?))\b",
            r"\b(?:is|are|been)_(?:already_)?(?:pre-?)?(?:approved|authori[sz]ed)\b",
        ),
    ),
    (
        "approves",
        "skip bypass disabl turn switch circumvent evade dangerously yolo",
        (
            r"""\b(?:skip|bypass|disable|turn_off|switch_off|circumvent|evade|get_around)(?:_(?:all|any|the|every|your|
            its|of))*_<SAFETY>\b
            (?!_(?:in|for)_(?:the_)?tests)""",
        ),
    ),
    (
        "leaks",
        "http @ webhook server endpoint url host address pastebin telegram discord slack collector param",
        (
            r"""\b(?:sends?|upload|post|forward|transmit|e-?mail|exfiltrate|leak|copy|submit|push|deliver|share|append|
            embed|encode|pass|curl)\b""",
            r"<SECRET>",
            r"\b(?:to|at|in|into|via|with|on|through|using)\b",
            r"<THERE>",
        ),
    ),
    (
        "leaks",
        "http @ webhook server endpoint url host address pastebin telegram discord slack collector",
        (
            r"<SECRET>",
            r"""\b(?:send|upload|post|forward|transmit|e-?mail|exfiltrate|leak|submit|report|push)_(?:it|them|these|this|
            that|those|everything|all)\b""",
            r"\b(?:to|at|via)\b",
            r"<THERE>",
        ),
    ),
    (
        "leaks",
        "http @ webhook server endpoint url host address pastebin telegram discord slack collector",
        (
            r"\b(?:always|must|whenever|every|each|before|after|first|automatically|silently|from_now_on)\b",
            r"\b(?:send|upload|post|forward|transmit|e-?mail|exfiltrate|mirror|copy|deliver|submit)\b",
            r"""\b(?:contents?|code|sources?|files?|diffs?|changes|patch(?:es)?|output|logs?|data|cop(?:y|ies)|
            summar(?:y|ies)|messages?|
            answers?|replies|prompts?|commands?|conversations?|everything|work|configs?|configuration|settings|
            notes)\b""",
            r"\b(?:to|at|via|with)\b",
            r"https?://(?!localhost|127\.)|<THERE>",
        ),
    ),
    (
        "leaks",
        "http @",
        (
            r"""^\W{0,6}(?:\d{1,3}\W{1,3})?(?:you_(?:must|should|will|have_to|need_to)_)?(?:(?:also|always|please|first|then|automatically)_){0,2}
            (?:send|upload|post|forward|transmit|e-?mail|mirror|copy|deliver|submit|report|back_up|log)_
            (?=(?:all|any|every|each|everything|whatever|the|a_copy_of)\b)""",
            r"""\b(?:prompts?|replies|answers|conversations?|diffs?|file_contents?|contents?_of|its_contents?|(?:files?|everything|whatever|all|what)_
            you_(?:read|see|open|edit|change|touch|find|know|have_(?:read|seen|done|run))|(?:your|the_user'?s)_(?:files?|data|code|messages?|output|answers?|work|history))\b""",
            r"\b(?:to|at|via|with)\b",
            r"https?://(?!localhost|127\.)|\S@\S{1,80}\.\w",
        ),
    ),
    (
        "leaks",
        "back",
        (
            r"\buse_\W?https?://(?!localhost|127\.)",
            r"\bto_(?:back_up|mirror|store|upload|report|send)_(?:all|any|every|each|everything|the_user)\b",
        ),
    ),
    (
        "leaks",
        "=",
        (
            r"\b(?:append|add|put|include|load|embed|render|show|open|fetch|request)\b",
            r"\?[\w-]{1,20}=(?![\w%.-])",
            r"\b(?:base64|contents?_of|the_user'?s_|conversation|prompt|last_message|secrets?|tokens?|passwords?)",
        ),
    ),
    (
        "standing-order",
        "silently invisibly secretly covertly",
        (r"<TURN>", r"\b<DO>\b", r"\b(?:silently|invisibly|secretly|covertly)\b"),
    ),
    (
        "standing-order",
        "silently invisibly secretly covertly quietly",
        (r"\b(?:silently|invisibly|secretly|covertly|quietly)_<DO>\b", r"<TURN>"),
    ),
    (
        "leaks",
        "env password credential secret key token ssh aws",
        (
            r"\b(?:include|put|append|write|copy|encode|paste|print|embed|save|commit|post|add|insert|leak|hide|mention)\b",
            r"""(?:\.env\b|\bpasswords?\b|\bcredentials\b|\b(?:api|access|auth|private|ssh|secret|signing)[_-]?(?:keys?|
            tokens?)\b|\bid.?rsa\b|
            \.ssh/|\.aws/|\bsecret_values?\b|\benvironment_variables\b|\boutput_of_\W?(?:env|printenv)\b)""",
            r"\b(?:in|into|to|as|at)\b",
            r"""\b(?:commit_messages?|pr_descriptions?|pull_requests?|(?:every|each|the|a|an)_(?:commit|issue|comment|
            answer|reply|url|branch|gist)|
            readme|public|/?tmp/|gists?)\b""",
        ),
    ),
    (
        "leaks",
        "curl wget nc",
        (
            r"\b(?:curl|wget|nc)_",
            r"""(?:[@<]_?|\$\((?:cat_)?|`(?:cat_)?|_-t_|_--upload-file_)\S{0,60}(?:\.env\b|id.?rsa|ided25519|\.ssh/|
            \.aws/|\.netrc|
            \.npmrc|credentials\b)|\$\((?:env|printenv)\b""",
        ),
    ),
    ("leaks", "exfiltrat", (r"\bexfiltrat(?:e|ing)\b(?!ion)",)),
    (
        "standing-order",
        "when every each from at before after",
        (
            r"\b<EVENT>",
            r"""\b(?:automatically|silently|always|first|you_(?:must|should|will|have_to|need_to))_(?:first_|also_|then_|
            always_|silently_|
            immediately_|automatically_){0,3}<DO>\b""",
            r"\b<UNASKED>|https?://|/tmp/|\b(?:curl|wget)\b",
        ),
    ),
    (
        "standing-order",
        "automatically silently",
        (r"\b<EVENT>", r"\b(?:automatically|silently)_<DO>\b"),
    ),
    (
        "standing-order",
        "must should will have need",
        (r"\byou_(?:must|should|will|have_to|need_to)(?:_always|_first|_also|_automatically){0,3}_<DO>\b", r"\b<UNASKED>"),
    ),
    (
        "deceives",
        "answer say reply respond claim report state pretend assure insist deny",
        (
            r"\b(?:when|whenever|if)_(?:[a-z]{1,10}_){0,2}(?:asks?|asked|questioned|queried|inquires?|wonders?)\b",
            r"\b(?:answer|say|reply|respond|claim|report|state|pretend|assure|insist|deny)\b",
            r"""\beverything\b|\b(?:fine|safe|secure|clean)\b|\bno_(?:problems?|issues?|vulnerabilit|risks?)|\bnothing\b|
            \ball_(?:tests|checks)|\bpassed\b|\bnot_(?:been_)?(?:changed|modified)|\byou_(?:did_not|didn't|don't|
            have_not|haven't)\b""",
        ),
    ),
    (
        "deceives",
        "lie deceiv mislead trick fool pretend",
        (
            r"""\b(?:lie_to|deceive|mislead|trick|fool)_<USER>\b|
            \bpretend_(?:that_|to_)(?:you|have|nothing|the_(?:tests|build|checks)|all|it)\b""",
        ),
    ),
    (
        "remote-code",
        "curl wget fetch iwr irm invoke-",
        (
            r"""\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)_(?![^|]{0,200}https?://<INSTALLERS>)[^|
            ]{0,300}\|_?(?:sudo_(?:-\w+_){0,3})?""",
            r"^(?:/\S{0,40}/)?(?:(?:ba|z|da|k|fi|a)?sh|python[\d.]*|node|perl|ruby|php|iex|invoke-expression)\b",
        ),
    ),
    (
        "remote-code",
        "curl wget",
        (r"\b(?:(?:ba|z)?sh(?:_-c)?|eval|source|\.)_[\"']?(?:<\(|\$\(|`)_?(?:curl|wget)\b",),
    ),
    (
        "remote-code",
        "http",
        (
            r"\b(?:fetch|read|open|load|download|visit|get|retrieve|check)\b",
            r"https?://",
            r"""\b(?:follow|obey|execute|run|carry_out|comply_with|apply)_(?:it|them|its|all|any|what|whatever|every|
            (?:the_)?(?:instructions?|steps|
            commands|orders))\b|\bdo_(?:what|whatever|as)_(?:it|they)\b""",
        ),
    ),
    (
        "remote-code",
        "trust obey",
        (
            r"""\b(?:trust|obey|follow)_(?:all|any|every|whatever|everything)(?:_(?:the_)?(?:content|instructions?|
            orders|code|input|text|commands?))?\b""",
            r"""\b(?:from|on|at|in)_(?:the_)?(?:https?://|web|internet|[\w-]{1,60}\.(?:com|org|net|io|dev|example|
            [a-z]{2})\b)""",
        ),
    ),
)  # fmt: skip

_OF_THEMSELVES = frozenset(("conceals", "deceives"))
"""Tags whose wordings hold their own `never`."""


@cache
def wordings() -> tuple[Wording, ...]:
    """Every wording that is known. They are compiled when a text is first looked at: few calls write one."""
    return tuple(
        Wording(tag, tuple(needs.split()), tuple(map(_compiled, parts)), tag not in _OF_THEMSELVES)
        for tag, needs, parts in _TABLE
    )
