/** What each step of the walk does, and why: a name and one or two sentences, in both languages. */

import { defineStrings } from "../../i18n/core";

export const titles = defineStrings({
  en: {
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
  },
  zh: {
    textSource: "文本切成词元",
    textTarget: "解码器自己的文本",
    lookup: "查嵌入表",
    scale: "乘以 √d",
    waves: "位置编码：正弦与余弦",
    learnedPositions: "位置编码：查表",
    position: "加上位置编码",
    segments: "分段嵌入：查表",
    embeddingSum: "相加",
    embeddingNorm: "嵌入的层归一化",
    widened: "加宽嵌入",
    normBefore: "先做层归一化",
    queries: "查询：X · W_Q",
    keys: "键：X · W_K",
    values: "值：X · W_V",
    crossQueries: "查询来自下方",
    crossKeys: "键来自编码器",
    crossValues: "值来自编码器",
    turn: "按位置旋转",
    dot: "得分：Q · Kᵀ",
    compare: "得分：比较 Q 与 K",
    divide: "除以 √d_k",
    biasTable: "查位置偏置表",
    bias: "加上位置偏置",
    maskCausal: "遮住后文",
    softmax: "Softmax：得分变成权重",
    mix: "值的加权和",
    join: "拼接各个头",
    attentionOutput: "投影：Z · W_O",
    residual: "残差连接：加回残差流",
    normAfter: "层归一化",
    batchNorm: "批归一化",
    inner: "前馈网络：加宽",
    activate: "激活函数",
    contract: "前馈网络：收窄",
    glance: "各层一览",
    final: "最后的层归一化",
    dense: "输出前的变换",
    outputActivate: "激活函数",
    transformed: "输出前的层归一化",
    narrowed: "收窄到嵌入的宽度",
    logits: "线性层：给每个词打分",
    probabilities: "Softmax：得分变成概率",
    classProbabilities: "Softmax：得分变成概率",
    choose: "选出的词",
    chooseClass: "给出的答案",
    pool: "用一个向量代表全文",
    classes: "线性层：给每个类别打分",
    training: "训练与推理对照",
    words: "逐词生成",
    tree: "束搜索：一棵生长的树",
    cells: "循环单元：逐词读入",
    states: "记录下来的内容",
    other: "一步运算",
  },
});

