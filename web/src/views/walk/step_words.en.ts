/** What each step of the walk does, and why: a name and one or two sentences,. */

export const titles = {
  textSource: "Text becomes tokens",
  textTarget: "The decoder's own text",
  lookup: "Look up the embeddings",
  scale: "Times √d",
  waves: "Positions: sine and cosine",
  learnedPositions: "Positions: look them up",
  position: "Add the positions",
  segments: "Segments: look them up",
  embeddingSum: "Add up",
  embeddingNorm: "Layer norm of the embeddings",
  widened: "Widen the embeddings",
  normBefore: "Layer norm first",
  queries: "Queries: X · W_Q",
  keys: "Keys: X · W_K",
  values: "Values: X · W_V",
  crossQueries: "Queries from below",
  crossKeys: "Keys from the encoder",
  crossValues: "Values from the encoder",
  turn: "Turn by position",
  dot: "Scores: Q · Kᵀ",
  compare: "Scores: compare Q with K",
  divide: "Divide by √d_k",
  biasTable: "Look up the position bias",
  bias: "Add the position bias",
  maskCausal: "Mask the future",
  softmax: "Softmax: scores become weights",
  mix: "Weighted sum of the values",
  join: "Join the heads",
  attentionOutput: "Project: Z · W_O",
  residual: "Residual connection: add to the stream",
  normAfter: "Layer norm",
  batchNorm: "Batch norm",
  inner: "Feed-forward: widen",
  activate: "Activation",
  contract: "Feed-forward: narrow",
  glance: "The layers at a glance",
  final: "Last layer norm",
  dense: "Transform for the output",
  outputActivate: "Activation",
  transformed: "Layer norm for the output",
  narrowed: "Narrow to the embeddings",
  logits: "Linear: a score for every word",
  probabilities: "Softmax: scores become probabilities",
  classProbabilities: "Softmax: scores become probabilities",
  choose: "The word",
  chooseClass: "The answer",
  pool: "One vector for the whole text",
  classes: "Linear: a score for every class",
  training: "Training beside inference",
  words: "Word by word",
  tree: "Beam search: a tree that grows",
  cells: "Cells: one word after another",
  states: "What was recorded",
  other: "One step",
};

