"""What a model did with a text, as NumPy arrays that check themselves.

In:   arrays from a recorder (or a bundle file).
Out:  Recording, AttentionMap, Tokens and their parts; tile arithmetic. Torch is never imported here.
"""

from glassformer.place import Kind as Kind
from glassformer.recording.attention_map import AttentionMap as AttentionMap
from glassformer.recording.branch import Branch as Branch
from glassformer.recording.difference_map import DifferenceMap as DifferenceMap
from glassformer.recording.evidence import Evidence as Evidence
from glassformer.recording.factors import Factors as Factors
from glassformer.recording.from_arrays import from_arrays as from_arrays
from glassformer.recording.generation import Alternative as Alternative
from glassformer.recording.generation import Generation as Generation
from glassformer.recording.generation import Output as Output
from glassformer.recording.generation import Step as Step
from glassformer.recording.generation import TargetScores as TargetScores
from glassformer.recording.media import Picture as Picture
from glassformer.recording.media import Sound as Sound
from glassformer.recording.media import SpokenWord as SpokenWord
from glassformer.recording.pooling import count_pixels as count_pixels
from glassformer.recording.pooling import pool_max as pool_max
from glassformer.recording.pooling import pool_mean as pool_mean
from glassformer.recording.recording import LONGEST_TRACE as LONGEST_TRACE
from glassformer.recording.recording import Recording as Recording
from glassformer.recording.statistics import BINS as BINS
from glassformer.recording.statistics import THRESHOLD as THRESHOLD
from glassformer.recording.statistics import Content as Content
from glassformer.recording.statistics import HeadStatistics as HeadStatistics
from glassformer.recording.statistics import Pyramid as Pyramid
from glassformer.recording.statistics import measure as measure
from glassformer.recording.statistics import measure_signed as measure_signed
from glassformer.recording.statistics import thumbnail_level as thumbnail_level
from glassformer.recording.tiles import count_levels as count_levels
from glassformer.recording.tiles import tile as tile
from glassformer.recording.tokens import Side as Side
from glassformer.recording.tokens import Tokens as Tokens
from glassformer.recording.tree import identify as identify
from glassformer.recording.tree import tree as tree