export const sentences = defineStrings({
  en: {
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
  },
  zh: {
    textSource: "分词器把文本切成它认识的片段，并记下每个片段在词表中的编号：网络看到的从来只有这些编号。",
    textTarget:
      "解码器读入的是已经写出的词：整体右移一位，最前面放一个起始词元，于是每个位置都要预测下一个词。",
    lookup:
      "每个词元的编号从嵌入表中取出一行：一个学到的向量，无论词元出现在哪里都相同。训练中用法相近的词，它们的行也彼此靠近。",
    scale: "每个数都乘以 √d（见原论文 3.4 节）：嵌入表里的数值很小，不放大就会被接下来要加上的位置编码淹没。",
    waves:
      "每个位置都有自己的一组正弦和余弦，频率从快到慢。没有哪个位置是特殊的；平移同样的距离，处处都是同样的旋转，网络因此可以学会关注固定距离之外的词。",
    learnedPositions:
      "每个位置都有一个学到的向量，就像每个词一样。做法简单，但训练时没见过的位置就没有向量。",
    position:
      "给每一行加上一个只取决于位置的向量。除了掩码遮住的部分，注意力本身不知道顺序：没有位置编码，把句子打乱，结果也只是跟着打乱。",
    segments: "用一个学到的向量标明词元属于两段文本中的哪一段。",
    embeddingSum:
      "词元、位置和分段的向量（模型有哪些就加哪些）逐元素相加：这就是第一层读到的内容。注意力本身并不知道顺序。",
    embeddingNorm:
      "每一行平移到均值 0、缩放到方差 1，再用学到的 γ 和 β 拉伸和平移，使所有词元以同样的尺度进入第一层。",
    widened: "ALBERT 用较窄的嵌入表来节省参数；再用一个矩阵把每一行加宽到各层的宽度。",
    normBefore:
      "子层读取之前，每一行先变为均值 0、方差 1（再乘 γ、加 β）；残差流本身不变，深层网络因此更容易训练。",
    queries: "每个词元的向量乘以 W_Q：查询表示这个头替该词元在找什么。",
    keys: "同样的向量乘以 W_K：键表示这个词元可以凭什么被找到。",
    values: "同样的向量乘以 W_V：值是这个词元被注意到时交出的内容。",
    crossQueries: "查询来自下方解码器的残差流：译文的这个词需要从原文得到什么？",
    crossKeys:
      "键来自编码器的输出，而不是解码器：每个原文词元表明自己可以凭什么被找到。写每个词时用的都是同一组键。",
    crossValues: "值也来自编码器的输出：每个原文词元交给译文的内容。",
    turn: "把数两两一组，旋转一个随位置增大的角度（旋转位置编码），于是在查询与键的乘积里，位置只以两者的距离起作用。",
    dot: "每个查询与每个键逐元素相乘再求和：得分大，说明这个键正是查询要找的。词元只在注意力里相遇，其余各处都是各算各的。",
    compare: "用模型自己的相似度函数比较每个查询与每个键：每一对词元得到一个得分。",
    divide:
      "d_k 个乘积之和的方差随 d_k 增大；除以 √d_k 使得分留在合适的范围，softmax 不会只给出 0 和 1，梯度才能通过。",
    biasTable: "查询与键之间的每种距离，在每个头中都有一个学到的数。",
    bias: "给得分加上一个由距离决定的、学到的数：这个模型在这里区分位置，而不是在嵌入里。",
    maskCausal: "查询右边的键，得分设为 −∞：一个词不能看到后面的词，因为那正是要预测的内容。",
    softmax:
      "每一行取指数再除以总和：权重在 0 与 1 之间，合计为 1。得分 −∞ 恰好变成 0。（先减去该行最大得分：它会约去，又能防止数值过大。）",
    mix: "每个词元的结果是所有值的加权平均，权重就是它那一行注意力：信息就这样从一个词元流向另一个词元。",
    join: "各个头的结果重新拼接在一起。每个头都有自己较小的子空间，因此一层之中可以同时关注多种关系。",
    attentionOutput: "W_O 把各个头找到的内容混合起来，并变回残差流的宽度。在此之前，各个头互不相干。",
    residual: "把结果加到进入子层之前的残差流上：已知的都保留，新的内容添进来，梯度也有一条直通的路。",
    normAfter:
      "每一行平移到均值 0、缩放到方差 1，再用学到的 γ 和 β 拉伸和平移：无论文本多长，数值逐层保持在合适的范围。",
    batchNorm:
      "每一列按训练中记下的均值和方差平移、缩放，再用学到的 γ 和 β 拉伸和平移：同一特征上，所有词元共用一个均值和方差。",
    inner: "每个词元各自计算：把向量加宽，好同时检验许多特征。在这里词元之间互不可见。",
    activate: "负的结果被置零（ReLU）或减弱（GELU、SiLU）。没有这个非线性，两个相连的矩阵就等价于一个。",
    contract: "把激活的特征写回一个与残差流同宽的向量。",
    glance:
      "各层做同样的事，但参数各不相同（ALBERT 的各层共用一套参数）。上方：每个词元的向量有多长，每一层改变了它多少；下方：每个头看向哪里。点击即可打开那一层。",
    final: "把归一化放在子层之前的模型（pre-norm），在读出之前还要对残差流再归一化一次。",
    dense: "再经过一个全连接层，为与词表（或各个类别）比较做准备。",
    outputActivate: "与层内相同的非线性：让输出能够利用特征的组合。",
    transformed: "归一化把向量变到适合与嵌入表比较的尺度。",
    narrowed: "用一个矩阵把向量变回嵌入表的窄宽度，接下来就要与嵌入表比较。",
    logits: "最后的向量与词表中每个词的向量相乘（这里只列出所选位置最可能的词）：乘积大，说明这个词合适。",
    probabilities: "整个词表的得分取指数再除以总和：每个词得到一个概率。",
    choose: "所选位置上最可能的词及其概率。贪心解码取列表中的第一个，填补掩码时也是。",
    chooseClass: "各个类别及其概率：最可能的类别就是对整段文本的答案。",
    classProbabilities: "各类别的得分取指数再除以总和：每个类别得到一个概率。",
    pool: "用一个位置的向量（或所有位置的平均）代表全文。",
    classes: "文本的向量与每个类别的向量相乘：乘积最大者胜出。",
    training:
      "训练时全文已知，所有位置同时计算，只靠掩码不让每个位置看到自己的答案；无论模型自己猜得对不对，给它的都是前面真实的词（教师强制）。推理时没有现成的文本：每个词都要等前一个词写出来。",
    words:
      "按概率选一个词（贪心搜索取最可能的；采样和束搜索可能取别的），接在文本末尾，模型再算一遍得到下一个词，直到它给出结束词元，或达到长度上限。",
    tree: "束搜索同时保留几个最好的开头，而不是一个。每一步都在每个保留的开头后面尝试最可能的词；词下面的数是到此为止的对数概率之和。写完的文本按这个和除以长度来比较，最好的一个就是结果。",
    cells:
      "循环单元每次读入一个词和前一个词留下的状态，由两者得到新的状态，所以每个词都要等前一个词算完。每一行是读完该词之后的状态；单元内部（各个门）的计算没有记录。",
    states: "这份记录保存了结果，但没有保存模型怎样得到它。",
    other: "网络的一步运算。",
  },
});
