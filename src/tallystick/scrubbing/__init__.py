"""Taking secrets out of what is about to be sealed: a value in, the value without them and how many there were out.

`step.scrub_step` and `step.scrub_opening` are what the recorder calls. A secret is known by its own form (`shapes`, `places`)
or by the name it stands under (`names`, `assignments`, `judging`); `finding` joins these over one string, `json_values` goes
through a whole value. What was found before is found again (`repeats` in one step, `known_values` in any), and what
leaves is compared with it (`fingerprints`). docs/secrets.md says what is replaced, what is not, and how well it does.
"""

__all__ = ["budget", "finding", "fingerprints", "json_values", "known_values", "markers", "members", "search", "step"]
