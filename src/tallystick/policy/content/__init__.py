"""What the content of a file tells of it: tags, before it runs and when it is written."""

__all__ = ["code_files", "inspection", "markdown", "tags"]
