"""The subcommands of ``python -m ranking``, one file each."""
