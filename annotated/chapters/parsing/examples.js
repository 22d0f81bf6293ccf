// Sentences of the panels; a test holds the trees to the treebank.
export const TREES = [
  { sentence: "The girl washes the cup with the brush.",
    form: "(S (NP The girl )NP (VP washes (NP the cup )NP (PP with (NP the brush )NP )PP )VP . )S" },
  { sentence: "The girl washes the cup with the handle.",
    form: "(S (NP The girl )NP (VP washes (NP (NP the cup )NP (PP with (NP the handle )NP )PP )NP )VP . )S" },
  { sentence: "I think that the student takes off my shoe at 11:05.",
    form: "(S (NP I )NP (VP think (SBAR that (S (NP the student )NP (VP takes (PRT off )PRT (NP my shoe )NP (PP at (NP 11:05 )NP )PP )VP )S )SBAR )VP . )S" },
  { sentence: "Does she dance with Paul?",
    form: "(SQ Does (NP she )NP (VP dance (PP with (NP Paul )NP )PP )VP ? )SQ" },
];

export const EXAMPLES = [...TREES.map(({ sentence }) => sentence), "I call a school child whom Mr. Schwarz trusts.",
  "Sophie and Paul want to invite the poor woman who knows this lake.", "Every xylophone sleeps.", "The cat that the dog that the girl knows sees sleeps."];
