"""The ledger's page: the newest entry's BLEU, computed again in the page from the counts of its sentences."""
