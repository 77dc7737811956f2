"""One module for each thing that can be asked of Tallystick. Commands, pages and the Python API call these."""
