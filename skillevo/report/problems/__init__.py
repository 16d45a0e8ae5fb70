"""The findings of the checker in every format that ``skillevo validate`` prints."""
