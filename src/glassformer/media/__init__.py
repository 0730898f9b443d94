"""Pictures and sounds from files: checked before they are decoded, so that memory stays bounded.

In:   paths, or the bytes of a file.
Out:  pixels (height, width, 4) and `Waveform`, or an `InputError` that says what the file is instead.
"""

from glassformer.media.labels import LabelledWord as LabelledWord
from glassformer.media.pictures import convert_image as convert_image
from glassformer.media.pictures import drop_opacity as drop_opacity
from glassformer.media.pictures import fit_picture as fit_picture
from glassformer.media.pictures import read_picture as read_picture
from glassformer.media.sounds import Waveform as Waveform
from glassformer.media.sounds import read_sound as read_sound
from glassformer.media.sounds import resample as resample
