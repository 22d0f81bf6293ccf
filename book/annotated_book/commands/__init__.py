"""Commands of the book for the command line of the library, which finds them by the entry points of the package."""
