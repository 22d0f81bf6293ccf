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
  { sentence: "I call a school child whom Mr. Schwarz trusts.",
    form: "(S (NP I )NP (VP call (NP (NP a school child )NP (SBAR (WHNP whom )WHNP (S (NP Mr. Schwarz )NP (VP trusts )VP )S )SBAR )NP )VP . )S" },
  { sentence: "Sophie and Paul want to invite the poor woman who knows this lake.",
    form: "(S (NP Sophie and Paul )NP (VP want (S (VP to (VP invite (NP (NP the poor woman )NP (SBAR (WHNP who )WHNP (S (VP knows (NP this lake )NP )VP )S )SBAR )NP )VP )VP )S )VP . )S" },
  { sentence: "Every xylophone sleeps.", form: "(S (NP Every xylophone )NP (VP sleeps )VP . )S" },
  { sentence: "The cat that the dog that the girl knows sees sleeps.",
    form: "(S (NP (NP The cat )NP (SBAR (WHNP that )WHNP (S (NP (NP the dog )NP (SBAR (WHNP that )WHNP (S (NP the girl )NP (VP knows )VP )S )SBAR )NP (VP sees )VP )S )SBAR )NP (VP sleeps )VP . )S" },
];

export const EXAMPLES = TREES.map(({ sentence }) => sentence);
