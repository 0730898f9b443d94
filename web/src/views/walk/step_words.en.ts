/** What each step of the walk does, and why: a name and a few sentences. */

export const titles = {
  textSource: "Text becomes tokens",
  textTarget: "The decoder's own text",
  pictureSource: "A picture becomes patches",
  soundSource: "A sound becomes frames",
  cut: "Patches as rows of numbers",
  projectPatches: "Patches become vectors: U · W",
  prepend: "A class token in front",
  fourier: "Frequencies of each stretch of sound",
  mel: "The spectrogram: how loud, in bands",
  convolve: "First convolution: three columns at a time",
  convolveAgain: "Second convolution: one vector for each token",
  wavesGrid: "Positions in two dimensions: sines of row and column",
  turnGrid: "Turn by row and column",
  positionSeen: "Add the positions",
  learnedPlaces: "Positions: look them up",
  crossQueriesSeen: "Queries from below",
  crossKeysSeen: "Keys from the encoder",
  crossValuesSeen: "Values from the encoder",
  poolFirstSeen: "One vector for the whole picture: the class token",
  poolMeanSeen: "One vector for the whole picture: the average",
  poolMaxSeen: "One vector for the whole picture: the largest",
  classesSeen: "Linear: a score for every class",
  positionHeard: "Add the positions",
  learnedMoments: "Positions: look them up",
  crossQueriesHeard: "Queries from below",
  crossKeysHeard: "Keys from the encoder",
  crossValuesHeard: "Values from the encoder",
  poolFirstHeard: "One vector for the whole sound: the first",
  poolMeanHeard: "One vector for the whole sound: the average",
  poolMaxHeard: "One vector for the whole sound: the largest",
  classesHeard: "Linear: a score for every class",
  lookup: "Look up the embeddings",
  scale: "Times √d",
  scaleAlone: "Times √d",
  wavesPairs: "Positions: sine and cosine in turn",
  wavesHalves: "Positions: sines, then cosines",
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
  split: "No projection: X itself",
  keysShared: "Keys that several heads share: X · W_K",
  valuesShared: "Values that several heads share: X · W_V",
  crossQueries: "Queries from below",
  crossKeys: "Keys from the encoder",
  crossValues: "Values from the encoder",
  turn: "Turn by position",
  queryKeyNorm: "RMS norm of queries and keys",
  dot: "Scores: Q · Kᵀ",
  compare: "Scores: compare Q with K",
  divide: "Divide by √d_k",
  scaleScores: "Times the score scale",
  biasTable: "Look up the position bias",
  bias: "Add the position bias",
  fall: "A bias that falls with distance",
  biasFall: "Add the position bias",
  maskCausal: "Mask the future",
  maskWindow: "Mask what is far away",
  maskWindowCausal: "Mask the future and what is far back",
  softmax: "Softmax: scores become weights",
  softmaxHard: "Softmax of the best keys",
  mix: "Weighted sum of the values",
  join: "Join the heads",
  attentionOutput: "Project: Z · W_O",
  residual: "Residual connection: add to the stream",
  residualScaled: "Residual connection: add to the stream",
  normAfter: "Layer norm",
  batchNorm: "Batch norm",
  inner: "Feed-forward: X · W_1",
  activateRelu: "Activation: ReLU",
  activateGelu: "Activation: GELU",
  activateSilu: "Activation: SiLU",
  contract: "Feed-forward: f(H) · W_2",
  glance: "The layers at a glance",
  glanceShared: "The layers at a glance",
  final: "Last layer norm",
  dense: "Transform for the output",
  pooler: "Transform for the classes",
  outputActivate: "Activation",
  outputTanh: "Activation: tanh",
  transformed: "Layer norm for the output",
  narrowed: "Narrow to the embeddings",
  logits: "Linear: a score for every word",
  logitsTied: "Linear: a score for every word",
  probabilities: "Softmax: scores become probabilities",
  classProbabilities: "Softmax: scores become probabilities",
  choose: "The word",
  chooseClass: "The answer",
  poolMax: "One vector for the whole text: the largest",
  poolMean: "One vector for the whole text: the average",
  poolLast: "One vector for the whole text: the last",
  poolFirst: "One vector for the whole text: the first",
  classes: "Linear: a score for every class",
  tags: "Linear: a score for every tag",
  tagProbabilities: "Softmax: scores become probabilities",
  chooseTag: "The tag",
  numbers: "Linear: the numbers",
  training: "Training beside inference",
  words: "Word by word",
  tree: "Beam search: a tree that grows",
  before: "The state before",
  beforeBackward: "The state before, from right to left",
  beforeDecoder: "The decoder's state before",
  gateReset: "Reset gate r",
  gateUpdate: "Update gate z",
  candidate: "Candidate n",
  blend: "The new state: old and new blended",
  gateKeep: "Input gate i",
  gateForget: "Forget gate f",
  candidateMemory: "Candidate g",
  gateRelease: "Output gate o",
  memoryBefore: "The memory before",
  memory: "The new memory",
  release: "The new state",
  bothDirections: "Both directions side by side",
  lastState: "The encoder's last state",
  summary: "C: the whole sentence in one vector",
  bridge: "Bridge to the decoder",
  bridgeStart: "The decoder's start",
  lookBack: "Query: the decoder's state before",
  additive: "Scores: vᵀ tanh(W s + U h)",
  contextMix: "The context: a weighted sum of the encoder's states",
  fixedContext: "The same C for every word",
  cellInput: "What the decoder's cell reads",
  readoutInput: "What the output reads",
  readout: "One dense layer for the output",
  sequence: "One word after another, and what that costs",
  trainingRecurrent: "Training beside inference",
  states: "What was recorded",
  other: "One step",
};

