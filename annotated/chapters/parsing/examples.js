// Sentences of the panels; a test holds the trees to the treebank.
export const TREES = [
  { sentence: "The girl washes the cup with the brush.",
    form: "(S (NP XX XX )NP (VP XX (NP XX XX )NP (PP XX (NP XX XX )NP )PP )VP XX )S" },
  { sentence: "The girl washes the cup with the handle.",
    form: "(S (NP XX XX )NP (VP XX (NP (NP XX XX )NP (PP XX (NP XX XX )NP )PP )NP )VP XX )S" },
  { sentence: "I think that the student takes off my shoe at 11:05.",
    form: "(S (NP XX )NP (VP XX (SBAR XX (S (NP XX XX )NP (VP XX (PRT XX )PRT (NP XX XX )NP (PP XX (NP XX )NP )PP )VP )S )SBAR )VP XX )S" },
  { sentence: "Does she dance with Paul?",
    form: "(SQ XX (NP XX )NP (VP XX (PP XX (NP XX )NP )PP )VP XX )SQ" },
];

export const EXAMPLES = [...TREES.map(({ sentence }) => sentence), "I call a school child whom Mr. Schwarz trusts.",
  "Sophie and Paul want to invite the poor woman who knows this lake.", "Every xylophone sleeps.", "The cat that the dog that the girl knows sees sleeps."];
