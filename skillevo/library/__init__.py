"""Skills as text, files and libraries: reading, checking, editing, comparing. No I/O in here."""
