/** Words of the comparison of two recordings. */

export const comparing = {
  compare: "Compare",
  with: "Compare with",
  choose: "choose a recording …",
  parent: "Before the edit",
  sameText: "The same text",
  sameModel: "The same model",
  others: "Others",
  none: "There is no other recording to compare with. Run the text in another model, or another text, and come back.",
  how: "Show",
  both: "Side by side",
  difference: "Difference",
  swap: "Swap first and second",
  end: "End the comparison",
  minus: (first: string, second: string) => `${first} − ${second}`,
  first: "first",
  second: "second",
  reading: "First minus second: red is more in the first, blue is more in the second.",
  refused: "These recordings cannot be subtracted, so that they stand side by side. Why?",
  aligned: "How the texts were aligned",
  cannot: (view: string) => `${view} cannot show this recording`,
};
