"""What a call does, as policies see it.

Owns reading a call with the files of the machine, and its acts. What follows from an act is not known here: the
policies say that.
"""

__all__ = ["acts", "authors", "legitimate_use", "reader", "reading"]
