"""The doors: HTTP, command line, page, MCP. No logic lives here."""
