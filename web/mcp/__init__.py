"""The MCP door: tools for a model, over stdio or streamable HTTP.

`core` has Palimpsest's own tools, `reference` those of the reference memory server.
"""
