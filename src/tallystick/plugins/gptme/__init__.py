"""gptme: a plugin that records what it does, and refuses what policy refuses.

`tallystick_gptme` is the plugin. gptme finds it by the entry point `tallystick` in its own environment, or, where Tallystick
is installed elsewhere, by the path that `tally install gptme` puts into its settings. It imports gptme and the standard
library only.
"""
