/** Words of what is fetched later: the glossary, the details of a guessed word. */

export type Term = readonly [term: string, meaning: string];

const terms: readonly Term[] = [
  ["Ablation", "Switching a part of the network off, to see what it was needed for."],
  ["Activation", "A number that the network computes on its way, such as one entry of a hidden state."],
  [
    "Attention weight",
    "How much of one token's value another token takes: from 0 to 1; the weights of one query sum to 1.",
  ],
  ["Autoregressive", "Writing one token after the other, each with all tokens before it as input."],
  [
    "Beam search",
    "Keeping several beginnings of a text at once and choosing the one that is likeliest as a whole.",
  ],
  [
    "BPE (byte-pair encoding)",
    "A way to split text: frequent pairs of pieces become pieces of their own, so rare words fall into several tokens.",
  ],
  ["Causal mask", "The rule that a token may only look at itself and at tokens before it."],
  ["Class", "One of the answers that a classifier can give, such as positive or negative."],
  ["[CLS]", "A token in front of the text whose last vector a classifier reads."],
  ["Cross-attention", "Attention of the decoder to the tokens that the encoder has read."],
  ["Decoder", "A stack that writes: its tokens look back only, and in a translator at the source too."],
  ["Embedding", "The vector that stands for a token; in the first layer it depends on the token alone."],
  ["Encoder", "A stack that reads: every token may look at every other one."],
  [
    "Entropy",
    "How spread out the weights of a query are: 0 where all of it lies on one token, largest where all get the same.",
  ],
  [
    "Feed-forward network",
    "The part of a layer that changes each token by itself, without looking at the others.",
  ],
  ["Greedy decoding", "Always writing the likeliest next token."],
  [
    "Head",
    "One of several attentions that a layer computes side by side, each with queries, keys and values of its own.",
  ],
  ["Hidden state", "The vector of a token between two layers."],
  ["Key", "The vector of a token that queries are compared with."],
  ["Layer", "One round of attention and feed-forward network; a model is a stack of them."],
  [
    "Layer normalisation",
    "Bringing each vector to mean 0 and deviation 1 before it is scaled and shifted by learnt numbers.",
  ],
  ["Logit", "The score of a possible output before the softmax makes a probability of it."],
  [
    "Mask",
    "What keeps weights at 0: positions that a query may not look at. [MASK] is something else: a hidden word that BERT is to guess.",
  ],
  ["Padding", "Tokens without meaning that fill short texts up, so that several fit into one batch."],
  [
    "Perplexity",
    "Among how many tokens a language model is undecided, on average: the exponential of its mean loss. Lower is better.",
  ],
  ["Position", "Where a token stands; without it a Transformer could not tell the order of words."],
  ["Query", "The vector of a token that asks: its product with each key says where it looks."],
  ["Recording", "What was kept of one text running through one model; every view shows it."],
  ["Residual stream", "The vector of a token through all layers: each layer adds to it, none replaces it."],
  [
    "Rollout",
    "The weights of all layers multiplied with one another: an estimate of how much of each input token reaches a position.",
  ],
  ["Sampling", "Drawing the next token at random, by its probability."],
  ["Score", "The product of query and key times a factor, mostly 1/√d, before mask and softmax."],
  ["Self-attention", "Attention among the tokens of one text."],
  ["Softmax", "Turning any numbers into positive ones that sum to 1; the largest gets most."],
  ["Sparsity", "How much of an attention matrix is (almost) zero."],
  [
    "Temperature",
    "Scores are divided by it before the softmax: below 1 the likeliest gains, above 1 all become more alike.",
  ],
  ["Token", "A piece of text that the model reads as one: a word, a part of one, a character or a sign."],
  ["Value", "The vector of a token that others take from, in proportion to the attention weight."],
  ["Vocabulary", "All tokens that a model knows."],
];

export const later = {
  glossary: "Glossary",
  search: "Search the glossary",
  nothing: "No such term.",
  terms,
  embeddingOf: (width: number, length: string) =>
    `The vector that it was guessed from, after the last layer: ${width} numbers, length ${length}.`,
  noEmbedding: "Hidden states were not kept, so there is no vector to show.",
  openEmbeddings: "Show it among the embeddings",
  headsWith: (heads: string, scale: string) => `${heads} heads: × ${scale}`,
  recordings: "All recordings",
  searchRecordings: "Search by text, model or name",
  foundRecordings: (total: string) => `${total} recordings`,
  moreRecordings: (left: string) => `Show more (${left} left)`,
  narrow: (left: string) => `${left} more: search to find them.`,
  tokensOf: (tokens: string) => `${tokens} tokens`,
};
