"""Chapter 35, "Section 7's plans and what came of them": pictures, local attention, drafts, parallel prediction."""
