"""What people bring: one file a format."""
