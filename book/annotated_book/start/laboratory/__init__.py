"""Laboratory: the classroom model at work in the page, as scripts that the book's directive `laboratory` places."""
