"""The thinking: text, embedding, recall, remembering, learning."""