export const sentences = {
  textSource:
    "The tokenizer cuts the text into pieces that it knows and writes down each piece's number in the vocabulary: the network only ever sees these numbers.",
  textTarget:
    "The decoder reads the words written so far, moved one place to the right behind a start token, so that at every position it has to say the word that comes next.",
  pictureSource:
    "A network reads vectors, and does not mind what they stand for. The picture is cut into squares of the same size, the patches, and each becomes one token, as a word of a sentence does: read row by row, from the upper left to the lower right.",
  soundSource:
    "A network reads vectors, and does not mind what they stand for. The sound is cut into short stretches of the same length, the frames, and each becomes one token, as a word of a sentence does.",
  cut: "The pixels of a patch are written one after the other as one row of numbers (of a coloured picture all the red ones first, then green, then blue). Each byte, 0 to 255, becomes a number around 0, usually from −1 to 1. Nothing is learned here.",
  projectPatches:
    "Each row of pixels is multiplied by one learned matrix, the same for all patches: a vector as wide as those of words. Columns of the matrix come to look for edges, corners and colours.",
  prepend:
    "One learned vector is put in front of the patches. It stands for no place of the picture: by attention it gathers what the answer needs from all of them.",
  fourier:
    "Around each moment 2.5 hops of sound are cut out, fading in and out, and compared with waves of every frequency: the number says how much of the sound is that frequency. Rows are moments, columns are frequencies.",
  mel: "Frequencies are gathered into bands, narrow for low tones and wide for high ones, as ears do (the mel scale), and the sum is put on a scale of powers of ten: 0 is silence, 2 the loudest pure tone. Nothing is learned up to here.",
  convolve:
    "Each column of the spectrogram, with its neighbours before and after, is multiplied by learned matrices: what is found is a change, such as the beginning of a sound, not only a loudness.",
  convolveAgain:
    "Once more three neighbours at a time, keeping fewer of them: what comes out is one vector for each token.",
  wavesGrid:
    "A patch has a row and a column. The left half of the numbers is a pattern of sines and cosines of its row, the right half one of its column: patches in the same row share one half. A class token has no place, and gets zeros.",
  turnGrid:
    "Half of the pairs of numbers are turned by the patch's row, half by its column (rotary positions in two dimensions), so that only how far apart two patches are, down and across, enters the product of a query and a key.",
  positionSeen:
    "A vector that depends only on the place in the picture is added to each row. Attention by itself knows no order: without positions, a picture with its patches shuffled would be the same to the network.",
  learnedPlaces:
    "Each place of the picture has a learned vector of its own. That patches lie beside each other the network has to find out: neighbours come to have similar vectors.",
  crossQueriesSeen:
    "The queries come from the decoder's stream below: what does this word of the description need from the picture?",
  crossKeysSeen:
    "The keys come from the encoder's output, not from the decoder: each patch says what it can be found by. They are the same for every word that is written.",
  crossValuesSeen:
    "The values come from the encoder's output, too: what each patch hands over to the description.",
  poolFirstSeen:
    "The vector of the first token, the class token where there is one, stands for the whole picture: what is not in it by now does not count.",
  poolMeanSeen: "The average of all tokens' vectors stands for the whole picture.",
  poolMaxSeen: "Of each feature the largest number of all tokens stands for the whole picture.",
  classesSeen: "The picture's vector times one vector for each class: the largest product wins.",
  positionHeard:
    "A vector that depends only on the moment is added to each row. Attention by itself knows no order: without positions, the same frames in another order would sound the same to the network.",
  learnedMoments:
    "Each moment has a learned vector of its own; there is none for moments beyond the longest sound that the model was built for.",
  crossQueriesHeard:
    "The queries come from the decoder's stream below: which moment of the sound does this word come from?",
  crossKeysHeard:
    "The keys come from the encoder's output, not from the decoder: each frame says what it can be found by. They are the same for every word that is written.",
  crossValuesHeard:
    "The values come from the encoder's output, too: what each frame hands over to the word that is written.",
  poolFirstHeard: "The vector of the first token stands for the whole sound.",
  poolMeanHeard: "The average of all tokens' vectors stands for the whole sound.",
  poolMaxHeard: "Of each feature the largest number of all tokens stands for the whole sound.",
  classesHeard: "The sound's vector times one vector for each class: the largest product wins.",
  lookup:
    "Each token's number picks one row of the embedding table: a learned vector, the same wherever the token stands. Words used alike in training tend to have similar rows.",
  scale:
    "Every number is multiplied by √d, where d is the width of the vectors (section 3.4 of the paper), so that the words are not outweighed by the positions that are added next.",
  scaleAlone:
    "Every number is multiplied by √d, where d is the width of the vectors (section 3.4 of the paper).",
  wavesPairs:
    "Each place has its own pattern of sines and cosines, from fast waves to slow ones. In this model they alternate as in the paper: even columns are sines, odd columns cosines. A shift by some distance turns each pair by the same angle everywhere, so the network can learn to look a fixed distance away.",
  wavesHalves:
    "Each place has its own pattern of sines and cosines, from fast waves to slow ones. In this model the left half of the columns holds all sines and the right half all cosines (as in Marian; the paper alternates them): the same numbers in another order. A shift by some distance turns each pair by the same angle everywhere, so the network can learn to look a fixed distance away.",
  learnedPositions:
    "Each place has a learned vector of its own, as each word has: simple, but there is none for places beyond the longest text that the model was built for.",
  position:
    "A vector that depends only on the place is added to each row. Attention by itself knows no order, except for what a causal mask hides: without positions, a shuffled sentence would give the same results, only shuffled.",
  segments: "A learned vector says which of the two texts a token belongs to.",
  embeddingSum:
    "The vectors of token, position and segment, as far as the model has them, are added number by number: this is what the first layer reads. Attention itself would know no order.",
  embeddingNorm:
    "Each row is shifted to mean 0 and scaled to variance 1, then stretched and moved by learned γ and β, so that all tokens enter the first layer on the same footing.",
  widened:
    "This model keeps a narrow embedding table to save parameters, as ALBERT does; one matrix widens its rows to the width of the layers.",
  normBefore:
    "Each row is brought to mean 0 and variance 1 (then times γ, plus β) before the sub-layer reads it; the residual stream itself stays untouched, which makes deep networks easier to train.",
  queries:
    "Each token's vector is multiplied by W_Q: its query is what this head looks for on behalf of that token.",
  keys: "The same vectors times W_K: a key is what a token offers to be found by.",
  values: "The same vectors times W_V: a value is what a token hands over once it is attended to.",
  split:
    "This model has no W_Q, W_K and W_V: each head takes its part of the vectors as they are, the same numbers for queries, keys and values.",
  keysShared:
    "Queries have more heads than keys (grouped queries): a group of heads looks for different things among the same keys, W_K is smaller, and less has to be kept while a text is generated.",
  valuesShared: "The same group of heads also shares its values: X times a smaller W_V.",
  crossQueries:
    "The queries come from the decoder's stream below: what does this word of the translation need from the source?",
  crossKeys:
    "The keys come from the encoder's output, not from the decoder: each source token says what it can be found by. They are the same for every word that is written.",
  crossValues:
    "The values come from the encoder's output, too: what each source token hands over to the translation.",
  turn: "Number i of each vector and number i + d_k/2 are turned together, by an angle that grows with the position (rotary positions), so that of their positions only the distance enters the product of a query and a key.",
  queryKeyNorm:
    "In each head, every query and every key is divided by the root of the mean of its squares, then stretched by learned γ: how large scores can become depends on γ alone.",
  dot: "Every query is multiplied with every key, number by number, and summed: a large score means that the key is what the query looks for. Inside the layers tokens meet in attention only; in all other steps each is alone.",
  compare:
    "Every query is compared with every key by the model's own similarity function: one score for each pair of tokens.",
  divide:
    "A sum of d_k products has a variance that grows with d_k; dividing by √d_k keeps scores in a range where the softmax is not stuck at 0 and 1 and gradients flow.",
  scaleScores:
    "Every score is multiplied by a number that was chosen for this model, instead of 1/√d_k or of no factor: the larger it is, the sharper the softmax.",
  biasTable: "Each distance between a query and a key has a learned number for each head.",
  bias: "The learned number of each distance is added to the scores: this model tells positions apart here, not in the embeddings.",
  fall: "Minus a fixed slope times the distance between query and key (ALiBi): steep slopes make a head look near, flat ones let it look far. Nothing of this is learned.",
  biasFall:
    "The scores of keys that are farther away become smaller: this model tells positions apart here, not in the embeddings.",
  maskCausal:
    "Scores of keys to the right of the query are set to −∞: a word must not look at words that come later, for they are what has to be predicted.",
  maskWindow:
    "Scores of keys as far from the query as the window, or farther, are set to −∞: this model attends to what is near, and its cost grows with the length of the text, not with its square. More layers reach farther.",
  maskWindowCausal:
    "Scores of keys to the right of the query are set to −∞, for they are what has to be predicted; so are those as far back as the window, or farther: this model attends to what is near. More layers reach farther.",
  softmax:
    "Each row is exponentiated and divided by its sum: weights between 0 and 1 that add up to 1. A score of −∞ becomes exactly 0. (The largest score of the row is subtracted first: it cancels out, and no number gets too large.)",
  softmaxHard:
    "Hard attention: in each row only the best keys are kept, the others get weight 0. What is kept is exponentiated and divided by its sum, so that the weights add up to 1.",
  mix: "Each token's result is the average of all values, weighted by its row of attention: this is how information moves from token to token.",
  join: "The results of all heads are put side by side again. Each head had its own, smaller space, so that several relations can be looked at in one layer.",
  attentionOutput:
    "W_O mixes what the heads have found and brings it back to the width of the stream. Up to here, no head knew of another.",
  residual:
    "The result is added to the stream as it was before the sub-layer. So what was known is kept, what is new is added, and gradients have a straight way back.",
  residualScaled:
    "The result, times a learned factor, is added to the stream as it was before the sub-layer. So what was known is kept, what is new is added, and gradients have a straight way back.",
  normAfter:
    "Each row is shifted to mean 0 and scaled to variance 1, then stretched and moved by learned γ and β: numbers stay in range from layer to layer, whatever the length of the text.",
  batchNorm:
    "Each column is shifted and scaled by the mean and variance that were remembered from training, then stretched and moved by learned γ and β: all tokens share one mean and variance for each feature.",
  inner:
    "Each token for itself: the vector is multiplied by W_1, usually into a wider one, so that many features can be tested at once. No token sees another here.",
  activateRelu:
    "Negative numbers become 0, all others stay as they are (ReLU). Without this bend, two matrices in a row would be no more than one.",
  activateGelu:
    "Large numbers pass, very negative ones become nearly 0, and in between the curve bends smoothly (GELU). Without this bend, two matrices in a row would be no more than one.",
  activateSilu:
    "Each number is multiplied by its own sigmoid: large ones pass, very negative ones become nearly 0 (SiLU). Without this bend, two matrices in a row would be no more than one.",
  contract: "W_2 writes the features that are switched on back into a vector of the stream's width.",
  glance:
    "All layers do the same, each with parameters of its own. Above: how long each token's vector is and how much each layer changes it; below: where every head looks. Click one to open its layer.",
  glanceShared:
    "All layers do the same, and in this model also with the same parameters: one block is used at every depth, as in ALBERT. Above: how long each token's vector is and how much each layer changes it; below: where every head looks. Click one to open its layer.",
  final:
    "In this model norms come before the sub-layers (pre-norm), so the stream itself was never normalised: that is done here, once, before it is read out.",
  dense: "One more dense layer prepares the vector for the comparison with the vocabulary.",
  pooler:
    "One more dense layer (BERT calls it the pooler) prepares the text's vector for the comparison with the classes.",
  outputActivate: "The same bend as inside the layers: it lets the output use combinations of features.",
  outputTanh: "tanh bends every number into the range from −1 to 1.",
  transformed: "A norm brings the vector to a scale on which it can be compared with the embedding table.",
  narrowed:
    "One matrix brings the vector back to the narrow width of the embedding table, with which it is compared next.",
  logits:
    "The last vector is multiplied with a vector for each word (here the likeliest words). In this model these vectors are learned apart from the embedding table. A large product means that the word fits.",
  logitsTied:
    "The last vector is multiplied with a vector for each word (here the likeliest words). In this model these are the rows of the embedding table (tied embeddings). A large product means that the word fits.",
  probabilities:
    "The scores of the whole vocabulary are exponentiated and divided by their sum: a probability for each word.",
  choose:
    "The likeliest words at the chosen position, with their probabilities. Greedy decoding takes the first of the list; so does a model that fills a mask.",
  chooseClass: "The classes with their probabilities: the likeliest one is the answer for the whole text.",
  poolMax: "For each feature, the largest number of all tokens stands for the whole text.",
  poolMean: "The average of all tokens' vectors stands for the whole text.",
  poolLast: "The vector of the last token stands for the whole text.",
  poolFirst: "The vector of the first token stands for the whole text.",
  classProbabilities:
    "The scores of the classes are exponentiated and divided by their sum: a probability for each class.",
  classes: "The text's vector times one vector for each class: the largest product wins.",
  tags: "Each token's vector times one vector for each tag: the largest product wins.",
  tagProbabilities:
    "At each token, the scores of the tags are exponentiated and divided by their sum: a probability for each tag.",
  chooseTag:
    "The tags of the chosen token with their probabilities. The tag of a word is the likeliest one at its first token.",
  numbers:
    "The text's vector times one vector for each number, plus a bias. Scale and mean of the training numbers are in both, so the result is in the unit of the data.",
  training:
    "In training the whole text is known, so all positions are computed at once, and the mask alone keeps each from seeing its answer. Each is given the true words before it (teacher forcing), however wrong the model's own guesses were. In inference there is no such text: each word has to wait for the one before.",
  words:
    "One word is chosen from the probabilities (greedy search takes the likeliest; sampling and beam search may take another) and put at the end of the text; then the model runs again for the next one, until it says the end token or the text is as long as it may be.",
  tree: "Beam search keeps the few best beginnings instead of one. Each step tries the likeliest words after every kept beginning; the number under a word is the sum of log-probabilities so far. Finished texts are compared by this sum divided by their length (to the power of the length penalty, which is 1 unless it is set), and the best one is the result.",
  before:
    "A recurrent cell reads two things: a word, and the state that the word before it left behind. Each row here is the state one word earlier; the first word has zeros. So no row can be computed before the one above it is finished: words have to wait for one another.",
  beforeBackward:
    "The second direction reads from the last word to the first. Each row here is the state of the row below it; the last word has zeros. It does not need the first direction, but its own words wait for one another just the same.",
  beforeDecoder:
    "In the decoder, too, a state goes from word to word. The first row is the start that was made from the encoder's last state; each other row is the state that the word above it left behind.",
  gateReset:
    "From the word and the state before, the cell computes numbers between 0 and 1: how much of the state before may have a say when the candidate is made.",
  gateUpdate:
    "Numbers between 0 and 1 that decide how much of the state stays: near 1 the old number is kept, near 0 the candidate takes its place.",
  candidate:
    "What the state could become: tanh of what the word says and of what the state before says, as far as the reset gate lets it through.",
  blend:
    "Each number is (1 − z) times the candidate plus z times the old number. What is not kept at one word is lost for all later ones: a word reaches a far one only through every cell in between.",
  gateKeep: "Numbers between 0 and 1: how much of the candidate is written into the memory.",
  gateForget: "Numbers between 0 and 1: how much of the memory before stays.",
  candidateMemory: "What could be written into the memory: tanh of what the word and the state before say.",
  gateRelease: "Numbers between 0 and 1: how much of the memory the new state shows.",
  memoryBefore:
    "Beside its state, an LSTM has a memory that goes from word to word. Each row is the memory that the word before left behind.",
  memory:
    "The old memory times the forget gate plus the candidate times the input gate: what is neither kept nor written is lost for all later words.",
  release:
    "tanh of the memory times the output gate: this is what the next word and the layers above get to see.",
  bothDirections:
    "The states of both directions are put side by side, so that each word's vector knows what stands to its left and to its right.",
  lastState:
    "The state after the last word that was read: of the forward direction the last row, of a backward direction the first. The decoder starts from it.",
  summary:
    "The state after the last word that was read: of the forward direction the last row, of a backward direction the first. This one vector C is all that the decoder will ever know of the source, however long it is.",
  bridge: "One matrix, with a bias, turns the encoder's last state into what the decoder starts with.",
  bridgeStart:
    "tanh brings every number into the range from −1 to 1, as the numbers of all later states are: the state before the first word.",
  lookBack:
    "Before each word the decoder looks back at the source with the state s that the word before left behind. Nothing is projected: the query is this state itself, and the encoder's states h are the keys and the values.",
  additive:
    "Additive attention (Bahdanau): s and each h pass a matrix of their own, are added, bent by tanh, and summed up with the weights of a learned vector v: one score for each word of the source. No query is multiplied with a key here.",
  contextMix:
    "Each row is the context Cᵢ of one word: the encoder's states, weighted by that word's attention. A fixed C would be the same in every row. Since the weights come from the state before, even this attention has to wait for the word before.",
  fixedContext:
    "This network has no attention: whichever word is written, the decoder gets the same vector C. No word of the source can count more for one word of the translation than for another, and the longer the source, the more has to fit into these few numbers.",
  cellInput:
    "The embedding of the word before and the context, side by side: the context enters the cell, so that it shapes the new state.",
  readoutInput: "The new state, the context and the embedding of the word before, side by side.",
  readout: "One matrix, with a bias, brings them to the width of the embeddings.",
  sequence:
    "A recurrent network cannot compute the state of a word before that of the word before it: its cells form one long chain, and nothing can shorten it. A layer of a Transformer has no such chain: it compares all pairs of words at once, and any two words are one step apart.",
  trainingRecurrent:
    "In training each step is given the true word before it, however wrong the model's own guesses were (teacher forcing). But it also needs the state of the step before, so the words are computed one after another in training, too; no mask is needed, for nothing that comes later has been read. In inference each step is given the word that the model has just written.",
  states: "This recording holds the result, but not how the model came to it.",
  other: "One operation of the network.",
};
