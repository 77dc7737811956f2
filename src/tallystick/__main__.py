"""`python -m tallystick` is `tally`."""

from tallystick.cli import main

if __name__ == "__main__":
    main()
