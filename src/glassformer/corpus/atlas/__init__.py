"""The atlas of a model: what every head does, found over many texts.

In:   a model that `load` opens, texts, and what people marked in them (trees, links, mentions).
Out:  `Atlas` (see glassformer.atlases): scores with intervals and chance levels, types, clusters, examples,
      costs.

`build` runs the model on each text and on the same text with its words shuffled; `measuring` scores both with
every detector (`detectors`); `estimates` turns scores of texts into intervals and types.
"""
