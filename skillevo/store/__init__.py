"""What a run leaves behind: commits in git and files in the run directory."""
