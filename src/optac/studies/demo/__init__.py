"""What `optac demo` plays and shows."""
