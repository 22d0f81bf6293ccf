"""Chapter 6, "Query, key, value": its pictures."""

from annotated_book.attention.query_key_value.desk import AttentionDesk, CallSite, attention_desk
from annotated_book.attention.query_key_value.projection import ProjectionPicture, projection_picture

__all__ = ["AttentionDesk", "CallSite", "ProjectionPicture", "attention_desk", "projection_picture"]
