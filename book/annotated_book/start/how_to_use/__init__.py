"""Page 0, "How to use this book": its picture of a page."""
