"""The subcommands of ``python -m ranking``, one file each; what they share; the worker, which executes runs."""
