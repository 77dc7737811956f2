"""Commands that record: agents connected, histories imported, streams and programs recorded."""
