"""The commands of `palimpsest`, by what they are about. Modules beyond click are imported when a command runs."""
