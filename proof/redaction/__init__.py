"""How many secrets the redaction finds, by kind, language and spelling, and how many ordinary sentences it spoils."""
