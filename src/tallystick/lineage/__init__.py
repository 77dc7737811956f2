"""What came from what: versions of things, relations between prompts, calls and things, and walks along them.

Owns the rules of the graph as pure functions over values. Must not know how rows are kept (`store`), nor how a command is
read (`shell`, `tools`).
"""
