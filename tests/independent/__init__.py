"""A second reader of agents' transcripts, written from their formats alone, to check ours against.

It imports nothing of tallystick, uses the standard library only and reads a whole file into memory. It is short rather
than complete: prompts and their kinds, the request behind each edit, files, outcomes of calls, tokens, how a file ends.
"""