export const sentences = {
  textSource:
    "The tokenizer cuts the text into pieces that it knows and writes down each piece's number in the vocabulary: the network only ever sees these numbers.",
  textTarget:
    "The decoder reads the words written so far, moved one place to the right behind a start token, so that at every position it has to say the word that comes next.",
  lookup:
    "Each token's number picks one row of the embedding table: a learned vector, the same wherever the token stands. Words used alike in training have drifted to similar rows.",
  scale:
    "Every number is multiplied by √d, as in section 3.4 of the paper: the numbers of the table are small, and the positions that are added next would drown them.",
  waves:
    "Each place gets its own pattern of sines and cosines, from fast to slow. No place is special, and a shift by some distance is the same rotation everywhere, so the network can learn to look a fixed distance away.",
  learnedPositions:
    "Each place has a learned vector of its own, as each word has: simple, but there is none for places beyond those of training.",
  position:
    "A vector that depends only on the place is added to each row. Attention itself knows no order, but for what a mask hides: without this, a shuffled sentence would give the same results, only shuffled.",
  segments: "A learned vector says which of the two texts a token belongs to.",
  embeddingSum:
    "The vectors of token, position and segment, as far as the model has them, are added number by number: this is what the first layer reads. Attention itself would know no order.",
  embeddingNorm:
    "Each row is shifted to mean 0 and scaled to variance 1, then stretched and moved by learned γ and β, so that all tokens enter the first layer on the same footing.",
  widened:
    "ALBERT keeps a narrow embedding table to save parameters; one matrix widens its rows to the width of the layers.",
  normBefore:
    "Each row is brought to mean 0 and variance 1 (then times γ, plus β) before the sub-layer reads it; the residual stream itself stays untouched, which makes deep networks easier to train.",
  queries:
    "Each token's vector is multiplied by W_Q: its query is what this head looks for on behalf of that token.",
  keys: "The same vectors times W_K: a key is what a token offers to be found by.",
  values: "The same vectors times W_V: a value is what a token hands over once it is attended to.",
  crossQueries:
    "The queries come from the decoder's stream below: what does this word of the translation need from the source?",
  crossKeys:
    "The keys come from the encoder's output, not from the decoder: each source token says what it can be found by. They are the same for every word that is written.",
  crossValues:
    "The values come from the encoder's output, too: what each source token hands over to the translation.",
  turn: "Pairs of numbers are rotated by an angle that grows with the position (rotary positions), so that of their positions only the distance enters the product of a query and a key.",
  dot: "Every query is multiplied with every key, number by number, and summed: a large score means that the key is what the query looks for. Only in attention do tokens meet; everywhere else each is alone.",
  compare:
    "Every query is compared with every key by the model's own similarity function: one score for each pair of tokens.",
  divide:
    "A sum of d_k products has a variance that grows with d_k; dividing by √d_k keeps scores in a range where the softmax is not stuck at 0 and 1 and gradients flow.",
  biasTable: "Each distance between a query and a key has a learned number for each head.",
  bias: "The learned number of each distance is added to the scores: this model tells positions apart here, not in the embeddings.",
  maskCausal:
    "Scores of keys to the right of the query are set to −∞: a word must not look at words that come later, for they are what has to be predicted.",
  softmax:
    "Each row is exponentiated and divided by its sum: weights between 0 and 1 that add up to 1. A score of −∞ becomes exactly 0. (The largest score of the row is subtracted first: it cancels out, and no number gets too large.)",
  mix: "Each token's result is the average of all values, weighted by its row of attention: this is how information moves from token to token.",
  join: "The results of all heads are put side by side again. Each head had its own, smaller space, so that several relations can be looked at in one layer.",
  attentionOutput:
    "W_O mixes what the heads have found and brings it back to the width of the stream. Up to here, no head knew of another.",
  residual:
    "The result is added to the stream as it was before the sub-layer. So what was known is kept, what is new is added, and gradients have a straight way back.",
  normAfter:
    "Each row is shifted to mean 0 and scaled to variance 1, then stretched and moved by learned γ and β: numbers stay in range from layer to layer, whatever the length of the text.",
  batchNorm:
    "Each column is shifted and scaled by the mean and variance that were remembered from training, then stretched and moved by learned γ and β: all tokens share one mean and variance for each feature.",
  inner:
    "Each token for itself: the vector is widened so that many features can be tested at once. No token sees another here.",
  activate:
    "Negative results are switched off (ReLU) or damped (GELU, SiLU). Without this bend, two matrices in a row would be no more than one.",
  contract: "The features that are switched on are written back into a vector of the stream's width.",
  glance:
    "All layers do the same, each with parameters of its own (in ALBERT they share one set). Above: how long each token's vector is and how much each layer changes it; below: where every head looks. Click one to open its layer.",
  final:
    "Where norms come before the sub-layers (pre-norm), the stream is normalised once more before it is read out.",
  dense:
    "One more dense layer prepares the vector for the comparison with the vocabulary, or with the classes.",
  outputActivate: "The same bend as inside the layers: it lets the output use combinations of features.",
  transformed: "A norm brings the vector to a scale on which it can be compared with the embedding table.",
  narrowed:
    "One matrix brings the vector back to the narrow width of the embedding table, with which it is compared next.",
  logits:
    "The last vector is multiplied with one vector for each word of the vocabulary (here the most likely words of the chosen position): a large product means that the word fits.",
  probabilities:
    "The scores of the whole vocabulary are exponentiated and divided by their sum: a probability for each word.",
  choose:
    "The likeliest words at the chosen position, with their probabilities. Greedy decoding takes the first of the list; so does a model that fills a mask.",
  chooseClass: "The classes with their probabilities: the likeliest one is the answer for the whole text.",
  classProbabilities:
    "The scores of the classes are exponentiated and divided by their sum: a probability for each class.",
  pool: "The vector of one position (or the average of all) stands for the whole text.",
  classes: "The text's vector times one vector for each class: the largest product wins.",
  training:
    "In training the whole text is known, so all positions are computed at once, and the mask alone keeps each from seeing its answer. Each is given the true words before it (teacher forcing), however wrong the model's own guesses were. In inference there is no such text: each word has to wait for the one before.",
  words:
    "One word is chosen from the probabilities (greedy search takes the likeliest; sampling and beam search may take another) and put at the end of the text; then the model runs again for the next one, until it says the end token or the text is as long as it may be.",
  tree: "Beam search keeps the few best beginnings instead of one. Each step tries the likeliest words after every kept beginning; the number under a word is the sum of log-probabilities so far. Finished texts are compared by this sum divided by their length, and the best one is the result.",
  cells:
    "A cell reads one word and the state that the word before it left behind, and makes the next state of both, so words have to wait for one another. Each row is the state after that word; what happens inside a cell (its gates) is not recorded.",
  states: "This recording holds the result, but not how the model came to it.",
  other: "One operation of the network.",
};
