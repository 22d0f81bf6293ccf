"""Page "A model of everyday English": the wide model beside the others, on sentences of strangers and its own."""
