"""What was probably meant."""

from tallystick.model.did_you_mean import nearest


def test_a_near_word_is_offered_and_a_far_one_is_not() -> None:
    assert nearest("verfy", ["verify", "log"]) == "; did you mean 'verify'?"
    assert nearest("zzz", ["verify", "log"]) == ""
