// Sentences of the panels; a test holds the trees to the treebank.
export const TREES = [
  { sentence: "The girl washes the cup with the brush.",
    form: "(S (NP DT NN )NP (VP VBZ (NP DT NN )NP (PP IN (NP DT NN )NP )PP )VP . )S" },
  { sentence: "The girl washes the cup with the handle.",
    form: "(S (NP DT NN )NP (VP VBZ (NP (NP DT NN )NP (PP IN (NP DT NN )NP )PP )NP )VP . )S" },
  { sentence: "I think that the student takes off my shoe at 11:05.",
    form: "(S (NP PRP )NP (VP VBP (SBAR IN (S (NP DT NN )NP (VP VBZ (PRT RP )PRT (NP PRP$ NN )NP (PP IN (NP CD )NP )PP )VP )S )SBAR )VP . )S" },
  { sentence: "Does she dance with Paul?",
    form: "(SQ VBZ (NP PRP )NP (VP VB (PP IN (NP NNP )NP )PP )VP . )SQ" },
];

export const EXAMPLES = [...TREES.map(({ sentence }) => sentence), "I call a school child whom Mr. Schwarz trusts.",
  "Sophie and Paul want to invite the poor woman who knows this lake.", "Every xylophone sleeps.", "The cat that the dog that the girl knows sees sleeps."];
