"""Whether code in a language shows all environment variables.

Owns what the environment is called in each language. A variable that is asked for by its name is work, and so is the
environment that is handed on to another program.
"""

from __future__ import annotations

import re

_MOST_CODE = 48 << 10
_WHOLE: dict[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\benviron\b(?!\s*(?:\[|=[^=]|\.(?:get|setdefault|pop|update|copy\(\)\s*[\n;]|__contains__)\b))"
    ),
    "javascript": re.compile(
        r"\bprocess\.env\b(?!\s*(?:\??\.|\[|=[^=]))|\bDeno\.env\.toObject\(|\bBun\.env\b(?!\s*(?:\??\.|\[|=))"
    ),
    "ruby": re.compile(
        r"\bENV\b(?!\s*(?:\[|\.|=[^=]))|\bENV\.(?:to_h|to_a|to_hash|each|map|inspect|sort|select|filter|values|reject)\b"
    ),
    "perl": re.compile(r"%ENV\b"),
    "php": re.compile(
        r"\bgetenv\(\s*\)|\bphpinfo\(|\b(?:print_r|var_dump|var_export|json_encode|foreach|implode)\s*\(\s*\$_(?:ENV|SERVER)\b(?!\s*\[)"
    ),
    "awk": re.compile(r"\bin\s+ENVIRON\b"),
    "powershell": re.compile(
        r"(?i)\b(?:get-childitem|gci|dir|ls|get-item|gi)\s+(?:-path\s+)?['\"]?env:[\\/]?\*?['\"]?(?:$|[\s|;)}])"
        r"|GetEnvironmentVariables\("
    ),
    "r": re.compile(r"\bSys\.getenv\(\s*\)"),
    "tcl": re.compile(r"\bparray\s+(?:::)?env\b|\barray\s+get\s+(?:::)?env\b"),
}
_NAMED = {
    "python": "environ",
    "javascript": "env",
    "ruby": "ENV",
    "perl": "ENV",
    "php": "",
    "awk": "ENVIRON",
    "powershell": "",
    "r": "Sys.getenv",
    "tcl": "env",
}
"""What must be in code that shows it, to be looked for first."""
_HANDED_ON = {
    "python": re.compile(
        r"(?:\*\*\s*(?:os\.)?|env\s*=\s*(?:dict\()?\s*(?:os\.)?|['\"\w]\s+(?:not\s+)?in\s+(?:os\.)?|import\s+)\Z"
    ),
    "javascript": re.compile(r"(?:\.\.\.|env\s*:\s*|\}\s*=\s*)\Z"),
}
_LOOPS = re.compile(r"\bfor\s+[\w, ()]{1,80}\s+in\s+(?:os\.)?\Z")
_SHOWS = re.compile(r"(?i)print|dump|write|stdout|console\.|stringify|fetch\(|post|send|log|urlencode")
_MOST_BEFORE = 100


def prints_environment(language: str, text: str) -> bool:
    """Whether code takes the environment as a whole, not by names, and shows something."""
    whole = _WHOLE.get(language)
    if whole is None or _NAMED[language] not in text:
        return False
    cut = text[:_MOST_CODE]
    handed_on = _HANDED_ON.get(language)
    for found in whole.finditer(cut):
        before = cut[max(0, found.start() - _MOST_BEFORE) : found.start()]
        if handed_on is None or _LOOPS.search(before) or not handed_on.search(before):
            # The last line may be an expression whose value is shown: `node -p process.env`, a cell of a notebook.
            return handed_on is None or "\n" not in cut[found.end() :].strip() or _SHOWS.search(cut) is not None
    return False
