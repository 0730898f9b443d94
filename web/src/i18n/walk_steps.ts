/** What each step of the walk does, and why: a name and one or two sentences, in both languages. */

import { defineStrings } from "./core";

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
    embeddingNorm: "Normalise the embeddings",
    widened: "Widen the embeddings",
    normBefore: "Normalise first",
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
    residual: "Add to the stream",
    normAfter: "Normalise",
    inner: "Feed-forward: widen",
    activate: "Activation",
    contract: "Feed-forward: narrow",
    glance: "The layers at a glance",
    final: "Last norm",
    dense: "Transform for the output",
    outputActivate: "Activation",
    transformed: "Normalise for the output",
    narrowed: "Narrow to the embeddings",
    logits: "Linear: a score for every word",
    probabilities: "Softmax: scores become probabilities",
    choose: "The word",
    pool: "One vector for the whole text",
    classes: "Linear: a score for every class",
    training: "Training beside inference",
    words: "Word by word",
    tree: "Beam search: a tree that grows",
    states: "What was recorded",
    other: "One step",
  },
  zh: {
    textSource: "文本切成词元",
    textTarget: "解码器自己的文本",
    lookup: "查嵌入表",
    scale: "乘以 √d",
    waves: "位置：正弦与余弦",
    learnedPositions: "位置：查表",
    position: "加上位置",
    segments: "段落：查表",
    embeddingSum: "相加",
    embeddingNorm: "嵌入的归一化",
    widened: "加宽嵌入",
    normBefore: "先归一化",
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
    residual: "加回主干",
    normAfter: "归一化",
    inner: "前馈网络：加宽",
    activate: "激活函数",
    contract: "前馈网络：收窄",
    glance: "各层一览",
    final: "最后的归一化",
    dense: "输出前的变换",
    outputActivate: "激活函数",
    transformed: "输出前的归一化",
    narrowed: "收窄到嵌入的宽度",
    logits: "线性层：给每个词打分",
    probabilities: "Softmax：得分变成概率",
    choose: "选出的词",
    pool: "用一个向量代表全文",
    classes: "线性层：给每个类别打分",
    training: "训练与推理对照",
    words: "逐词生成",
    tree: "束搜索：生长的树",
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
      "Every number is multiplied by √d, so that the vectors are not drowned by the positions that are added next (section 3.4 of the paper).",
    waves:
      "Each place gets its own pattern of sines and cosines, from fast to slow. No place is special, and a shift by some distance is the same rotation everywhere, so the network can learn to look a fixed distance away.",
    learnedPositions:
      "Each place has a learned vector of its own, as each word has: simple, but there is none for places beyond those of training.",
    position:
      "A vector that depends only on the place is added to each row. Attention itself does not know any order: without this, a shuffled sentence would give the same, shuffled result.",
    segments: "A learned vector says which of the two texts a token belongs to.",
    embeddingSum:
      "The parts of the embedding are added, number by number: this is what the first layer reads.",
    embeddingNorm:
      "Each row is shifted to mean 0 and scaled to variance 1, then stretched and moved by learned γ and β, so that all tokens enter the first layer on the same footing.",
    widened:
      "ALBERT keeps a narrow embedding table to save parameters; one matrix widens its rows to the width of the layers.",
    normBefore:
      "Each row is brought to mean 0 and variance 1 (then γ and β) before the sub-layer reads it; the stream itself stays untouched, which keeps deep networks easy to train.",
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
    turn: "Pairs of numbers are rotated by an angle that grows with the position (rotary positions), so that the product of a query and a key depends on how far apart they are.",
    dot: "Every query is multiplied with every key, number by number, and summed: a large score means that the key is what the query looks for. Only in attention do tokens meet; everywhere else each is alone.",
    compare:
      "Every query is compared with every key by the model's own similarity function: one score for each pair of tokens.",
    divide:
      "A sum of d_k products has a variance that grows with d_k; dividing by √d_k keeps scores in a range where the softmax is not stuck at 0 and 1 and gradients flow.",
    biasTable: "Each distance between a query and a key has a learned number for each head.",
    bias: "The learned number of each distance is added to the scores: this model tells positions apart here, not in the embeddings.",
    maskCausal:
      "Keys to the right of the query are set to −∞: a word must not look at words that come later, for they are what has to be predicted.",
    softmax:
      "Each row is exponentiated and divided by its sum: weights between 0 and 1 that add up to 1. A score of −∞ becomes exactly 0.",
    mix: "Each token's result is the average of all values, weighted by its row of attention: this is how information moves from token to token.",
    join: "The results of all heads are put side by side again. Each head had its own, smaller space, so that several relations can be looked at in one layer.",
    attentionOutput:
      "W_O mixes what the heads have found and brings it back to the form of the stream. Until here, heads did not know of each other.",
    residual:
      "The result is added to what the sub-layer read. The sum keeps all that was known and adds what is new; gradients have a straight way down.",
    normAfter:
      "Each row is shifted to mean 0 and scaled to variance 1, then stretched and moved by learned γ and β: numbers stay in range from layer to layer, whatever the length of the text.",
    inner:
      "Each token for itself: the vector is widened so that many features can be tested at once. No token sees another here.",
    activate:
      "Negative results are switched off (ReLU) or damped (GELU, SiLU). Without this bend, two matrices in a row would be no more than one.",
    contract: "The features that are switched on are written back into a vector of the stream's width.",
    glance:
      "All layers do the same with parameters of their own. Above: how long each token's vector is and how much each layer changes it; below: where every head looks. Click one to open its layer.",
    final: "With norms before the sub-layers, the stream is normalised once more before it is read out.",
    dense: "One more dense layer prepares the vector for the comparison with the vocabulary.",
    outputActivate: "The same bend as inside the layers: it lets the output use combinations of features.",
    transformed: "A norm brings the vector to the scale of the table it is compared with.",
    narrowed:
      "One matrix brings the vector back to the narrow width of the embedding table, with which it is compared next.",
    logits:
      "The last vector is multiplied with one vector for each word of the vocabulary (here the most likely words of the chosen position): a large product means that the word fits.",
    probabilities:
      "The scores of the whole vocabulary are exponentiated and divided by their sum: a probability for each word.",
    choose:
      "What the model says at the chosen position, with its probability. Greedy decoding takes the first of the list.",
    pool: "The vector of one position (or the average of all) stands for the whole text.",
    classes: "The text's vector times one vector for each class: the largest product wins.",
    training:
      "In training the whole target is known, so all positions are computed at once and the mask alone keeps each from seeing its answer; each is told the true word before it (teacher forcing), however wrong it was. In inference there is no target: each word has to wait for the one before.",
    words:
      "One word is chosen from the probabilities (greedy takes the likeliest; sampling and beam search may take another) and put behind the text; then everything runs again for the next one, until the end token </s> comes.",
    tree: "Beam search keeps the few best beginnings instead of one. Each step grows every kept beginning by its best words; the score is the sum of log-probabilities. The kept path is the one with the best score at the end.",
    states: "This recording holds the result, but not how the model came to it.",
    other: "One operation of the network.",
  },
  zh: {
    textSource: "分词器把文本切成它认识的片段，并记下每个片段在词表中的编号：网络看到的从来只是这些编号。",
    textTarget: "解码器读的是已经写出的词，整体右移一位，前面放一个起始词元，于是每个位置都要说出下一个词。",
    lookup:
      "每个词元的编号从嵌入表中取出一行：一个学到的向量，无论词元在哪里都相同。训练中用法相近的词，它们的行也彼此靠近。",
    scale: "每个数都乘以 √d，使词向量不会被接下来要加上的位置淹没（见原论文 3.4 节）。",
    waves:
      "每个位置有自己的一组正弦和余弦，从快到慢。没有特殊的位置，移动同样的距离处处是同样的旋转，网络因此可以学会看向固定距离之外。",
    learnedPositions:
      "每个位置都有一个学到的向量，就像每个词一样：简单，但训练中没有出现过的位置就没有向量。",
    position:
      "给每一行加上一个只取决于位置的向量。注意力本身不知道顺序：没有它，把句子打乱，结果也只是跟着打乱。",
    segments: "用一个学到的向量说明词元属于两段文本中的哪一段。",
    embeddingSum: "把嵌入的各部分逐个数相加：这就是第一层读到的内容。",
    embeddingNorm:
      "每一行平移到均值 0、缩放到方差 1，再用学到的 γ 和 β 拉伸和平移，使所有词元以同样的尺度进入第一层。",
    widened: "ALBERT 用较窄的嵌入表来节省参数；再用一个矩阵把每一行加宽到各层的宽度。",
    normBefore:
      "子层读取之前，每一行先变为均值 0、方差 1（再乘 γ 加 β）；主干本身不变，深层网络因此更容易训练。",
    queries: "每个词元的向量乘以 W_Q：查询就是这个头替该词元去寻找的东西。",
    keys: "同样的向量乘以 W_K：键就是词元用来被找到的特征。",
    values: "同样的向量乘以 W_V：值就是词元被注意到时交出的内容。",
    crossQueries: "查询来自下方解码器的主干：译文的这个词需要从原文得到什么？",
    crossKeys:
      "键来自编码器的输出，而不是解码器：每个原文词元说明自己凭什么被找到。写每个词时用的都是同一组键。",
    crossValues: "值也来自编码器的输出：每个原文词元交给译文的内容。",
    turn: "把数两两一组，按随位置增大的角度旋转（旋转位置编码），于是查询与键的乘积取决于两者的距离。",
    dot: "每个查询与每个键逐个数相乘再求和：得分大，说明这个键正是查询要找的。只有在注意力里词元才彼此相遇，其余各处都是各算各的。",
    compare: "用模型自己的相似度函数比较每个查询与每个键：每一对词元得到一个分数。",
    divide:
      "d_k 个乘积之和的方差随 d_k 增大；除以 √d_k 使得分留在合适的范围，softmax 不会只给出 0 和 1，梯度才能通过。",
    biasTable: "查询与键之间的每种距离，在每个头中都有一个学到的数。",
    bias: "给得分加上一个由距离决定的、学到的数：这个模型在这里区分位置，而不是在嵌入里。",
    maskCausal: "查询右边的键被设为 −∞：一个词不能看到后面的词，因为那正是要预测的内容。",
    softmax: "每一行取指数再除以总和：权重在 0 与 1 之间，合计为 1。得分 −∞ 恰好变成 0。",
    mix: "每个词元的结果是所有值的平均，按它那一行注意力加权：信息就这样从一个词元流到另一个词元。",
    join: "各个头的结果重新并排放在一起。每个头有自己较小的空间，因此一层之中可以同时看多种关系。",
    attentionOutput: "W_O 把各个头找到的内容混合起来，变回主干的形式。在此之前，各个头互不知晓。",
    residual: "结果加到子层读入的内容上：和保留了已知的一切，再添上新的内容；梯度也有一条直路可走。",
    normAfter:
      "每一行平移到均值 0、缩放到方差 1，再用学到的 γ 和 β 拉伸和平移：无论文本多长，数值逐层保持在合适的范围。",
    inner: "每个词元各自计算：把向量加宽，同时检验许多特征。在这里词元之间互不可见。",
    activate: "负的结果被关掉（ReLU）或减弱（GELU、SiLU）。没有这个弯折，两个相连的矩阵不过等于一个。",
    contract: "把被打开的特征写回一个与主干同宽的向量。",
    glance:
      "各层做同样的事，但参数各不相同。上方：每个词元的向量有多长，每一层改变了它多少；下方：每个头看向哪里。点击即可打开那一层。",
    final: "归一化放在子层之前的模型，在读出之前还要对主干再归一化一次。",
    dense: "再经过一个全连接层，为与词表比较做准备。",
    outputActivate: "与层内相同的弯折：让输出能够利用特征的组合。",
    transformed: "归一化把向量变到与词表向量相当的尺度。",
    narrowed: "用一个矩阵把向量变回嵌入表的窄宽度，接下来就要与嵌入表比较。",
    logits: "最后的向量与词表中每个词的向量相乘（这里只列出所选位置最可能的词）：乘积大，说明这个词合适。",
    probabilities: "整个词表的得分取指数再除以总和：每个词得到一个概率。",
    choose: "模型在所选位置给出的词及其概率。贪心解码取列表中的第一个。",
    pool: "用一个位置的向量（或所有位置的平均）代表全文。",
    classes: "文本的向量与每个类别的向量相乘：乘积最大者胜出。",
    training:
      "训练时目标已知，所有位置同时计算，只靠掩码不让各位置看到自己的答案；无论前面预测得对不对，每个位置得到的都是真实的前一个词（教师强制）。推理时没有目标：每个词都要等前一个词写出来。",
    words:
      "按概率选一个词（贪心法取最可能的；采样和束搜索可能取别的），接在文本后面，再全部重算一遍得到下一个词，直到出现结束词元 </s>。",
    tree: "束搜索保留几个最好的开头，而不是一个。每一步都用最好的词延长每个保留的开头；得分是对数概率之和。最后得分最好的路径就是结果。",
    states: "这份记录保存了结果，但没有保存模型怎样得到它。",
    other: "网络的一步运算。",
  },
});
